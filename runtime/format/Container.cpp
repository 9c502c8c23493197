#include "runtime/format/Container.h"

#include "runtime/base/Hex.h"
#include "runtime/base/Text.h"

#include <bit>
#include <cstring>

static_assert(std::endian::native == std::endian::little, "packages are little-endian and read in place");

namespace sprig::rt::format {

using core::concat;

const char *sectionKindName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Metadata: return "metadata";
  case SectionKind::Constants: return "constants";
  case SectionKind::Image: return "image";
  }
  return "unknown";
}

static uint64_t alignUp(uint64_t value) { return (value + kSectionAlignment - 1) & ~uint64_t(kSectionAlignment - 1); }

// The header and table with the checksum field zero: what the checksum covers.
static uint64_t headerChecksum(FileHeader header, std::span<const uint8_t> table) {
  header.checksum = 0;
  std::vector<uint8_t> bytes(sizeof header + table.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!table.empty()) std::memcpy(bytes.data() + sizeof header, table.data(), table.size());
  return checksum(bytes);
}

static size_t filledUp(size_t size) { return (size + kBufferAlignment - 1) & ~(kBufferAlignment - 1); }

size_t SectionBytes::size() const {
  size_t size = bytes.size();
  for (std::span<const uint8_t> each : more) size += filledUp(each.size());
  return size;
}

std::vector<uint8_t> writeContainer(std::span<const SectionBytes> sections) {
  std::vector<SectionHeader> table;
  uint64_t end = sizeof(FileHeader) + sections.size() * sizeof(SectionHeader);
  for (const SectionBytes &section : sections) {
    uint64_t offset = alignUp(end);
    table.push_back({uint32_t(section.kind), 0, offset, section.size(), 0});
    end = offset + section.size();
  }

  // Appended, so that fresh memory is written once.
  std::vector<uint8_t> file;
  file.reserve(end);
  for (size_t i = 0; i < sections.size(); ++i) {
    file.resize(table[i].offset, 0);
    file.insert(file.end(), sections[i].bytes.begin(), sections[i].bytes.end());
    for (std::span<const uint8_t> each : sections[i].more) {
      file.insert(file.end(), each.begin(), each.end());
      file.resize(file.size() + filledUp(each.size()) - each.size(), 0);
    }
    table[i].checksum = checksum(std::span(file).subspan(table[i].offset));
  }
  file.resize(end, 0); // of no section at all: the header
  FileHeader header = {};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.major = kMajor;
  header.minor = kMinor;
  header.sectionCount = uint32_t(sections.size());
  header.fileSize = end;
  size_t tableSize = table.size() * sizeof(SectionHeader);
  if (tableSize) std::memcpy(file.data() + sizeof header, table.data(), tableSize);
  header.checksum = headerChecksum(header, {file.data() + sizeof header, tableSize});
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

static ContainerError damaged(const char *message) { return {true, false, message}; }
static ContainerError damaged(core::TextParts message) { return {true, false, message.text()}; }

// Bytes between sections carry nothing; a value there is damage that no checksum would see.
static ContainerError checkPadding(std::span<const uint8_t> file, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i)
    if (file[i]) return damaged(concat("expected zero padding at offset ", i, ", found ", file[i]));
  return {};
}

static ContainerError readSection(std::span<const uint8_t> file, const SectionHeader &entry, size_t index,
                                  uint64_t &end, ContainerView &view) {
  const std::string what = concat("section ", index);
  uint64_t expected = alignUp(end);
  if (entry.offset != expected) return damaged(concat(what, ": expected offset ", expected, ", found ", entry.offset));
  if (entry.offset > file.size() || entry.size > file.size() - entry.offset)
    return damaged(concat(what, ": ", entry.size, " bytes at offset ", entry.offset, " end behind the file's ",
                          file.size(), " bytes"));
  if (entry.reserved) return damaged(concat(what, ": expected a zero reserved field, found ", entry.reserved));
  if (ContainerError error = checkPadding(file, end, entry.offset); error.failed) return error;
  SectionKind kind = SectionKind(entry.kind);
  bool known = kind == SectionKind::Metadata || kind == SectionKind::Constants || kind == SectionKind::Image;
  // A later minor version may add kinds that this reader can do without.
  if (!known && view.minor <= kMinor) return damaged(concat(what, ": unknown kind ", entry.kind));
  std::span<const uint8_t> bytes = file.subspan(entry.offset, entry.size);
  uint64_t found = checksum(bytes);
  if (found != entry.checksum)
    return damaged(concat(what, " (", sectionKindName(kind), "): expected checksum 0x", hexDigits(entry.checksum),
                          ", found 0x", hexDigits(found)));
  view.sections.push_back({kind, entry.offset, entry.size, bytes});
  end = entry.offset + entry.size;
  return {};
}

ContainerError readContainer(std::span<const uint8_t> file, ContainerView &view) {
  FileHeader header;
  if (file.size() < sizeof header)
    return damaged(concat("expected at least ", sizeof header, " bytes of header, found ", file.size()));
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return damaged("not a Sprig package: expected it to start with 'SPRIGPKG'");
  // Before the checksum: a later major version may compute it otherwise.
  if (header.major > kMajor)
    return {true, true,
            concat("written for format version ", header.major, ".", header.minor, ", this runtime reads up to ",
                   kMajor, ".", kMinor)};
  if (header.major != kMajor) return damaged(concat("expected format version ", kMajor, ", found ", header.major));
  if (header.fileSize != file.size())
    return damaged(concat("expected ", header.fileSize, " bytes, found ", file.size(),
                          file.size() < header.fileSize ? " (truncated?)" : ""));
  if (header.sectionCount == 0 || header.sectionCount > kMaxSections)
    return damaged(concat("expected 1 to ", kMaxSections, " sections, found ", header.sectionCount));
  uint64_t tableSize = uint64_t(header.sectionCount) * sizeof(SectionHeader);
  if (tableSize > file.size() - sizeof header)
    return damaged(
        concat("a table of ", header.sectionCount, " sections ends behind the file's ", file.size(), " bytes"));
  std::span<const uint8_t> table = file.subspan(sizeof header, tableSize);
  uint64_t found = headerChecksum(header, table);
  if (found != header.checksum)
    return damaged(concat("header: expected checksum 0x", hexDigits(header.checksum), ", found 0x", hexDigits(found)));

  view.major = header.major;
  view.minor = header.minor;
  view.sections.clear();
  uint64_t end = sizeof header + tableSize;
  for (uint32_t i = 0; i < header.sectionCount; ++i) {
    SectionHeader entry;
    std::memcpy(&entry, table.data() + i * sizeof entry, sizeof entry);
    if (ContainerError error = readSection(file, entry, i, end, view); error.failed) return error;
  }
  if (end != file.size())
    return damaged(concat("expected the last section to end the file at ", file.size(), ", found ", end));
  return {};
}

} // namespace sprig::rt::format
