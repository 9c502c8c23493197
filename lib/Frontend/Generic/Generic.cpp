// From an operation's name to the function that runs it.
#include "lib/Frontend/Generic/Call.h"
#include "lib/Frontend/Generic/Kernels.h"
#include "lib/Frontend/Generic/VectorKernels.h"
#include "runtime/base/FloatEnv.h"
#include "runtime/base/KernelFailure.h"
#include "sprig/error.h"
#include <string>

namespace sprig::frontend {

namespace generic {

namespace {
struct Operation {
  const OpName *name = nullptr;
  Run run = nullptr;
  int detail = 0;
};

struct Named {
  const char *op; // without "nn."
  Run run;
};

constexpr Named kOperations[] = {
    {"compare", runCompare},
    {"is_inf", runIsInf},
    {"cast", runCast},
    {"pow", runPower},
    {"div", runQuotient},
    {"rem", runQuotient},
    {"mod", runQuotient},
    {"abs", runMagnitude},
    {"relu", runMagnitude},
    {"bitcast", runBitcast},
    {"class_index", runClassIndex},
    {"in_range", runInRange},
    {"philox", runPhilox},
    {"reshape", runCopy},
    {"stop_gradient", runCopy},
    {"after", runCopy},
    {"constant", runConstant},
    {"iota", runIota},
    {"broadcast", runBroadcast},
    {"transpose", runTranspose},
    {"slice", runSlice},
    {"concat", runConcat},
    {"pad", runPad},
    {"gather", runGather},
    {"gather_elements", runGatherElements},
    {"gather_nd", runGatherNd},
    {"scatter_elements", runScatterElements},
    {"scatter_nd", runScatterNd},
    {"reduce", runReduce},
    {"cumulative", runCumulative},
    {"arg_reduce", runArgReduce},
    {"top_k", runTopK},
    {"matmul", runMatmul},
};

/// Operations by the address of their name: open addressing, never full.
class Table {
public:
  Table() {
    for (const Named &named : kOperations) add(named.op, named.run);
    for (const KernelGroup &group : kKernelGroups) add(group.op, runKernel); // what has no function of its own
  }
  const Operation *find(const OpName *name) const {
    for (size_t place = placeOf(name); rows[place].name; place = (place + 1) % kRows)
      if (rows[place].name == name) return &rows[place];
    return nullptr;
  }

private:
  static constexpr size_t kRows = 512;
  static size_t placeOf(const OpName *name) { return reinterpret_cast<uintptr_t>(name) / 16 * 0x9E3779B1u % kRows; }
  void add(const char *op, Run run) {
    const OpName &name = opName(std::string("nn.") + op);
    if (find(&name)) return;
    size_t place = placeOf(&name);
    while (rows[place].name) place = (place + 1) % kRows;
    rows[place] = {&name, run, groupOf(op)};
  }
  Operation rows[kRows];
};
} // namespace

void fail(const Call &call, int32_t code, int64_t value, int64_t bound) {
  runtimeError("'" + call.node.op->text + "': " + rt::core::describeKernelFailure(code, value, bound));
}

const VectorKernels &vectorKernels() {
  static const VectorKernels &chosen = isaLevel() == 4   ? kVectorKernelsV4
                                       : isaLevel() == 3 ? kVectorKernelsV3
                                                         : kVectorKernelsV2;
  return chosen;
}

} // namespace generic

bool runGeneric(const GraphNode &node, std::span<const ArrayRef> operands, std::span<const ArrayRef> results) {
  static const generic::Table table;
  const generic::Operation *operation = table.find(node.op);
  if (!operation || results.empty()) return false;
  rt::core::FloatEnv floatEnv;
  return operation->run({node, operands, results}, operation->detail);
}

} // namespace sprig::frontend
