// sprig-opt: every dialect and pass of Sprig in MLIR's optimizer driver, for tests and for people who read the IR.
#include "lib/Pipeline/Phases.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sprig::registerSprigDialects(registry);
  mlir::registerTransformsPasses();
  sprig::registerSprigPassesAndPhases();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Sprig optimizer driver\n", registry));
}
