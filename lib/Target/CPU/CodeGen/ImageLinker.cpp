#include "lib/Target/CPU/CodeGen/ImageLinker.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace llvm;
using namespace sprig;
using namespace sprig::cpu;
using object::ELF64LEFile;
using Section = object::ELF64LE::Shdr;
using ElfSymbol = object::ELF64LE::Sym;

bool sprig::cpu::isRuntimeCall(StringRef symbol) {
  static const StringSet<> calls = {
#define SPRIG_RT_CALL(symbol, result, parameters) #symbol,
#include "sprig/rt/RuntimeCalls.def"
#undef SPRIG_RT_CALL
  };
  return calls.contains(symbol);
}

namespace {

template <typename... Ts> Error fail(const char *format, Ts... values) {
  return createStringError(inconvertibleErrorCode(), format, values...);
}

// One object and where its sections went.
struct Input {
  ELF64LEFile elf;
  object::ELF64LE::ShdrRange sections;
  DenseMap<const Section *, uint64_t> placed = DenseMap<const Section *, uint64_t>();
};

class Linker {
public:
  Error add(MemoryBufferRef buffer);
  Error link(ArrayRef<std::string> exports, LinkedImage &image);

private:
  Error place(Input &input, bool code);
  static Error forEachSymbol(Input &input, function_ref<Error(const ElfSymbol &, StringRef name)> visit);
  Error collectDefinitions(Input &input);
  Error collectImports(Input &input);
  void emitStubs();
  Error relocate(Input &input);
  Error apply(Input &input, const Section &target, const object::ELF64LE::Rela &relocation, const Section &symbols);
  Expected<uint64_t> targetOf(Input &input, const ElfSymbol &symbol, StringRef name, bool slot);

  std::vector<Input> inputs;
  StringMap<LinkedImage::Symbol> definitions;
  std::vector<LinkedImage::Symbol> functions;
  std::map<std::string, uint64_t> stubs, slots; // by call; ordered, so that the image does not depend on hashes
  std::vector<uint8_t> bytes;
};

Error Linker::add(MemoryBufferRef buffer) {
  auto elf = ELF64LEFile::create(buffer.getBuffer());
  if (!elf) return elf.takeError();
  if (elf->getHeader().e_machine != ELF::EM_X86_64 || elf->getHeader().e_type != ELF::ET_REL)
    return fail("%s is no relocatable object for x86-64", buffer.getBufferIdentifier().str().c_str());
  auto sections = elf->sections();
  if (!sections) return sections.takeError();
  inputs.push_back(Input{*elf, *sections});
  return Error::success();
}

// Code first, then constants: both end in the image's read-only part.
Error Linker::place(Input &input, bool code) {
  for (const Section &section : input.sections) {
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0) continue;
    auto name = input.elf.getSectionName(section);
    if (!name) return name.takeError();
    // Nothing unwinds through kernels.
    if (section.sh_type == ELF::SHT_X86_64_UNWIND || *name == ".eh_frame") continue;
    if (section.sh_flags & ELF::SHF_WRITE)
      return fail("section %s of a kernel object is writable (%llu bytes); an image has no data but its import slots",
                  name->str().c_str(), (unsigned long long)section.sh_size);
    if (bool(section.sh_flags & ELF::SHF_EXECINSTR) != code) continue;
    auto content = input.elf.getSectionContents(section);
    if (!content) return content.takeError();
    bytes.resize(alignTo(bytes.size(), std::max<uint64_t>(section.sh_addralign, 1)), code ? 0xcc : 0);
    input.placed[&section] = bytes.size();
    bytes.insert(bytes.end(), content->begin(), content->end());
  }
  return Error::success();
}

