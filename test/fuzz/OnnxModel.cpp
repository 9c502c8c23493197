// ONNX models: the importer refuses what it cannot import with an error, and what it imports is a sound module.
// An input is a ModelProto, binary or in ONNX's text form (which starts with '<').
#include "dialects/NN/NNDialect.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "test/fuzz/Fuzz.h"
#include "test/fuzz/ModelText.h"
#include <memory>

using namespace sprig;
using namespace sprig::fuzz;

namespace {

// What a context has seen stays in it.
constexpr int kInputsOfContext = 500;

mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int inputs = 0;
  if (inputs++ % kInputsOfContext == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  return *context;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string model(reinterpret_cast<const char *>(data), size);
  onnx::ModelProto proto;
  if (model.starts_with("<")) {
    if (!readModel(model, proto)) return -1;
    model = proto.SerializeAsString();
  }
  ImportOptions options;
  options.limits.nodes = 2000;
  options.limits.loopIterations = 64;
  options.limits.tensorBytes = 1 << 22;
  options.limits.foldedBytes = 1 << 16;
  accepts([&] {
    for (const InterfaceValue &input : inspectONNX(model, "fuzz.onnx").inputs)
      for (const InterfaceDim &dim : input.dims)
        if (!dim.size && !dim.symbol.empty()) options.entries[0].dims[dim.symbol] = 2;
    for (bool training : {false, true}) {
      options.training = training;
      auto module = importONNX(freshContext(), model, "fuzz.onnx", "", options);
      require(mlir::succeeded(mlir::verify(*module)), "an imported module is sound");
    }
  });
  return 0;
}
