#include "test/unit/OpTable/Harness.h"
#include "test/unit/OpTable/Rows.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Numbers.h"
#include "lib/Pipeline/Pipeline.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "sprig/error.h"
#include "sprig/rt/sprig_rt.hpp"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

using interp::Tensor;
using Bytes = std::vector<char>;

struct Variant {
  bool fuse;
  std::string cpu;
  std::string text(int threads) const {
    return (fuse ? "fused, " : "not fused, ") + cpu + ", " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }
};

std::vector<std::string> instructionSets() {
  std::vector<std::string> sets = {"x86-64-v3"};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) sets.push_back("x86-64-v4");
  return sets;
}

std::vector<uint8_t> compileRows(const std::vector<Row> &rows, bool fuse, int threads, Given given) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parseRows(rows);
  CompileOptions options;
  options.fuse = fuse;
  options.threads = threads;
  options.architectures = instructionSets();
  if (given == Given::layouts) {
    mlir::PassManager passes(module->getContext());
    passes.addNestedPass<mlir::func::FuncOp>(createFuse({fuse}));
    if (mlir::failed(passes.run(*module))) throw Error(ErrorKind::internal, "the rows cannot be fused");
    options.compileFrom = "schedule";
  }
  return compileModule(*module, options).package;
}

rt::DType dtypeOf(mlir::Type type) {
  static const rt::DType floats[] = {SPRIG_RT_F16, SPRIG_RT_F32, SPRIG_RT_F64};
  if (type.isBF16()) return SPRIG_RT_BF16;
  unsigned width = type.getIntOrFloatBitWidth();
  if (llvm::isa<mlir::FloatType>(type)) return floats[std::countr_zero(width / 16)];
  if (width == 1) return SPRIG_RT_I1;
  static const rt::DType integers[] = {SPRIG_RT_I8, SPRIG_RT_I16, SPRIG_RT_I32, SPRIG_RT_I64};
  static const rt::DType naturals[] = {SPRIG_RT_U8, SPRIG_RT_U16, SPRIG_RT_U32, SPRIG_RT_U64};
  return (type.isUnsignedInteger() ? naturals : integers)[std::countr_zero(width / 8)];
}

// A row with its inputs and the interpreter's results.
struct Prepared {
  const Row *row;
  std::vector<Tensor> inputs;
  llvm::SmallVector<Tensor> wants;
};

std::vector<Bytes> runEntry(rt::Context &context, size_t entry, const Prepared &prepared) {
  std::vector<Bytes> inputs, outputs;
  std::vector<rt::TensorView> inputViews, outputViews;
  auto view = [](Bytes &bytes, mlir::RankedTensorType type) {
    llvm::ArrayRef<int64_t> shape = type.getShape();
    return rt::TensorView(bytes.data(), dtypeOf(type.getElementType()),
                          std::vector<int64_t>(shape.begin(), shape.end()));
  };
  inputs.reserve(prepared.inputs.size());
  outputs.reserve(prepared.wants.size());
  for (const Tensor &input : prepared.inputs)
    inputViews.push_back(view(inputs.emplace_back(input.bytes()), input.type()));
  for (const Tensor &want : prepared.wants) {
    Bytes bytes(want.count() * storageBytes(want.elementType()), char(0xa5));
    outputViews.push_back(view(outputs.emplace_back(std::move(bytes)), want.type()));
  }
  context.invoke(inputViews, outputViews, context.package().findEntry(entryName(entry)));
  return outputs;
}

// The distance of neighbouring values of a float type at `value`.
double ulpAt(double value, mlir::Type type) {
  int mantissa = type.isF64() ? 52 : type.isF32() ? 23 : type.isF16() ? 10 : 7;
  int least = type.isF64() ? -1022 : type.isF16() ? -14 : -126;
  int exponent = value == 0 || !std::isfinite(value) ? least : std::max(std::ilogb(value), least);
  return std::ldexp(1, exponent - mantissa);
}

std::string positionText(int64_t index, llvm::ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [d, at] : llvm::enumerate(interp::coordinates(index, shape))) text += (d ? ", " : "") + std::to_string(at);
  return text + "]";
}

// Why `got` is not the wanted tensor; empty when it is.
std::string differenceText(const Tensor &got, const Tensor &want, const Bound &bound) {
  auto report = [&](int64_t i, const auto &g, const auto &w, const std::string &more) {
    std::ostringstream text;
    text.precision(17);
    text << "at " << positionText(i, want.shape()) << " of " << ir::describe(want.type()) << ": got " << g << ", want "
         << w << more;
    return text.str();
  };
  if (!want.isFloat()) {
    interp::Elements<int64_t> a = got.integers(), b = want.integers();
    for (int64_t i = 0; i < want.count(); ++i)
      if (a[i] != b[i]) return report(i, a[i], b[i], "");
    return "";
  }
  interp::Elements<double> a = got.floats(), exact = want.floats();
  for (int64_t i = 0; i < want.count(); ++i) {
    double wanted = interp::roundTo(exact[i], want.elementType());
    if (a[i] == wanted || (std::isnan(a[i]) && std::isnan(wanted))) continue;
    double error = std::fabs(a[i] - exact[i]), ulp = ulpAt(wanted, want.elementType());
    // Half a unit is the rounding that any result has. Near the largest value either side may overflow.
    if (error <= (bound.ulps + 0.5) * ulp + bound.absolute && bound.ulps + bound.absolute > 0) continue;
    return report(i, a[i], wanted, " (" + std::to_string(error / ulp) + " ulp from " + std::to_string(exact[i]) + ")");
  }
  return "";
}

