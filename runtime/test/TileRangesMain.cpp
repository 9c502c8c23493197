// check-tile-ranges FILE.sprig...: runs the kernels of packages tile by tile (TileRanges.h). One line for each kernel
// whose tiles touch more than the package says, one for each package, and at last `N passed, N failed` over all.
#include "runtime/test/TileRanges.h"

#include <cstdio>

using namespace sprig::rt;
using namespace sprig::rt::test;

static core::Status open(const char *path, std::shared_ptr<const core::Package> &package) {
  core::PackageSource source;
  source.name = path;
  SPRIG_RETURN_IF_ERROR(core::MappedFile::open(path, source.file));
  source.bytes = source.file.bytes();
  return core::Package::load(std::move(source), {}, package);
}

int main(int argc, char **argv) {
  size_t passed = 0, failed = 0;
  for (int i = 1; i < argc; ++i) {
    std::shared_ptr<const core::Package> package;
    if (core::Status status = open(argv[i], package); !status.isOk()) {
      std::printf("FAIL %s: %s\n", argv[i], std::string(status.message()).c_str());
      ++failed;
      continue;
    }
    TileRangesFound found = checkTileRanges(*package);
    for (const std::string &wrong : found.wrong) std::printf("FAIL %s: %s\n", argv[i], wrong.c_str());
    std::printf("%s: %zu of %zu kernels state what their tiles touch; %zu tiles run\n", argv[i], found.stated,
                found.kernels, found.tiles);
    failed += found.wrong.size();
    passed += found.stated - found.wrong.size();
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  return failed ? 1 : 0;
}
