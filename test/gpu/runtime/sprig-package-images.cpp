// sprig-package-images: makes the emulation images of a package's code for GPUs, so that the package runs on the
// stand-in.
#include "test/gpu/image/ImageBuilder.h"
#include "test/gpu/ptx/Lexer.h"
#include "test/gpu/runtime/GpuPackage.h"
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

using namespace sprig;

static const char usage[] =
    "usage: sprig-package-images PACKAGE -o FOLDER [FILE.ptx...]\n"
    "Makes the emulation images that SPRIG_STANDIN_IMAGES=FOLDER serves a package's code for GPUs from. PTX is in the\n"
    "package; a cubin takes that of the files which is for its architecture ('sprig compile --emit ptx').\n";

namespace {

struct Failure {
  int code;
  std::string text;
};

std::string read(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure{3, "cannot read '" + path + "'"};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// "sm_90" of a text's .target.
std::string targetOf(const std::string &ptx) {
  size_t at = ptx.find(".target");
  if (at == ptx.npos) return "";
  size_t begin = ptx.find_first_not_of(" \t", at + 7), end = ptx.find_first_of(", \t\r\n", begin);
  return begin == ptx.npos ? "" : ptx.substr(begin, end - begin);
}

void makeImages(const std::string &path, const std::string &folder, const std::vector<std::string> &texts) {
  std::map<std::string, std::string> byTarget;
  for (const std::string &file : texts) {
    std::string text = read(file);
    byTarget[targetOf(text)] = text;
  }
  gpu::GpuPackage package(path);
  std::filesystem::create_directories(folder);
  for (const auto &[image, code, isText] : package.images) {
    std::string hash = llvm::toHex(llvm::SHA256::hash({code.data(), code.size()}), /*LowerCase=*/true);
    std::string ptx(reinterpret_cast<const char *>(code.data()), code.size());
    if (!isText) {
      auto found = byTarget.find(image->isa);
      if (found == byTarget.end()) {
        std::fprintf(stderr, "note: %s: no PTX file is for %s; no image for it\n", path.c_str(), image->isa.c_str());
        continue;
      }
      ptx = found->second;
    }
    gpu::makeImage(ptx, path + " (" + image->isa + ")", folder + "/" + hash + ".so");
    std::printf("%s %s.so\n", image->isa.c_str(), hash.c_str());
  }
}

} // namespace

int main(int argc, char **argv) {
  std::string package, folder;
  std::vector<std::string> texts;
  for (int i = 1; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--help")) return std::fputs(usage, stdout), 0;
    if (!std::strcmp(argv[i], "-o") && i + 1 < argc)
      folder = argv[++i];
    else if (argv[i][0] == '-')
      return std::fprintf(stderr, "error: '%s' is not expected here\n%s", argv[i], usage), 2;
    else if (package.empty())
      package = argv[i];
    else
      texts.push_back(argv[i]);
  }
  if (package.empty() || folder.empty())
    return std::fprintf(stderr, "error: a package and '-o FOLDER' are wanted\n%s", usage), 2;
  try {
    makeImages(package, folder, texts);
  } catch (const Failure &failure) {
    return std::fprintf(stderr, "error: %s\n", failure.text.c_str()), failure.code;
  } catch (const gpu::BadPackage &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 3;
  } catch (const ptx::PtxError &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 3;
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 5;
  }
  return 0;
}