std::vector<Prepared> prepare(mlir::ModuleOp module, const std::vector<Row> &rows) {
  std::vector<Prepared> all;
  for (size_t i = 0; i < rows.size(); ++i) {
    auto function = module.lookupSymbol<mlir::func::FuncOp>(entryName(i));
    Prepared prepared{&rows[i], {}, {}};
    for (auto [a, type] : llvm::enumerate(function.getArgumentTypes())) {
      Pattern pattern = a < rows[i].patterns.size() ? rows[i].patterns[a] : Pattern();
      prepared.inputs.push_back(makeInput(llvm::cast<mlir::RankedTensorType>(type), pattern, 100 * i + a));
    }
    auto wants = interp::run(function, prepared.inputs);
    if (mlir::failed(wants)) {
      ADD_FAILURE() << rows[i].name << ": the interpreter fails";
      continue;
    }
    prepared.wants = *wants;
    all.push_back(std::move(prepared));
  }
  return all;
}

// The rows that parse and compile alone; names the others.
std::vector<Row> keepCompilable(std::vector<Row> rows, Given given) {
  std::vector<Row> kept;
  for (Row &row : rows) {
    if (!parseRows({row})) {
      ADD_FAILURE() << row.name << ": is not valid";
      continue;
    }
    try {
      (void)compileRows({row}, true, 1, given);
      kept.push_back(std::move(row));
    } catch (const std::exception &error) {
      ADD_FAILURE() << row.name << ": does not compile: " << error.what();
    }
  }
  return kept;
}

// Whether all rows together are valid and compile, into `package` then.
bool compileAll(const std::vector<Row> &rows, Given given, std::vector<uint8_t> &package) {
  if (!parseRows(rows)) return false;
  try {
    package = compileRows(rows, true, 2, given);
    return true;
  } catch (const Error &) {
    return false;
  }
}

class Comparison {
public:
  Comparison(const std::vector<Prepared> &rows) : rows(rows), first(rows.size()) {}

  // Every row with one thread and with two.
  void run(const std::vector<uint8_t> &bytes, const Variant &variant) {
    try {
      rt::LoadOptions load;
      load.cpu = variant.cpu;
      rt::Package package = rt::Package::fromMemory(std::span<const uint8_t>(bytes), "op table", load);
      for (int threads : {1, 2}) {
        rt::Pool pool(threads);
        rt::ContextOptions options;
        options.pool = &pool;
        rt::Context context(package, options);
        for (size_t i = 0; i < rows.size(); ++i) runRow(context, variant.text(threads), i);
      }
    } catch (const std::exception &error) {
      ADD_FAILURE() << "op table (" << variant.text(1) << "): " << error.what();
    }
  }

private:
  void runRow(rt::Context &context, const std::string &variant, size_t i) {
    const Prepared &prepared = rows[i];
    std::vector<Bytes> outputs;
    try {
      outputs = runEntry(context, i, prepared);
    } catch (const std::exception &error) {
      ADD_FAILURE() << prepared.row->name << " (" << variant << "): " << error.what();
      return;
    }
    if (first[i].empty()) return judge(prepared, variant, first[i] = std::move(outputs));
    for (size_t o = 0; o < outputs.size(); ++o)
      if (outputs[o] != first[i][o])
        ADD_FAILURE() << prepared.row->name << " (" << variant << "): other bits than at first, result " << o << " "
                      << differenceText(Tensor::ofBytes(prepared.wants[o].type(), outputs[o]),
                                        Tensor::ofBytes(prepared.wants[o].type(), first[i][o]), {});
  }

  static void judge(const Prepared &prepared, const std::string &variant, const std::vector<Bytes> &outputs) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Tensor &want = prepared.wants[o];
      std::string text = differenceText(Tensor::ofBytes(want.type(), outputs[o]), want, prepared.row->bound);
      if (!text.empty()) ADD_FAILURE() << prepared.row->name << " (" << variant << "): result " << o << " " << text;
    }
  }

  const std::vector<Prepared> &rows;
  std::vector<std::vector<Bytes>> first;
};

} // namespace

void check(std::vector<Row> rows, Given given) {
  std::vector<uint8_t> package;
  if (!compileAll(rows, given, package)) {
    rows = keepCompilable(std::move(rows), given);
    ASSERT_TRUE(compileAll(rows, given, package)) << "rows that compile alone do not compile together";
  }
  auto module = parseRows(rows);
  std::vector<Prepared> prepared = prepare(*module, rows);
  ASSERT_EQ(prepared.size(), rows.size());
  Comparison comparison(prepared);
  for (bool fuse : {true, false}) {
    if (!fuse) package = compileRows(rows, false, 1, given);
    for (const std::string &cpu : instructionSets()) comparison.run(package, {fuse, cpu});
  }
}

} // namespace sprig::optable
