#include "lib/JIT/ContextPool.h"
#include "lib/Pipeline/Phases.h"
#include <tuple>

using namespace sprig;

ContextPool &ContextPool::instance() {
  static auto &pool = *new ContextPool; // the compiler's static objects may be gone before it
  return pool;
}

void ContextPool::lend(Lease &lease) {
  {
    std::lock_guard lock(mutex);
    if (!free.empty()) {
      std::tie(lease.context, lease.uses) = std::move(free.back());
      free.pop_back();
      return;
    }
  }
  lease.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  mlir::DialectRegistry registry;
  registerSprigDialects(registry);
  lease.context->appendDialectRegistry(registry);
}

void ContextPool::giveBack(Owned context, int uses) {
  if (uses >= kMostUses) return;
  std::lock_guard lock(mutex);
  free.emplace_back(std::move(context), uses);
}
