// Stands in for libFuzzer where it is not built in: feeds files, and folders of files, to a fuzzer, and with
// -mutations=N also N changed copies of each, the same ones every time. -artifact=FILE keeps the input that ends the
// process. Other options of libFuzzer's are ignored.
#include "test/fuzz/Fuzz.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                                                unsigned seed);

namespace {

constexpr size_t kMostGrowth = 4096;
// What is being read, for who dies of it.
std::string current, artifact;
std::vector<uint8_t> bytes;

void onDeath(int signal) {
  std::string text = "input: " + current + "\n";
  if (::write(2, text.data(), text.size()) < 0) _exit(1);
  if (int file = artifact.empty() ? -1 : ::open(artifact.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666); file >= 0)
    if (::write(file, bytes.data(), bytes.size()) < 0) _exit(1);
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

std::vector<uint8_t> contentOf(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void mutate(unsigned seed) {
  size_t size = bytes.size();
  bytes.resize(size + kMostGrowth);
  std::srand(seed);
  bytes.resize(LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(bytes.data(), size, bytes.size(), seed)
                                       : LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
}

} // namespace

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  if (maxSize == 0) return 0;
  size_t at = size ? size_t(std::rand()) % size : 0;
  switch (size ? std::rand() % 4 : 2) {
  case 0: data[at] ^= uint8_t(1 << (std::rand() % 8)); return size;
  case 1: data[at] = uint8_t(std::rand()); return size;
  case 2:
    if (size == maxSize) return size;
    std::memmove(data + at + 1, data + at, size - at);
    data[at] = uint8_t(std::rand());
    return size + 1;
  default: std::memmove(data + at, data + at + 1, size - at - 1); return size - 1;
  }
}

int main(int argc, char **argv) {
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, onDeath);
  int mutations = 0;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.starts_with("-mutations=")) mutations = std::atoi(argv[i] + std::strlen("-mutations="));
    if (argument.starts_with("-artifact=")) artifact = argument.substr(std::strlen("-artifact="));
    if (argument.starts_with("-")) continue;
    if (!fs::is_directory(argument))
      files.push_back(argument);
    else
      for (const auto &entry : fs::recursive_directory_iterator(argument))
        if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "error: no input\n");
    return 2;
  }
  size_t count = 0;
  for (const fs::path &file : files) {
    std::vector<uint8_t> content = contentOf(file);
    for (int mutation = 0; mutation <= mutations; ++mutation, ++count) {
      current = file.string() + (mutation ? ", mutation " + std::to_string(mutation) : "");
      bytes = content;
      if (mutation) mutate(unsigned(mutation));
      bytes.shrink_to_fit();
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  }
  std::printf("%zu inputs of %zu files\n", count, files.size());
  return 0;
}
