#include "lib/Cubin/Cubin.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <map>

namespace sprig::gpu {
namespace {

constexpr unsigned kMachineCuda = 190; // EM_CUDA
constexpr unsigned kEntry = 0x10;      // in a symbol's st_other: a kernel
constexpr unsigned kReserved = 1024;   // shared memory that the system keeps, a part of the section from sm_90 on

// Attributes of .nv.info, and how their values lie there.
enum Attribute : uint8_t {
  kMaxThreads = 0x05,
  kParameterBank = 0x0a,
  kRequiredThreads = 0x10,
  kFrameSize = 0x11,
  kParameter = 0x17,
  kParameterBytes = 0x19,
  kRegisters = 0x2f,
  kCluster = 0x3d
};
enum Format : uint8_t { kNone = 1, kByte = 2, kHalf = 3, kSized = 4 };

class Reader {
public:
  Reader(std::string_view bytes, Cubin &cubin, std::string &error) : bytes(bytes), cubin(cubin), error(error) {}
  bool run();

private:
  template <typename T> bool get(uint64_t offset, T &value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return true;
  }
  bool fail(std::string text) {
    error = std::move(text);
    return false;
  }
  bool readSections();
  bool readSymbols();
  bool readInfo(const Elf64_Shdr &section, CubinKernel *kernel);
  bool readAttribute(uint8_t attribute, const uint32_t *words, size_t count, CubinKernel *kernel);
  bool finish(CubinKernel &kernel);
  CubinKernel *kernelOf(const std::string &section, const char *prefix);

  std::string_view bytes;
  Cubin &cubin;
  std::string &error;
  Elf64_Ehdr header = {};
  std::vector<std::pair<std::string, Elf64_Shdr>> sections;
  std::map<uint32_t, size_t> kernelBySymbol;
};

// A name in a table of strings; false where it does not end within.
bool nameAt(std::string_view table, uint64_t offset, std::string &name) {
  if (offset >= table.size()) return false;
  size_t end = table.find('\0', offset);
  if (end == table.npos) return false;
  name = table.substr(offset, end - offset);
  return true;
}

bool Reader::readSections() {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return fail("its section headers have an unknown size");
  std::vector<Elf64_Shdr> headers(header.e_shnum);
  for (size_t i = 0; i < headers.size(); ++i) {
    if (!get(header.e_shoff + i * sizeof(Elf64_Shdr), headers[i])) return fail("its section headers are cut off");
    const Elf64_Shdr &section = headers[i];
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset)
      return fail("section " + std::to_string(i) + " lies outside of the file");
  }
  if (header.e_shstrndx >= headers.size()) return fail("it has no names of sections");
  const Elf64_Shdr &names = headers[header.e_shstrndx];
  if (names.sh_type == SHT_NOBITS) return fail("it has no names of sections");
  std::string_view table = bytes.substr(names.sh_offset, names.sh_size);
  for (const Elf64_Shdr &section : headers) {
    std::string name;
    if (!nameAt(table, section.sh_name, name)) return fail("the name of a section is cut off");
    sections.emplace_back(std::move(name), section);
  }
  return true;
}

bool Reader::readSymbols() {
  for (auto &[name, section] : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    if (section.sh_link >= sections.size()) return fail("its symbols have no names");
    const Elf64_Shdr &strings = sections[section.sh_link].second;
    if (strings.sh_type == SHT_NOBITS) return fail("its symbols have no names");
    std::string_view table = bytes.substr(strings.sh_offset, strings.sh_size);
    for (uint32_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      Elf64_Sym symbol;
      if (!get(section.sh_offset + i * sizeof symbol, symbol)) return fail("its symbols are cut off");
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !(symbol.st_other & kEntry)) continue;
      CubinKernel kernel;
      if (!nameAt(table, symbol.st_name, kernel.name)) return fail("the name of a symbol is cut off");
      kernelBySymbol[i] = cubin.kernels.size();
      cubin.kernels.push_back(std::move(kernel));
    }
  }
  return true;
}

