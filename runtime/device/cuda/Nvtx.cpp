#include "runtime/device/cuda/Nvtx.h"

#include "runtime/device/cuda/NvtxInterface.h"

#include <cstdlib>
#include <dlfcn.h>
#include <iterator>

namespace sprig::rt::core {

using namespace nvtx;

namespace {

constexpr size_t kModules = std::size(kFunctions), kMostFunctions = 16;

struct Module {
  Function functions[kMostFunctions] = {}; // the tool's
  Function *table[kMostFunctions + 1] = {};
};

Module &moduleOf(int number) {
  static Module modules[kModules];
  return modules[number];
}

int moduleFunctions(int number, Function ***table, unsigned *count) {
  if (number <= 0 || size_t(number) >= kModules) return 0;
  Module &module = moduleOf(number);
  for (unsigned i = 1; i < kFunctions[number]; ++i) module.table[i] = &module.functions[i];
  if (table) *table = module.table;
  if (count) *count = kFunctions[number];
  return 1;
}

void ignoreVersion(uint32_t) {}

const void *exportTable(uint32_t number) {
  static const Callbacks callbacks{.moduleFunctions = moduleFunctions};
  static const VersionInfo version{.setToolVersion = ignoreVersion};
  if (number == kCallbacks) return &callbacks;
  return number == kVersionInfo ? &version : nullptr;
}

class Attached final : public Nvtx {
public:
  // Stays loaded, since threads may be inside ranges to the very end.
  bool load(const char *library) {
    void *handle = dlopen(library, RTLD_LAZY);
    auto *initialize = handle ? reinterpret_cast<Initialize *>(dlsym(handle, kInitializer)) : nullptr;
    if (!initialize || !initialize(exportTable)) return false;
    const Function *functions = moduleOf(kDomains).functions;
    auto *create = reinterpret_cast<Create *>(functions[kCreate]);
    pushRange = reinterpret_cast<Push *>(functions[kPush]);
    popRange = reinterpret_cast<Pop *>(functions[kPop]);
    if (!pushRange || !popRange) return false; // a tool need not want them
    domain = create ? create("sprig") : nullptr;
    return true;
  }
  void push(const char *name) const override {
    EventAttributes range;
    range.message = name;
    pushRange(domain, &range);
  }
  void pop() const override { popRange(domain); }

private:
  Domain *domain = nullptr; // null is the process's own
  Push *pushRange = nullptr;
  Pop *popRange = nullptr;
};

const Nvtx *attach() {
  const char *library = std::getenv(kPathVariable);
  if (!library || !*library) return nullptr;
  static Attached tool;
  return tool.load(library) ? &tool : nullptr;
}

} // namespace

const Nvtx *Nvtx::attached() {
  static const Nvtx *const tool = attach();
  return tool;
}

} // namespace sprig::rt::core
