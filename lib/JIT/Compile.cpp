// sprig::compile: model to package to loaded program, in one process.
#include "sprig/compile.h"
#include "lib/JIT/ReadModel.h"
#include "lib/JIT/TimePackage.h"
#include "lib/Pipeline/Pipeline.h"
#include <mutex>

using namespace sprig;

namespace {
// Contexts are kept for the next compilation: making one and loading its dialects costs more than reading a small
// model. Types and attributes of earlier models stay in a context, so it is dropped after a number of them.
class ContextPool {
public:
  using Owned = std::unique_ptr<mlir::MLIRContext>;
  struct Lease {
    ContextPool &pool;
    Owned context;
    int uses;
    ~Lease() { pool.giveBack(std::move(context), uses + 1); }
  };

  static ContextPool &instance() {
    static ContextPool pool;
    return pool;
  }

  Lease take() {
    {
      std::lock_guard lock(mutex);
      if (!free.empty()) {
        auto [context, uses] = std::move(free.back());
        free.pop_back();
        return {*this, std::move(context), uses};
      }
    }
    auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    mlir::DialectRegistry registry;
    registerSprigDialects(registry);
    context->appendDialectRegistry(registry);
    return {*this, std::move(context), 0};
  }

private:
  static constexpr int kMostUses = 32;
  void giveBack(Owned context, int uses) {
    if (uses >= kMostUses) return;
    std::lock_guard lock(mutex);
    free.emplace_back(std::move(context), uses);
  }
  std::mutex mutex;
  std::vector<std::pair<Owned, int>> free;
};
} // namespace

std::vector<uint8_t> sprig::compileToPackage(const Model &model, const CompileOptions &given) {
  std::string content = readContent(model);
  if (isPackage(content)) return {content.begin(), content.end()};
  CompileOptions options = given;
  if (!options.compileTo.empty())
    throw Error(ErrorKind::usage, "compileTo stops at phase '" + options.compileTo + "', which makes no package");
  if (options.modelName.empty()) options.modelName = model.name().substr(model.name().rfind('/') + 1);
  auto lease = ContextPool::instance().take();
  auto module = readModule(*lease.context, model, content, options);
  return compileModule(*module, options, nullptr, packageTimer(options.threads)).package;
}

Program sprig::compile(const Model &model, const CompileOptions &options, const rt::ContextOptions &context) {
  return Program(rt::Package::fromMemory(compileToPackage(model, options), model.name()), context);
}
