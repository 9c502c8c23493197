// A mesh and shardings on it, by the numbers of the mesh's axes. For the passes that propagate and partition.
#pragma once
#include "dialects/Dist/Dist.h"
#include "runtime/collective/Collective.h"

namespace sprig::shard {

/// Axes of a mesh, by number.
using Axes = llvm::SmallVector<unsigned, 2>;
inline bool isPrefix(llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> of) {
  return a.size() <= of.size() && of.take_front(a.size()) == a;
}

/// Of a value: the axes of each dimension, major to minor, and those that it is partial along, in ascending order.
struct Sharding {
  llvm::SmallVector<Axes> dims;
  Axes partial;
  ir::dist::Reduction reduction = ir::dist::Reduction::sum;

  static Sharding replicated(mlir::Type type);
  bool splits(unsigned axis) const {
    return llvm::any_of(dims, [&](const Axes &axes) { return llvm::is_contained(axes, axis); });
  }
  bool isSplit() const {
    return llvm::any_of(dims, [](const Axes &axes) { return !axes.empty(); });
  }
  bool operator==(const Sharding &) const = default;
};

class Mesh {
public:
  explicit Mesh(ir::dist::MeshOp op);

  mlir::FlatSymbolRefAttr symbol() const { return name; }
  unsigned numAxes() const { return unsigned(sizes.size()); }
  int64_t sizeOf(unsigned axis) const { return sizes[axis]; }
  int64_t ranksOf(llvm::ArrayRef<unsigned> axes) const;
  int64_t numRanks() const;
  /// Where a rank is along an axis.
  int64_t placeOf(int64_t rank, unsigned axis) const;

  Sharding read(ir::dist::ShardingAttr attribute) const;
  ir::dist::ShardingAttr write(const Sharding &sharding) const;
  mlir::ArrayAttr namesOf(llvm::ArrayRef<unsigned> axes) const;

  /// The positions of a dimension that a rank has: each axis cuts what the one before has left.
  rt::collective::Range pieceOf(int64_t size, llvm::ArrayRef<unsigned> axes, int64_t rank) const;
  mlir::Type localType(mlir::Type type, const Sharding &sharding, int64_t rank) const;

private:
  mlir::FlatSymbolRefAttr name;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<int64_t> sizes, steps;
};

/// Of a tensor, as it is sent.
int64_t bytesOf(mlir::Value tensor);

/// The one mesh that the shardings of a module are about; null where there is none, an error where there are several.
mlir::FailureOr<ir::dist::MeshOp> findMesh(mlir::ModuleOp module);

} // namespace sprig::shard
