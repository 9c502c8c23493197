// The rows of the op table as ONNX models: each is exported, judged by ONNX, imported again and interpreted. Where the
// importer gives back the same operations with the same attributes the results are the same bits, else they agree
// within roundings.
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNYield.h"
#include "lib/Export/ONNX/GraphExport.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Interpreter.h"
#include "test/unit/Frontend/OnnxModels.h"
#include "test/unit/OpTable/Rows.h"
#include <algorithm>
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

using interp::Tensor;

/// What ONNX has no form for: the row's text, and what the error says.
struct Refusal {
  const char *row, *error;
  int below = 99; ///< opsets
};
constexpr Refusal kRefusals[] = {
    // Of gradients and of the compiler's own layouts.
    {"nn.pool_grad", "is a part of a gradient"},
    {"nn.conv_filter_grad", "is a part of a gradient"},
    {"channels_last", "has its channels last"},
    // Not in ONNX, or only in newer opsets.
    {"nn.bitcast", "has no form"},
    {"nn.lstm_integer", "multiplies bytes"},
    {"nn.cumulative prod", "runs a product"},
    {"nn.shl", "ONNX shifts unsigned integers"},
    {"nn.shr", "ONNX shifts unsigned integers"},
    {"nn.and", "from opset 18 on", 18},
    {"nn.or", "from opset 18 on", 18},
    {"nn.xor", "from opset 18 on", 18},
    {"nn.not", "from opset 18 on", 18},
    {"nn.scatter_elements max", "from opset 18 on", 18},
    {"nn.scatter_elements min", "from opset 18 on", 18},
    {"nn.scatter_nd max", "from opset 18 on", 18},
    {"nn.scatter_nd min", "from opset 18 on", 18},
    {"nn.pad wrap", "from opset 19 on", 19},
    // Element types that ONNX's operators do not have.
    {"nn.conv", "has no i"},
    {"nn.conv", "has no u"},
    {"nn.pool", "has no i"},
    {"nn.pool", "has no u"},
    {"nn.arg_max_pool", "has no i"},
    {"nn.arg_max_pool", "has no u"},
    {"nn.pow", "has no form"},
    {"a wide product", "has no input to scan over"},
};

bool mayBeRefused(const std::string &row, int opset, const std::string &error) {
  for (const Refusal &refusal : kRefusals)
    if (opset < refusal.below && row.find(refusal.row) != std::string::npos &&
        error.find(refusal.error) != std::string::npos)
      return true;
  return false;
}

frontend::Graph graphOf(mlir::func::FuncOp function) {
  mlir::Block &body = function.getBody().front();
  frontend::bridge::GraphReader reader;
  reader.addInputs(function.getArguments());
  reader.addOperations(body);
  return reader.finish(body.getTerminator()->getOperands());
}

/// Names of the operations that compute, in order.
std::string operationsOf(mlir::func::FuncOp function) {
  std::string text;
  function.walk([&](mlir::Operation *op) {
    if (op->getDialect() && op->getDialect()->getNamespace() == "nn" && !llvm::isa<ir::ConstantOp, ir::YieldOp>(op))
      text += op->getName().getStringRef().str() + " ";
  });
  return text;
}

/// ONNX has real attributes in f32.
bool attributesFit(mlir::func::FuncOp function) {
  bool fit = true;
  function.walk([&](mlir::Operation *op) {
    for (mlir::NamedAttribute attr : op->getAttrs())
      if (auto real = llvm::dyn_cast<mlir::FloatAttr>(attr.getValue()))
        fit &= double(float(real.getValueAsDouble())) == real.getValueAsDouble();
  });
  return fit;
}

interp::Tolerance roundingsOf(mlir::Type type) {
  if (type.isF16()) return {4e-3, 4e-3};
  if (type.isBF16()) return {3e-2, 3e-2};
  return {1e-6, 1e-6};
}

void checkRow(const Row &row, mlir::func::FuncOp function, const std::vector<Tensor> &inputs, int opset) {
  SCOPED_TRACE(row.name + ", opset " + std::to_string(opset));
  frontend::Graph graph = graphOf(function);
  onnxexport::GraphExport what;
  what.graph = &graph;
  what.name = "row";
  what.opset = opset;
  what.decompose = frontend::decompose;
  for (uint32_t i = 0; i < graph.inputCount; ++i) what.inputs.push_back("in" + std::to_string(i));
  for (size_t i = 0; i < graph.outputs.size(); ++i) what.outputs.push_back("out" + std::to_string(i));
  std::string bytes;
  try {
    bytes = onnxexport::exportGraph(what);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_TRUE(mayBeRefused(row.name, opset, error.what())) << error.what();
    return;
  }
  onnx::ModelProto model = onnxexport::test::parsed(bytes);
  ASSERT_EQ(onnxexport::test::complaintsOf(model), "");
  mlir::OwningOpRef<mlir::ModuleOp> back;
  try {
    back = importONNX(sharedContext(), bytes, "row.onnx", "");
  } catch (const Error &error) {
    FAIL() << error.what();
  }
  auto again = back->lookupSymbol<mlir::func::FuncOp>("main");
  interp::RunOptions options;
  options.precision = interp::Precision::Rounded;
  auto want = interp::run(function, inputs, options), got = interp::run(again, inputs, options);
  ASSERT_TRUE(mlir::succeeded(want) && mlir::succeeded(got));
  ASSERT_EQ(want->size(), got->size());
  bool same = operationsOf(function) == operationsOf(again) && attributesFit(function);
  for (size_t i = 0; i < want->size(); ++i) {
    const Tensor &a = (*want)[i], &b = (*got)[i];
    ASSERT_EQ(a.type(), b.type());
    auto difference = interp::compare(b, a, same ? interp::Tolerance{0, 0} : roundingsOf(a.elementType()));
    EXPECT_FALSE(difference) << "result " << i << ", element " << difference.index << ": got " << difference.got
                             << ", want " << difference.want << "\nimported as " << operationsOf(again);
  }
}

Tensor withinSteps(const Tensor &lengths, int64_t steps) {
  std::vector<int64_t> values(lengths.count());
  lengths.load(0, lengths.count(), values.data());
  for (int64_t &value : values) value = std::clamp<int64_t>(value, 0, steps);
  return Tensor::ofIntegers(lengths.type(), std::move(values));
}

} // namespace

// Its rows are programs alone.
void check(std::vector<Row> rows, Given, Depth) {
  auto module = parseRows(rows);
  ASSERT_TRUE(module);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto function = module->lookupSymbol<mlir::func::FuncOp>(entryName(i));
    std::vector<Tensor> inputs;
    for (auto [a, type] : llvm::enumerate(function.getArgumentTypes())) {
      Pattern pattern = a < rows[i].patterns.size() ? rows[i].patterns[a] : Pattern();
      inputs.push_back(makeInput(llvm::cast<mlir::RankedTensorType>(type), pattern, 100 * i + a));
    }
    // nn stops at the last step; ONNX has no lengths beyond it, and what is imported refuses them.
    if (rows[i].name.find(" lengths") != std::string::npos)
      inputs.back() = withinSteps(inputs.back(), inputs.front().shape()[0]);
    for (int opset : {17, 21}) checkRow(rows[i], function, inputs, opset);
  }
}

} // namespace sprig::optable
