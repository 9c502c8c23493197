#include "runtime/device/cpu/CodeSymbols.h"

#include "runtime/device/cpu/GdbSymbols.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sprig::rt::core {

static const char *setting(const char *variable) {
  const char *value = std::getenv(variable);
  return value && *value && std::strcmp(value, "0") != 0 ? value : nullptr;
}

// One line is one symbol: address and size in hexadecimal, then the name to the end of the line.
static std::string perfMapText(const std::vector<CodeSymbol> &symbols) {
  std::string text;
  for (const CodeSymbol &symbol : symbols) {
    char numbers[40];
    std::snprintf(numbers, sizeof numbers, "%llx %llx ", static_cast<unsigned long long>(symbol.address),
                  static_cast<unsigned long long>(symbol.size));
    text += numbers + symbol.name + "\n";
  }
  return text;
}

static void writePerfMap(const std::vector<CodeSymbol> &symbols, const char *where) {
  std::string folder = std::strcmp(where, "1") == 0 ? "/tmp" : where;
  std::string path = folder + "/perf-" + std::to_string(getpid()) + ".map";
  // The folder is open to all: neither follow a link, nor write to another user's file, nor wait for a pipe.
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  if (file < 0) return;
  struct stat status;
  std::string text = perfMapText(symbols);
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid()) {
    // One write, so that loads on several threads do not mix their lines.
    [[maybe_unused]] ssize_t written = write(file, text.data(), text.size());
  }
  close(file);
}

CodeSymbols::CodeSymbols() = default;
CodeSymbols::CodeSymbols(CodeSymbols &&) noexcept = default;
CodeSymbols &CodeSymbols::operator=(CodeSymbols &&) noexcept = default;
CodeSymbols::~CodeSymbols() = default;

void CodeSymbols::announce(const Image &image, const std::vector<Kernel> &kernels, const void *address) {
  const char *perf = setting("SPRIG_PERF_MAP");
  bool wantsGdb = setting("SPRIG_GDB") != nullptr;
  if (!perf && !wantsGdb) return;
  std::vector<CodeSymbol> symbols;
  uint64_t base = reinterpret_cast<uint64_t>(address);
  auto add = [&](std::string name, uint64_t offset, uint64_t size) {
    if (offset >= image.codeSize || size > image.codeSize - offset) return;
    // A name of a model may hold anything; a line break would end the symbol.
    for (char &c : name)
      if (static_cast<unsigned char>(c) < 0x20) c = '_';
    symbols.push_back({"sprig." + name, base + offset, size});
  };
  for (const ImageFunction &function : image.functions) add(function.name, function.offset, function.size);
  // Packages of older compilers name what a command calls, not what that calls in turn.
  if (image.functions.empty())
    for (size_t i = 0; i < kernels.size() && i < image.symbols.size(); ++i)
      add(kernels[i].name, image.symbols[i], i < image.symbolSizes.size() ? image.symbolSizes[i] : 1);
  if (perf) writePerfMap(symbols, perf);
  if (wantsGdb) gdb = std::make_unique<GdbSymbols>(symbols, base, image.codeSize);
}

} // namespace sprig::rt::core
