// How attention is one kernel of a GPU: blocks of rows of one matrix of the batch, whose queries, scores and slices of
// keys and values lie in shared memory. For the emitter, and for the target, which is asked whether that pays. All of
// it follows from shapes alone.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowGroup.h"
#include "lib/Target/Kernels/AttentionForm.h"

namespace sprig::cuda {

struct AttentionPlan : AttentionForm {
  /// Fails for what no block can compute; `why` says it.
  static std::optional<AttentionPlan> analyze(AttentionForm form, std::string &why);

  /// Whether one kernel takes no longer than those of its parts; `why` says where it does.
  bool pays(std::string &why) const;

  static constexpr int64_t kThreads = 128; // of a block
  RowGroup rowGroup;                       // what lies between both products
  int64_t blockRows = 1;
  TileShape scoreTile, valueTile;
  int64_t queryStride = 0, scoreStride = 0; // elements of a row in shared memory
  int64_t queryBegin = 0, sliceBegin = 0;   // bytes before them there; scores come first
  int64_t sharedBytes = 0;

  int64_t blocksOfMatrix() const { return llvm::divideCeil(rows, blockRows); }
  int64_t blocks() const { return matrices() * blocksOfMatrix(); }
  /// Whether its shared memory leaves what other parts of a kernel may have.
  bool fitsAsPart() const;
  /// Threads that share a row: neighbours; all of the block where it has few and long ones.
  int64_t threadsOfRow() const;

private:
  explicit AttentionPlan(AttentionForm form) : AttentionForm(std::move(form)) {}
  void setBlockRows(int64_t count);
  double nanoseconds() const;
  double nanosecondsApart() const;
};

} // namespace sprig::cuda