Error Linker::forEachSymbol(Input &input, function_ref<Error(const ElfSymbol &, StringRef name)> visit) {
  for (const Section &section : input.sections) {
    if (section.sh_type != ELF::SHT_SYMTAB) continue;
    auto symbols = input.elf.symbols(&section);
    if (!symbols) return symbols.takeError();
    auto strings = input.elf.getStringTableForSymtab(section);
    if (!strings) return strings.takeError();
    for (const ElfSymbol &symbol : *symbols) {
      auto name = symbol.getName(*strings);
      if (!name) return name.takeError();
      if (Error error = visit(symbol, *name)) return error;
    }
  }
  return Error::success();
}

Error Linker::collectDefinitions(Input &input) {
  // Local symbols come first in an object's table, so its functions get their name after them.
  size_t firstFunction = functions.size();
  std::string owner;
  auto collect = [&](const ElfSymbol &symbol, StringRef name) -> Error {
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    if (symbol.isUndefined() || (isLocal && symbol.getType() != ELF::STT_FUNC)) return Error::success();
    auto home = input.elf.getSection(symbol.st_shndx);
    if (!home) return home.takeError();
    auto place = input.placed.find(*home);
    if (symbol.getType() == ELF::STT_FUNC && place != input.placed.end())
      functions.push_back({"", place->second + symbol.st_value, symbol.st_size});
    if (isLocal) return Error::success();
    if (owner.empty()) owner = name.str();
    if (place == input.placed.end())
      return fail("kernel symbol '%s' lies in no code or constant section", name.str().c_str());
    LinkedImage::Symbol definition{name.str(), place->second + symbol.st_value, symbol.st_size};
    if (!definitions.try_emplace(name, definition).second)
      return fail("kernel symbol '%s' is defined twice", name.str().c_str());
    return Error::success();
  };
  if (Error error = forEachSymbol(input, collect)) return error;
  for (size_t i = firstFunction; i < functions.size(); ++i) functions[i].name = owner;
  return Error::success();
}

Error Linker::collectImports(Input &input) {
  return forEachSymbol(input, [&](const ElfSymbol &symbol, StringRef name) -> Error {
    // The compiler names the table in code that may need it; PC-relative code does not.
    bool isKnown = definitions.count(name) || name == "_GLOBAL_OFFSET_TABLE_";
    if (!symbol.isUndefined() || symbol.st_name == 0 || isKnown) return Error::success();
    if (!isRuntimeCall(name))
      return fail("kernel code needs the symbol '%s', which is no runtime call (RuntimeCalls.def)", name.str().c_str());
    stubs[name.str()] = 0;
    return Error::success();
  });
}

// Calls reach a stub near by, which jumps to the address in its slot; the slots lie on a page of their own.
void Linker::emitStubs() {
  if (stubs.empty()) return;
  bytes.resize(alignTo(bytes.size(), 16), 0xcc);
  for (auto &[call, offset] : stubs) {
    offset = bytes.size();
    bytes.insert(bytes.end(), {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc});
  }
}

Expected<uint64_t> Linker::targetOf(Input &input, const ElfSymbol &symbol, StringRef name, bool slot) {
  if (symbol.isUndefined() && !definitions.count(name)) {
    if (slot) return slots[name.str()];
    return stubs[name.str()];
  }
  if (slot) return fail("kernel code takes the absolute address of its symbol '%s'", name.str().c_str());
  if (symbol.isUndefined()) return definitions[name].offset;
  auto home = input.elf.getSection(symbol.st_shndx);
  if (!home) return home.takeError();
  auto place = input.placed.find(*home);
  if (place == input.placed.end()) {
    auto sectionName = input.elf.getSectionName(**home);
    return fail("kernel code refers to section %s, which an image does not have",
                sectionName ? sectionName->str().c_str() : (consumeError(sectionName.takeError()), "?"));
  }
  return place->second + symbol.st_value;
}

