// A tool of NVTX, as those that NVTX_INJECTION64_PATH names: writes the ranges of a program to stderr, and before each
// how many it is nested in.
#include "runtime/device/cuda/NvtxInterface.h"

#include <cstdio>
#include <string>

namespace {

using namespace sprig::rt::nvtx;

thread_local int depth = 0;

Domain *create(const char *name) { return reinterpret_cast<Domain *>(new std::string(name)); }

int push(Domain *domain, const EventAttributes *range) {
  if (range->version != kVersion || range->bytes != sizeof *range || range->messageType != 1) return -1;
  std::fprintf(stderr, "%d %s: %s\n", depth, reinterpret_cast<std::string *>(domain)->c_str(), range->message);
  return depth++;
}

int pop(Domain *) {
  if (depth > 0) return --depth;
  std::fprintf(stderr, "a range ends that has not begun\n");
  return -1;
}

} // namespace

extern "C" [[gnu::visibility("default")]] int InitializeInjectionNvtx2(GetExportTable *tables) {
  auto *callbacks = static_cast<const Callbacks *>(tables(kCallbacks));
  auto *version = static_cast<const VersionInfo *>(tables(kVersionInfo));
  Function **functions = nullptr;
  unsigned count = 0;
  if (!callbacks || !version || version->version != kVersion || tables(0)) return 0;
  if (!callbacks->moduleFunctions(kDomains, &functions, &count) || count <= unsigned(kCreate) || functions[count])
    return 0;
  *functions[kCreate] = reinterpret_cast<Function>(create);
  *functions[kPush] = reinterpret_cast<Function>(push);
  *functions[kPop] = reinterpret_cast<Function>(pop);
  return 1;
}
