// Every other function that a driver exports: it says that it is not here. Weak, so that one that is here wins.
#include <cstdio>

namespace {

int unsupported(const char *name) {
  std::fprintf(stderr, "stand-in: %s is not supported\n", name);
  return 801; // CUDA_ERROR_NOT_SUPPORTED
}

} // namespace

// Called with whatever arguments they have: none is looked at.
extern "C" {
#define N(name)                                                                                                        \
  __attribute__((weak, visibility("default"))) int name() { return unsupported(#name); }
#include "test/gpu/driver/Names.def"
}
