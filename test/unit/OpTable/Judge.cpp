#include "test/unit/OpTable/Judge.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Interpreter/Numbers.h"
#include "test/unit/OpTable/Rows.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::optable {

using interp::Tensor;

namespace {

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

} // namespace

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
      prepared.inputs.push_back(makeInput(llvm::cast<mlir::RankedTensorType>(type), pattern, rows[i].seed + a));
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

void judge(const Prepared &prepared, const std::string &variant, const std::vector<Bytes> &outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const Tensor &want = prepared.wants[o];
    std::string text = differenceText(Tensor::ofBytes(want.type(), outputs[o]), want, prepared.row->bound);
    if (!text.empty()) ADD_FAILURE() << prepared.row->name << " (" << variant << "): result " << o << " " << text;
  }
}

void expectDispatches(mlir::ModuleOp fused, const std::vector<Row> &rows) {
  for (auto [i, row] : llvm::enumerate(rows)) {
    if (row.dispatch.empty()) continue;
    auto function = fused.lookupSymbol<mlir::func::FuncOp>(entryName(i));
    bool has = false;
    function.walk([&](kernel::DispatchOp dispatch) { has |= dispatch.getLabel() == row.dispatch; });
    EXPECT_TRUE(has) << row.name << ", row " << i << ": no dispatch is '" << row.dispatch << "'";
  }
}

} // namespace sprig::optable
