#include "tools/sprig/run/PackageTables.h"
#include "runtime/format/Container.h"
#include "runtime/format/program_generated.h"
#include <cstring>
#include <fstream>

namespace sprig::cli {

namespace fb = rt::fb;
using rt::format::FileHeader;
using rt::format::SectionHeader;

// The first section is the metadata.
PackageTables::PackageTables(std::span<const uint8_t> package) {
  SectionHeader section;
  if (package.size() < sizeof(FileHeader) + sizeof section) return;
  std::memcpy(&section, package.data() + sizeof(FileHeader), sizeof section);
  if (section.offset > package.size() || section.size > package.size() - section.offset) return;
  metadata.resize(section.size / sizeof(uint64_t) + 1);
  std::memcpy(metadata.data(), package.data() + section.offset, section.size);
}

PackageTables PackageTables::ofFile(const std::string &path) {
  PackageTables tables;
  SectionHeader section;
  std::ifstream file(path, std::ios::binary);
  file.seekg(sizeof(FileHeader));
  if (!file.read(reinterpret_cast<char *>(&section), sizeof section)) return tables;
  tables.metadata.resize(section.size / sizeof(uint64_t) + 1);
  file.seekg(std::streamoff(section.offset));
  if (!file.read(reinterpret_cast<char *>(tables.metadata.data()), std::streamsize(section.size)))
    tables.metadata.clear();
  return tables;
}

std::vector<TouchedOperand> PackageTables::touched(uint32_t entry, uint32_t lane, uint32_t command) const {
  std::vector<TouchedOperand> operands;
  if (metadata.empty()) return operands;
  const fb::Entry *of = fb::GetPackage(metadata.data())->entries()->Get(entry);
  const fb::Dispatch *dispatch = of->lanes()->Get(lane)->commands()->Get(command)->command_as_Dispatch();
  if (!dispatch || !dispatch->touched()) return operands;
  for (const fb::Touched *each : *dispatch->touched())
    operands.push_back({each->operand(), each->bytes(), each->accesses(), each->accessed_bytes(), each->spread()});
  return operands;
}

std::vector<int64_t> PackageTables::indexRanges(uint32_t entry, uint32_t input) const {
  if (metadata.empty()) return {};
  const auto *ranges = fb::GetPackage(metadata.data())->entries()->Get(entry)->inputs()->Get(input)->index_ranges();
  return ranges ? std::vector<int64_t>(ranges->begin(), ranges->end()) : std::vector<int64_t>();
}

} // namespace sprig::cli
