// The entry of libsprig_compiler.so (CompilerLibrary.h).
#include "tools/sprig/compile/CompilerLibrary.h"
#include "llvm/Support/ErrorHandling.h"

using namespace sprig::cli;

extern "C" __attribute__((visibility("default"))) const CompilerTable *sprig_cli_compiler(const CompilerHost &host) {
  setQuiet(host.quiet);
  setVerbose(host.verbose);
  llvm::install_fatal_error_handler(host.fatalError);
  llvm::install_bad_alloc_error_handler(host.outOfMemory);
  static const CompilerTable table = {inputsOf,
                                      outputsOf,
                                      drawsRandomNumbers,
                                      compile,
                                      compileToText,
                                      summarizeModel,
                                      outlineModel,
                                      graphToDot,
                                      interpret,
                                      bisectModel,
                                      memoryNeeds,
                                      largestBatch,
                                      listOperators,
                                      compileTraining,
                                      trainingToText,
                                      shardModel,
                                      quantizeModel,
                                      findNonFinite,
                                      exportTrained,
                                      benchAsync,
                                      benchHybridize,
                                      benchRecording,
                                      sprig::data::parseNpz,
                                      sprig::data::formatNpz,
                                      sprig::data::parseTensorProto,
                                      sprig::data::parseStored,
                                      sprig::data::formatTensorProto};
  return &table;
}
