// sprig-opt: every dialect and pass of Sprig in MLIR's optimizer driver, for tests and for people who read the IR.
#include "lib/Pipeline/Phases.h"
#include "lib/Pipeline/TextLimits.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "sprig/error.h"
#include "tools/StandardDescriptors.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include <csignal>
#include <cstdlib>
#include <unistd.h>

// MlirOptMain with a look at the text before its parser recurses into it.
static mlir::LogicalResult run(int argc, char **argv, mlir::DialectRegistry &registry) {
  auto [inputFile, outputFile] = mlir::registerAndParseCLIOptions(argc, argv, "Sprig optimizer driver\n", registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  // These read no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::MlirOptMain(argc, argv, inputFile, outputFile, registry);
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitOnPipe=*/false);
  std::string message;
  auto input = mlir::openInputFile(inputFile, &message);
  auto output = input ? mlir::openOutputFile(outputFile, &message) : nullptr;
  if (!output) sprig::badInput(message);
  sprig::checkNesting(input->getBuffer(), inputFile);
  if (mlir::failed(mlir::MlirOptMain(output->os(), std::move(input), registry, config))) return mlir::failure();
  output->keep();
  return mlir::success();
}

int main(int argc, char **argv) {
  if (!sprig::openStandardDescriptors()) return EXIT_FAILURE;
  // A reader that has seen enough (`| head`) is no failure.
  std::signal(SIGPIPE, [](int) { ::_exit(EXIT_SUCCESS); });
  mlir::DialectRegistry registry;
  sprig::registerSprigDialects(registry);
  mlir::registerTransformsPasses();
  sprig::registerSprigPassesAndPhases();
  try {
    return mlir::asMainReturnCode(run(argc, argv, registry));
  } catch (const sprig::Error &error) {
    llvm::errs() << "error: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
