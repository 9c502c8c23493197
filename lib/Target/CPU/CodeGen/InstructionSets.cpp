#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "runtime/machine/DotsOfHalves.h"
#include "runtime/machine/Machine.h"

using namespace llvm;
using namespace sprig;
using namespace sprig::cpu;

// What x86-64-v3 and -v4 consist of, by LLVM's names; v2's features are in both.
static const StringRef kLevel2[] = {"cx16", "sahf", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
static const StringRef kLevel3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"};
static const StringRef kLevel4[] = {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};

// Features beyond a level that kernels may use, and that the runtime can look up on another machine.
static const StringRef kExtra[] = {"avx512bf16", "avx512bitalg", "avx512fp16", "avx512ifma",
                                   "avx512vbmi", "avx512vbmi2",  "avx512vnni", "avx512vpopcntdq",
                                   "avxvnni",    "gfni",         "vpclmulqdq"};
// And what the system has to be asked for as well.
static const StringRef kTiles[] = {CpuArch::kTileFeature, CpuArch::kMatrixFeature};

static Expected<InstructionSet> hostInstructionSet() {
  StringMap<bool> host = sys::getHostCPUFeatures();
  auto hasAll = [&](ArrayRef<StringRef> names) { return all_of(names, [&](StringRef n) { return host.lookup(n); }); };
  if (!hasAll(kLevel2))
    return createStringError(inconvertibleErrorCode(),
                             "this machine's processor is below x86-64-v2, the oldest supported");
  bool v3 = hasAll(kLevel3), v4 = v3 && hasAll(kLevel4);
  InstructionSet set;
  auto add = [&](StringRef feature) {
    set.features.push_back(feature.str());
    set.arch.addFeature(feature);
  };
  set.level = v4 ? "x86-64-v4" : v3 ? "x86-64-v3" : "x86-64-v2";
  set.arch = *CpuArch::forLevel(set.level);
  for (StringRef extra : kExtra) {
    if (!host.lookup(extra) || !(v4 || (v3 && extra == set.arch.bytesFeature()))) continue;
    if (extra != set.arch.halvesFeature() || rt::core::dotsOfHalvesPay()) add(extra);
  }
  if (v4 && hasAll(kTiles) && rt::core::mayUseTiles())
    for (StringRef tiles : kTiles) add(tiles);
  return set;
}

Expected<InstructionSet> sprig::cpu::instructionSetByName(StringRef name) {
  if (name == "native") return hostInstructionSet();
  InstructionSet set;
  set.level = name.str();
  if (auto target = CpuArch::forLevel(name)) {
    set.arch = *target;
    if (target->dotBytes) set.features.push_back(target->bytesFeature().str());
    if (target->dotHalves) set.features.push_back(target->halvesFeature().str());
    if (target->matrixBytes) set.features.insert(set.features.end(), std::begin(kTiles), std::end(kTiles));
    set.level = target->cpu;
    return set;
  }
  return createStringError(inconvertibleErrorCode(), "unknown instruction set '%s'; known are native, %s",
                           name.str().c_str(), CpuArch::kLevels.data());
}
