// Moves a value of all ranks from one sharding to another: the collectives and slices of one rank. For the partition.
#pragma once
#include "lib/Shard/Mesh.h"

namespace sprig::shard {

/// Whether a function can give a value in a sharding: a partial one only where it is partial already.
inline bool canReshard(const Sharding &from, const Sharding &to) {
  return to.partial.empty() || (to.reduction == from.reduction && llvm::all_of(to.partial, [&](unsigned axis) {
                                  return llvm::is_contained(from.partial, axis);
                                }));
}

/// Whether all elements of a value are known to be zeros.
bool isZero(mlir::Value value);

/// What a rank has of a constant that is split by its dimensions.
mlir::ElementsAttr partOf(const Mesh &mesh, mlir::ElementsAttr value, const Sharding &sharding, int64_t rank);

class Resharder {
public:
  /// Which operations it makes follows from types and shardings alone, so that all ranks meet in the same collectives.
  /// With `together` a rank takes its parts by dist.part, all of which are of one size; those of constants are the
  /// same.
  Resharder(mlir::OpBuilder &b, const Mesh &mesh, int64_t rank, bool together = false)
      : b(b), mesh(mesh), rank(rank), together(together) {}

  /// `value` is this rank's part of a tensor of type `whole`.
  mlir::Value reshard(mlir::Location loc, mlir::Value value, mlir::RankedTensorType whole, const Sharding &from,
                      const Sharding &to);

private:
  struct Move; // the value at hand, and what has become of its sharding
  void reducePartial(Move &move, const Sharding &to);
  void addOnce(Move &move, const Sharding &from, mlir::Value given);
  bool splitFree(Move &move, const Sharding &to);
  bool shorten(Move &move, const Sharding &to);
  void gather(Move &move, unsigned dim);
  mlir::Value gatherCut(mlir::Location loc, mlir::Value front, int64_t rows, unsigned axis);
  mlir::Value padded(mlir::Location loc, mlir::Value value, int64_t rows);
  mlir::Value rowsOf(mlir::Location loc, mlir::Value value, rt::collective::Range rows, unsigned dim = 0);
  // A collective of ranks along these axes, whose result has so many rows.
  mlir::Value allGather(mlir::Location loc, mlir::Value part, int64_t rows, llvm::ArrayRef<unsigned> axes);
  mlir::Value reduceScatter(mlir::Location loc, mlir::Value whole, int64_t rows, ir::dist::Reduction reduction,
                            llvm::ArrayRef<unsigned> axes);
  mlir::Value ownPart(mlir::Location loc, mlir::Value whole, int64_t rows, llvm::ArrayRef<unsigned> axes);
  mlir::Value joined(mlir::Location loc, llvm::ArrayRef<mlir::Value> parts, unsigned dim);
  mlir::Value flatOf(Move &move, llvm::ArrayRef<unsigned> axes);
  void unflatten(Move &move);
  void exchange(Move &move, unsigned from, unsigned to);
  void slice(Move &move, unsigned dim, unsigned axis);
  void partBlocks(Move &move, unsigned dim, unsigned axis, llvm::SmallVectorImpl<mlir::Value> &parts);
  mlir::Value transposed(mlir::Location loc, mlir::Value value, unsigned from, unsigned to);
  mlir::Value reshaped(mlir::Location loc, mlir::Value value, llvm::ArrayRef<int64_t> shape);

  mlir::OpBuilder &b;
  const Mesh &mesh;
  int64_t rank;
  bool together;
};

} // namespace sprig::shard