Error Linker::apply(Input &input, const Section &target, const object::ELF64LE::Rela &relocation,
                    const Section &symbolTable) {
  uint32_t type = relocation.getType(/*isMips64EL=*/false);
  if (type == ELF::R_X86_64_NONE) return Error::success();
  auto symbol = input.elf.getRelocationSymbol(relocation, &symbolTable);
  if (!symbol) return symbol.takeError();
  if (!*symbol) return fail("a relocation of kernel code names no symbol");
  auto strings = input.elf.getStringTableForSymtab(symbolTable);
  if (!strings) return strings.takeError();
  auto name = (*symbol)->getName(*strings);
  if (!name) return name.takeError();

  bool slot = type == ELF::R_X86_64_GOTPCREL || type == ELF::R_X86_64_GOTPCRELX || type == ELF::R_X86_64_REX_GOTPCRELX;
  bool wide = type == ELF::R_X86_64_PC64;
  if (!slot && !wide && type != ELF::R_X86_64_PC32 && type != ELF::R_X86_64_PLT32)
    return fail("kernel code has a relocation %s to '%s', which is not relative to its own place",
                object::getELFRelocationTypeName(ELF::EM_X86_64, type).str().c_str(), name->str().c_str());
  auto destination = targetOf(input, **symbol, *name, slot);
  if (!destination) return destination.takeError();

  uint64_t place = input.placed[&target] + relocation.r_offset;
  if (relocation.r_offset > target.sh_size || target.sh_size - relocation.r_offset < (wide ? 8u : 4u))
    return fail("a relocation to '%s' lies outside of its section", name->str().c_str());
  int64_t value = int64_t(*destination) + relocation.r_addend - int64_t(place);
  if (wide) {
    support::endian::write64le(&bytes[place], value);
    return Error::success();
  }
  if (!isInt<32>(value)) return fail("kernel code is %lld bytes away from '%s'", (long long)value, name->str().c_str());
  support::endian::write32le(&bytes[place], uint32_t(value));
  return Error::success();
}

Error Linker::relocate(Input &input) {
  for (const Section &section : input.sections) {
    if (section.sh_type == ELF::SHT_REL) return fail("a kernel object has relocations without addends");
    if (section.sh_type != ELF::SHT_RELA) continue;
    auto target = input.elf.getSection(section.sh_info);
    if (!target) return target.takeError();
    if (!input.placed.count(*target)) continue; // debug and unwind information
    auto symbols = input.elf.getSection(section.sh_link);
    if (!symbols) return symbols.takeError();
    auto relocations = input.elf.relas(section);
    if (!relocations) return relocations.takeError();
    for (const auto &relocation : *relocations)
      if (Error error = apply(input, **target, relocation, **symbols)) return error;
  }
  return Error::success();
}

Error Linker::link(ArrayRef<std::string> exports, LinkedImage &image) {
  for (bool code : {true, false})
    for (Input &input : inputs)
      if (Error error = place(input, code)) return error;
  for (Input &input : inputs)
    if (Error error = collectDefinitions(input)) return error;
  for (Input &input : inputs)
    if (Error error = collectImports(input)) return error;
  emitStubs();

  image.codeSize = alignTo(std::max<uint64_t>(bytes.size(), 1), kImagePage);
  bytes.resize(image.codeSize, 0);
  for (auto &[call, stub] : stubs) {
    uint64_t slot = bytes.size();
    slots[call] = slot;
    bytes.resize(slot + 8, 0);
    support::endian::write32le(&bytes[stub + 2], uint32_t(slot - (stub + 6)));
    image.imports.push_back({call, slot});
  }
  for (Input &input : inputs)
    if (Error error = relocate(input)) return error;
  for (const std::string &name : exports) {
    auto found = definitions.find(name);
    if (found == definitions.end()) return fail("kernel '%s' is in no object", name.c_str());
    image.symbols.push_back(found->second);
  }
  image.functions = std::move(functions);
  image.bytes = std::move(bytes);
  return Error::success();
}

} // namespace

Expected<LinkedImage> sprig::cpu::linkImage(ArrayRef<MemoryBufferRef> objects, ArrayRef<std::string> exports) {
  Linker linker;
  LinkedImage image;
  for (MemoryBufferRef object : objects)
    if (Error error = linker.add(object)) return std::move(error);
  if (Error error = linker.link(exports, image)) return std::move(error);
  return image;
}
