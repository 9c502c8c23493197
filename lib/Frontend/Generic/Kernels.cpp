#include "lib/Frontend/Generic/Kernels.h"
#include "lib/Frontend/Generic.h"
#include "sprig/rt/sprig_rt.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

// Distances of the kernels from the table (MakeKernels.cpp).
extern "C" {
extern const int32_t sprig_generic_v2[], sprig_generic_v3[], sprig_generic_v4[];
}

namespace sprig::frontend::generic {

static int levelOf(std::string_view isa) {
  return isa == "x86-64-v2" ? 2 : isa == "x86-64-v3" ? 3 : isa == "x86-64-v4" ? 4 : 0;
}

static int findLevel() {
  sprig_rt_device_info info = {};
  if (sprig_rt_status *status = sprig_rt_device(0, &info)) {
    sprig_rt_status_free(status);
    return 0;
  }
  int level = info.isa ? levelOf(info.isa) : 0;
  const char *limit = std::getenv("SPRIG_CPU");
  return limit && levelOf(limit) ? std::min(level, levelOf(limit)) : level;
}

int isaLevel() {
  static const int level = findLevel();
  return level;
}

} // namespace sprig::frontend::generic

namespace sprig::frontend {
std::string codeKind() { return "x86-64-v" + std::to_string(generic::isaLevel()); }
} // namespace sprig::frontend

namespace sprig::frontend::generic {

namespace {
struct KernelTable {
  sprig_rt_kernel kernels[kGroupCount][kTypeCount] = {};
  KernelTable() {
    int level = isaLevel();
    if (level == 0) return;
    const int32_t *distances = level == 4 ? sprig_generic_v4 : level == 3 ? sprig_generic_v3 : sprig_generic_v2;
    const char *base = reinterpret_cast<const char *>(distances);
    int place = 0;
    for (int group = 0; group < kGroupCount; ++group)
      for (int type = 0; type < kTypeCount; ++type)
        if (hasType(kKernelGroups[group], DType(type)))
          kernels[group][type] = reinterpret_cast<sprig_rt_kernel>(const_cast<char *>(base + distances[place++]));
    for (int group = 0; group < kGroupCount; ++group)
      for (int type = int(DType::u64); type <= int(DType::u8); ++type)
        if (kKernelGroups[group].signless) kernels[group][type] = kernels[group][int(signedOf(DType(type)))];
  }
};
} // namespace

sprig_rt_kernel kernelOf(int group, DType type) {
  static const KernelTable table;
  return table.kernels[group][int(type)];
}

int groupOf(const char *op) {
  for (int group = 0; group < kGroupCount; ++group)
    if (std::strcmp(kKernelGroups[group].op, op) == 0) return group;
  return -1;
}

int castGroup(DType from) {
  for (int group = 0; group < kGroupCount; ++group)
    if (kKernelGroups[group].form == KernelForm::cast && kKernelGroups[group].from == from) return group;
  return -1;
}

} // namespace sprig::frontend::generic
