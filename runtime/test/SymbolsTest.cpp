// Names of generated code for perf and gdb: asked for by the environment, true to the code, gone with it.
#include "runtime/device/cpu/GdbInterface.h"
#include "runtime/device/cpu/GdbSymbols.h"
#include "runtime/test/TestPackage.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <unistd.h>

namespace sprig::rt::test {
namespace {

namespace fs = std::filesystem;

// A variable of the environment for a scope.
struct Setting {
  Setting(const char *name, const std::string &value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Setting() { unsetenv(name); }
  const char *name;
};

bool isExecutable(uint64_t begin, uint64_t size) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long from = 0, to = 0;
    char mode[8] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %7s", &from, &to, mode) == 3 && from <= begin && begin + size <= to)
      return mode[2] == 'x';
  }
  return false;
}

fs::path freshFolder(const char *name) {
  fs::path folder = fs::temp_directory_path() / (name + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

TEST(Symbols, PerfMapNamesEveryKernel) {
  fs::path folder = freshFolder("sprig-perf-");
  Setting setting("SPRIG_PERF_MAP", folder.string());
  TestPackage package = addPackage();
  package.program.kernels[1].name = "with\nbreak";
  Package loaded = package.load();
  std::ifstream file(folder / ("perf-" + std::to_string(getpid()) + ".map"));
  ASSERT_TRUE(file.is_open());
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    uint64_t address = 0, size = 0;
    std::string name;
    words >> std::hex >> address >> size >> name;
    ASSERT_FALSE(words.fail()) << line;
    EXPECT_TRUE(isExecutable(address, size)) << line;
    names.push_back(name);
  }
  ASSERT_EQ(names.size(), package.program.kernels.size());
  EXPECT_EQ(names[0], "sprig.add");
  EXPECT_EQ(names[1], "sprig.with_break");
  fs::remove_all(folder);
}

TEST(Symbols, PerfMapFollowsNoLink) {
  fs::path folder = freshFolder("sprig-link-");
  fs::path target = folder / "victim";
  std::ofstream(target) << "untouched";
  fs::create_symlink(target, folder / ("perf-" + std::to_string(getpid()) + ".map"));
  Setting setting("SPRIG_PERF_MAP", folder.string());
  Package loaded = addPackage().load();
  std::stringstream content;
  content << std::ifstream(target).rdbuf();
  EXPECT_EQ(content.str(), "untouched");
  fs::remove_all(folder);
}

TEST(Symbols, NothingUnlessAskedFor) {
  fs::path folder = freshFolder("sprig-none-");
  {
    Setting setting("SPRIG_PERF_MAP", "0");
    Package loaded = addPackage().load();
  }
  EXPECT_EQ(__jit_debug_descriptor.first_entry, nullptr);
  EXPECT_FALSE(fs::exists("/tmp/perf-" + std::to_string(getpid()) + ".map"));
  fs::remove_all(folder);
}

// Name and address of each function in an ELF file in memory.
std::vector<std::pair<std::string, uint64_t>> functionsOf(const char *file, uint64_t size) {
  std::vector<std::pair<std::string, uint64_t>> functions;
  Elf64_Ehdr header;
  EXPECT_GE(size, sizeof header);
  std::memcpy(&header, file, sizeof header);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  EXPECT_LE(header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr), size);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file + header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr &section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    const char *names = file + sections[section.sh_link].sh_offset;
    for (uint64_t at = sizeof(Elf64_Sym); at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file + section.sh_offset + at, sizeof symbol);
      EXPECT_EQ(ELF64_ST_TYPE(symbol.st_info), STT_FUNC);
      functions.emplace_back(names + symbol.st_name, symbol.st_value);
    }
  }
  return functions;
}

TEST(Symbols, GdbKnowsLoadedPackagesOnly) {
  Setting setting("SPRIG_GDB", "1");
  {
    Package first = addPackage().load();
    jit_code_entry *entry = __jit_debug_descriptor.first_entry;
    ASSERT_NE(entry, nullptr);
    auto functions = functionsOf(entry->symfile_addr, entry->symfile_size);
    ASSERT_EQ(functions.size(), addPackage().program.kernels.size());
    EXPECT_EQ(functions[0].first, "sprig.add");
    for (auto &[name, address] : functions) EXPECT_TRUE(isExecutable(address, 1)) << name;
    {
      Package second = addPackage().load();
      EXPECT_EQ(__jit_debug_descriptor.first_entry->next_entry, entry);
    }
    EXPECT_EQ(__jit_debug_descriptor.first_entry, entry);
    EXPECT_EQ(entry->prev_entry, nullptr);
  }
  EXPECT_EQ(__jit_debug_descriptor.first_entry, nullptr);
}

} // namespace
} // namespace sprig::rt::test
