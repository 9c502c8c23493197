#include "lib/Pipeline/Emit.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Target/Registry.h"

using namespace mlir;
using namespace sprig;

std::string sprig::emitText(ModuleOp module, const CompileOptions &options, const std::string &form,
                            const RemarkSink &remarks) {
  const Target &target = targetOf(options);
  module.getContext()->loadAllAvailableDialects(); // kernels are lowered through many of them
  runPhases(module, options, "plan", nullptr, remarks);
  DiagnosticText diagnostics(module.getContext(), remarks);
  auto text = target.emit(module, options, form);
  if (failed(text)) diagnostics.raise(ErrorKind::unsupported, "code generation failed and did not say why");
  return *text;
}
