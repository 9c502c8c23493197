#include "runtime/device/cpu/GdbSymbols.h"
#include "runtime/device/cpu/GdbInterface.h"

#include <cstring>
#include <elf.h>
#include <mutex>

// gdb stops in the empty function and reads the descriptor.
extern "C" {
// Hidden: another compiler in the process has its own, and gdb looks into each library.
__attribute__((visibility("hidden"), used)) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((visibility("hidden"), noinline, used)) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}
}

namespace sprig::rt::core {

struct GdbSymbols::Entry : jit_code_entry {};

namespace {

enum Action : uint32_t { Register = 1, Unregister = 2 };

std::mutex &listLock() {
  // Never destroyed: packages of static storage may outlive it.
  static std::mutex &lock = *new std::mutex;
  return lock;
}

void tell(Action action, jit_code_entry *entry) {
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
}

template <typename T> uint64_t append(std::vector<uint8_t> &bytes, const T *items, size_t count) {
  bytes.resize((bytes.size() + 7) / 8 * 8);
  uint64_t offset = bytes.size();
  const uint8_t *from = reinterpret_cast<const uint8_t *>(items);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
  return offset;
}

// Sections: none, .text (not in the file, at its address), .symtab, .strtab, .shstrtab.
std::vector<uint8_t> elfFile(const std::vector<CodeSymbol> &symbols, uint64_t address, uint64_t size) {
  std::string names(1, '\0');
  std::vector<Elf64_Sym> table(1);
  for (const CodeSymbol &symbol : symbols) {
    Elf64_Sym entry = {};
    entry.st_name = uint32_t(names.size());
    entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    entry.st_shndx = 1;
    entry.st_value = symbol.address;
    entry.st_size = symbol.size;
    table.push_back(entry);
    names += symbol.name + '\0';
  }
  static constexpr char sectionNames[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
#if defined(__aarch64__)
  header.e_machine = EM_AARCH64;
#else
  header.e_machine = EM_X86_64;
#endif
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 4;
  std::vector<uint8_t> bytes;
  append(bytes, &header, 1);
  Elf64_Shdr sections[5] = {};
  sections[1] = {1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, address, bytes.size(), size, 0, 0, 16, 0};
  uint64_t at = append(bytes, table.data(), table.size());
  // The first symbol that is not local is 1.
  sections[2] = {7, SHT_SYMTAB, 0, 0, at, table.size() * sizeof(Elf64_Sym), 3, 1, 8, sizeof(Elf64_Sym)};
  at = append(bytes, names.data(), names.size());
  sections[3] = {15, SHT_STRTAB, 0, 0, at, names.size(), 0, 0, 1, 0};
  at = append(bytes, sectionNames, sizeof sectionNames);
  sections[4] = {23, SHT_STRTAB, 0, 0, at, sizeof sectionNames, 0, 0, 1, 0};
  header.e_shoff = append(bytes, sections, 5);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

} // namespace

GdbSymbols::GdbSymbols(const std::vector<CodeSymbol> &symbols, uint64_t address, uint64_t size)
    : bytes(elfFile(symbols, address, size)), entry(std::make_unique<Entry>()) {
  entry->symfile_addr = reinterpret_cast<const char *>(bytes.data());
  entry->symfile_size = bytes.size();
  std::lock_guard guard(listLock());
  entry->prev_entry = nullptr;
  entry->next_entry = __jit_debug_descriptor.first_entry;
  if (entry->next_entry) entry->next_entry->prev_entry = entry.get();
  __jit_debug_descriptor.first_entry = entry.get();
  tell(Register, entry.get());
}

GdbSymbols::~GdbSymbols() {
  std::lock_guard guard(listLock());
  if (entry->next_entry) entry->next_entry->prev_entry = entry->prev_entry;
  (entry->prev_entry ? entry->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = entry->next_entry;
  tell(Unregister, entry.get());
}

} // namespace sprig::rt::core
