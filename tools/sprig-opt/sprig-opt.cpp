// sprig-opt: every dialect and pass of Sprig in MLIR's optimizer driver, for tests and for people who read the IR.
#include "dialects/NN/NN.h"
#include "lib/Conversion/NNToCPU/KernelEmitter.h"
#include "lib/Conversion/NNToCPU/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<sprig::nn::NNDialect, mlir::func::FuncDialect>();
  sprig::registerKernelDialects(registry);
  mlir::registerTransformsPasses();
  sprig::registerTransforms();
  sprig::registerConversions();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Sprig optimizer driver\n", registry));
}