bool Reader::readAttribute(uint8_t attribute, const uint32_t *words, size_t count, CubinKernel *kernel) {
  if (attribute == kRegisters || attribute == kFrameSize) {
    // Of the whole file: a symbol and its value.
    if (count < 2) return fail("an attribute of .nv.info is cut off");
    auto it = kernelBySymbol.find(words[0]);
    if (it == kernelBySymbol.end()) return true; // of a device function
    CubinKernel &of = cubin.kernels[it->second];
    (attribute == kRegisters ? of.registers : of.localBytes) = words[1];
    return true;
  }
  if (!kernel) return true;
  size_t needed = attribute == kParameterBytes ? 1 : attribute == kParameterBank ? 2 : 3;
  switch (attribute) {
  case kMaxThreads:
  case kRequiredThreads:
  case kCluster:
  case kParameter:
  case kParameterBytes:
    if (count < needed) return fail("an attribute of .nv.info." + kernel->name + " is cut off");
    break;
  default: return true;
  }
  if (attribute == kMaxThreads) kernel->maxThreads = words[0] * words[1] * words[2];
  if (attribute == kRequiredThreads) std::copy_n(words, 3, kernel->requiredThreads);
  if (attribute == kCluster) std::copy_n(words, 3, kernel->cluster);
  if (attribute == kParameterBytes) kernel->parameterBytes = words[0];
  if (attribute == kParameter) {
    uint32_t ordinal = words[1] & 0xffff;
    if (ordinal >= 4096) return fail("kernel " + kernel->name + " has a parameter " + std::to_string(ordinal));
    if (kernel->parameters.size() <= ordinal) kernel->parameters.resize(ordinal + 1);
    kernel->parameters[ordinal] = {words[1] >> 16, words[2] >> 18};
  }
  return true;
}

bool Reader::readInfo(const Elf64_Shdr &section, CubinKernel *kernel) {
  if (section.sh_type == SHT_NOBITS) return fail("its .nv.info has no bytes");
  uint64_t at = section.sh_offset, end = at + section.sh_size;
  while (at < end) {
    struct {
      uint8_t format, attribute;
      uint16_t value;
    } entry;
    if (end - at < sizeof entry || !get(at, entry)) return fail("its .nv.info is cut off");
    at += sizeof entry;
    uint32_t words[3] = {entry.value, 0, 0};
    size_t count = 1;
    if (entry.format == kSized) {
      if (entry.value > end - at) return fail("its .nv.info is cut off");
      count = std::min<size_t>(entry.value / 4, 3);
      std::memcpy(words, bytes.data() + at, count * 4);
      at += entry.value;
    } else if (entry.format < kNone || entry.format > kSized) {
      return fail("its .nv.info has an entry of unknown form");
    }
    if (!readAttribute(entry.attribute, words, count, kernel)) return false;
  }
  return true;
}

CubinKernel *Reader::kernelOf(const std::string &section, const char *prefix) {
  size_t length = std::strlen(prefix);
  if (section.compare(0, length, prefix) != 0) return nullptr;
  for (CubinKernel &kernel : cubin.kernels)
    if (section.compare(length, std::string::npos, kernel.name) == 0) return &kernel;
  return nullptr;
}

bool Reader::finish(CubinKernel &kernel) {
  for (const CubinParameter &parameter : kernel.parameters)
    if (parameter.size == 0 || parameter.offset + parameter.size > kernel.parameterBytes)
      return fail("a parameter of kernel " + kernel.name + " lies outside of its " +
                  std::to_string(kernel.parameterBytes) + " bytes");
  return true;
}

bool Reader::run() {
  if (!get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return fail("it is no ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kMachineCuda)
    return fail("it is an ELF file of another machine");
  // Where the architecture stands changed with CUDA 13.
  cubin.architecture = header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 & 0xff : header.e_flags & 0xff;
  if (!readSections() || !readSymbols()) return false;
  for (auto &[name, section] : sections) {
    if (name == ".nv.info" && !readInfo(section, nullptr)) return false;
    if (CubinKernel *kernel = kernelOf(name, ".nv.info."); kernel && !readInfo(section, kernel)) return false;
    if (CubinKernel *kernel = kernelOf(name, ".nv.shared.")) {
      kernel->staticShared = static_cast<uint32_t>(section.sh_size);
      if (cubin.architecture >= 90 && kernel->staticShared >= kReserved) kernel->staticShared -= kReserved;
    }
    if (CubinKernel *kernel = kernelOf(name, ".nv.constant0."))
      kernel->constantBytes = static_cast<uint32_t>(section.sh_size);
  }
  return std::all_of(cubin.kernels.begin(), cubin.kernels.end(), [&](CubinKernel &kernel) { return finish(kernel); });
}

} // namespace

bool Cubin::parse(std::string_view bytes, Cubin &cubin, std::string &error) {
  cubin = {};
  return Reader(bytes, cubin, error).run();
}

uint64_t Cubin::size(std::string_view bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) return 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  uint64_t end = std::max(header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize,
                          header.e_phoff + uint64_t(header.e_phnum) * header.e_phentsize);
  return end > (uint64_t(1) << 32) ? 0 : end;
}

const CubinKernel *Cubin::find(std::string_view name) const {
  for (const CubinKernel &kernel : kernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

} // namespace sprig::gpu
