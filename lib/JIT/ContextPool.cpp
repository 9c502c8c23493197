#include "lib/JIT/ContextPool.h"
#include "lib/Pipeline/Phases.h"

using namespace sprig;

ContextPool &ContextPool::instance() {
  static ContextPool pool;
  return pool;
}

ContextPool::Lease ContextPool::take() {
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

void ContextPool::giveBack(Owned context, int uses) {
  if (uses >= kMostUses) return;
  std::lock_guard lock(mutex);
  free.emplace_back(std::move(context), uses);
}
