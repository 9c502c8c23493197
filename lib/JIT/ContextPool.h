// MLIR contexts that are kept for the next compilation: making one and loading its dialects costs more than reading a
// small model. For the functions of this library.
#pragma once
#include "lib/JIT/ProcessEnd.h"
#include "mlir/IR/MLIRContext.h"
#include <memory>
#include <mutex>
#include <vector>

namespace sprig {

/// Types and attributes of earlier models stay in a context, so it is dropped after a number of them.
class ContextPool {
public:
  using Owned = std::unique_ptr<mlir::MLIRContext>;
  struct Lease {
    CompilerUse use;
    ContextPool &pool;
    Owned context;
    int uses = 0;
    /// It goes with this lease: what a context has seen stays in it, and this was much (weights).
    void retire() { uses = kMostUses; }
    explicit Lease(ContextPool &pool) : pool(pool) { pool.lend(*this); }
    ~Lease() { pool.giveBack(std::move(context), uses + 1); }
  };

  static ContextPool &instance();
  /// An Error (runtime) once the process has begun to end.
  Lease take() { return Lease(*this); }

private:
  static constexpr int kMostUses = 32;
  void lend(Lease &lease);
  void giveBack(Owned context, int uses);
  std::mutex mutex;
  std::vector<std::pair<Owned, int>> free;
};

} // namespace sprig
