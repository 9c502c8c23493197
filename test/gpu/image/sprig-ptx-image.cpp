// sprig-ptx-image: makes an emulation image from a PTX file.
#include "test/gpu/image/ImageBuilder.h"
#include "test/gpu/ptx/Lexer.h"
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

static const char usage[] =
    "usage: sprig-ptx-image FILE.ptx -o FILE.so\n"
    "Makes an emulation image of a PTX file: a shared object that the tests' GPU emulator runs.\n";

int main(int argc, char **argv) {
  std::string input, output;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help")) return std::fputs(usage, stdout), 0;
    if (!std::strcmp(argv[i], "-o") && i + 1 < argc)
      output = argv[++i];
    else if (input.empty() && argv[i][0] != '-')
      input = argv[i];
    else
      return std::fprintf(stderr, "error: '%s' is not expected here\n%s", argv[i], usage), 2;
  }
  if (input.empty() || output.empty())
    return std::fprintf(stderr, "error: a PTX file and '-o FILE.so' are wanted\n%s", usage), 2;
  std::ifstream file(input, std::ios::binary);
  if (!file) return std::fprintf(stderr, "error: cannot read '%s'\n", input.c_str()), 3;
  std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    sprig::gpu::makeImage(text, input, output);
  } catch (const sprig::ptx::PtxError &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 3;
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 5;
  }
  return 0;
}
