// sprig::compile: model to package to loaded program, in one process.
#include "sprig/compile.h"
#include "lib/JIT/ContextPool.h"
#include "lib/JIT/ReadModel.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Model/StatePorts.h"
#include "lib/Pipeline/Pipeline.h"

using namespace sprig;

std::vector<uint8_t> sprig::compileToPackage(const Model &model, const CompileOptions &given) {
  std::string content = readContent(model);
  ModelSource source = sourceOf(model, content);
  if (source.kind == ModelKind::package) return {content.begin(), content.end()};
  CompileOptions options = given;
  if (!options.compileTo.empty())
    badUse("compileTo stops at phase '" + options.compileTo + "', which makes no package");
  if (options.modelName.empty()) options.modelName = model.name().substr(model.name().rfind('/') + 1);
  auto lease = ContextPool::instance().take();
  auto module = source.kind == ModelKind::mlir ? readText(*lease.context, source, options)
                                               : importEntries(*lease.context, *parseONNX(source),
                                                               importOptions(entrySizes(options), options, false));
  markStates(*module, options.states, options.compileFrom);
  return compileModule(*module, options, nullptr, packageTimer(options.threads)).package;
}

Program sprig::compile(const Model &model, const CompileOptions &options, const rt::ContextOptions &context,
                       const rt::LoadOptions &load) {
  return Program(rt::Package::fromMemory(compileToPackage(model, options), model.name(), load), context);
}
