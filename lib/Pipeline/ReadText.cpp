#include "lib/Pipeline/ReadText.h"
#include "lib/Pipeline/CheckProgram.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/TextLimits.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace sprig;

// The phase after which the program is as it is given.
static const Phase &phaseBefore(StringRef compileFrom) {
  if (compileFrom.empty()) return phases().front();
  auto place = phaseByName(compileFrom);
  if (!place) badUse(llvm::toString(place.takeError()));
  return phases()[*place == 0 ? 0 : *place - 1];
}

OwningOpRef<ModuleOp> sprig::readText(MLIRContext &context, StringRef content, StringRef name, StringRef compileFrom) {
  const Phase &phase = phaseBefore(compileFrom);
  checkNesting(content, name);
  DiagnosticText diagnostics(&context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(content, name), llvm::SMLoc());
  auto module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module || failed(checkProgramAt(*module, phase)))
    diagnostics.raise(ErrorKind::badInput, name.str() + ": is no MLIR module");
  return module;
}
