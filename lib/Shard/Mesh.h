// A mesh and shardings on it, by the numbers of the mesh's axes. For the passes that propagate and partition.
#pragma once
#include "dialects/Dist/Dist.h"
#include "runtime/collective/Collective.h"
#include "runtime/collective/Piece.h"
#include <vector>

namespace sprig::shard {

/// Axes of a mesh, by number; numbers from Mesh::numAxes() on are cuts along them that are not even ones.
using Axes = llvm::SmallVector<unsigned, 2>;
inline bool isPrefix(llvm::ArrayRef<unsigned> a, llvm::ArrayRef<unsigned> of) {
  return a.size() <= of.size() && of.take_front(a.size()) == a;
}

/// How a dimension is dealt along an axis (dist::CutAttr).
struct Cut {
  unsigned axis = 0;
  std::vector<int64_t> weights, blocks; ///< none: even pieces; one block
  int64_t unit = 1;                     ///< positions that stay together
  bool isOfNeighbours() const { return blocks.size() < 2 && unit == 1; }
  /// Of a dimension of so many positions.
  std::vector<int64_t> blocksOf(int64_t size) const { return blocks.empty() ? std::vector{size / unit} : blocks; }
  bool operator==(const Cut &) const = default;
};

/// Of a value: the axes of each dimension, major to minor, or of its flat vector, and those that it is partial along,
/// in ascending order.
struct Sharding {
  llvm::SmallVector<Axes> dims;
  Axes partial;
  ir::dist::Reduction reduction = ir::dist::Reduction::sum;
  Axes flat = {};

  static Sharding replicated(mlir::Type type);
  bool isSplit() const {
    return !flat.empty() || llvm::any_of(dims, [](const Axes &axes) { return !axes.empty(); });
  }
  bool operator==(const Sharding &) const = default;
};

class Mesh {
public:
  explicit Mesh(ir::dist::MeshOp op);
  Mesh(mlir::FlatSymbolRefAttr symbol, mlir::ArrayAttr axes, llvm::ArrayRef<int64_t> sizes);

  mlir::FlatSymbolRefAttr symbol() const { return name; }
  unsigned numAxes() const { return unsigned(sizes.size()); }
  std::optional<unsigned> axisNamed(llvm::StringRef axis) const;
  /// The axis itself, of a cut the one that it is along.
  unsigned axisOf(unsigned axis) const { return axis < numAxes() ? axis : cuts[axis - numAxes()].axis; }
  Cut cutOf(unsigned axis) const { return axis < numAxes() ? Cut{axis, {}, {}} : cuts[axis - numAxes()]; }
  /// The number of a cut, whose only block is none; the axis where it is an even one.
  unsigned numberOf(Cut cut) const;
  int64_t sizeOf(unsigned axis) const { return sizes[axisOf(axis)]; }
  int64_t ranksOf(llvm::ArrayRef<unsigned> axes) const;
  int64_t numRanks() const;
  /// Where a rank is along an axis; the one that differs from it in that alone.
  int64_t placeOf(int64_t rank, unsigned axis) const;
  int64_t rankAt(int64_t rank, unsigned axis, int64_t place) const {
    return rank + (place - placeOf(rank, axis)) * steps[axisOf(axis)];
  }
  /// Whether any of these is the axis or a cut along it.
  bool holds(llvm::ArrayRef<unsigned> axes, unsigned axis) const {
    return llvm::any_of(axes, [&](unsigned each) { return axisOf(each) == axisOf(axis); });
  }
  bool splits(const Sharding &sharding, unsigned axis) const {
    return llvm::any_of(sharding.dims, [&](const Axes &axes) { return holds(axes, axis); });
  }

  Sharding read(ir::dist::ShardingAttr attribute, mlir::Type type) const;
  ir::dist::ShardingAttr write(const Sharding &sharding) const;
  mlir::ArrayAttr namesOf(llvm::ArrayRef<unsigned> axes) const;

  /// The positions of a dimension that a rank has, in order: each axis cuts what the one before has left. As many
  /// ranges on all ranks, empty ones among them.
  llvm::SmallVector<rt::collective::Range, 1> rangesOf(int64_t size, llvm::ArrayRef<unsigned> axes, int64_t rank) const;
  llvm::SmallVector<int64_t> positionsOf(int64_t size, llvm::ArrayRef<unsigned> axes, int64_t rank) const;
  /// How many these are.
  int64_t countOf(int64_t size, llvm::ArrayRef<unsigned> axes, int64_t rank) const;
  /// Whether all ranks have as many.
  bool isAlike(int64_t size, llvm::ArrayRef<unsigned> axes) const;
  /// Whether each axis gives pieces as collectives cut them.
  bool isEven(llvm::ArrayRef<unsigned> axes) const {
    return llvm::all_of(axes, [&](unsigned axis) { return axis < numAxes(); });
  }
  /// Elements of every rank's piece of a flat vector.
  int64_t flatSizeOf(int64_t elements, llvm::ArrayRef<unsigned> axes) const {
    return rt::collective::flatPieceOf(elements, ranksOf(axes));
  }
  /// Those of a rank, which may lie behind the last one of the value.
  rt::collective::Range flatPieceOf(int64_t elements, llvm::ArrayRef<unsigned> axes, int64_t rank) const;
  mlir::Type localType(mlir::Type type, const Sharding &sharding, int64_t rank) const;

private:
  mlir::FlatSymbolRefAttr name;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<int64_t> sizes, steps;
  mutable std::vector<Cut> cuts; ///< those that were seen
};

/// Of a tensor, as it is sent; of anything else none.
int64_t bytesOf(mlir::Type type);
inline int64_t bytesOf(mlir::Value value) { return bytesOf(value.getType()); }
/// Of what a collective is of: a rank's part may be of another size than another's, the whole is the same.
int64_t wholeBytesOf(mlir::Operation *collective);

/// The one mesh that the shardings of a module are about; null where there is none, an error where there are several.
mlir::FailureOr<ir::dist::MeshOp> findMesh(mlir::ModuleOp module);

} // namespace sprig::shard
