// Which axes of a mesh split which factors of an operation: between the shardings of its values and its dimension rule.
#pragma once
#include "dialects/Interfaces/DimensionRule.h"
#include "lib/Shard/Mesh.h"

namespace sprig::shard {

/// The rule of an operation for who divides it: with the factors of one position that a dimension shares with others,
/// which a batch of one sample is dealt by.
DimensionRule ruleToDivide(mlir::Operation *op);

/// For each factor its axes, major to minor. No axis is twice in it, factors that must be whole have none, and every
/// operand and result has dimensions that can say it: of several factors one is cut along one axis, or they are split
/// evenly, and a minor one only where those before are split up entirely.
class FactorAxes {
public:
  /// Starts with the axes that the rule names, which stay.
  FactorAxes(const Mesh &mesh, const DimensionRule &rule);

  /// Takes over what the dimensions of an operand or result say, as far as it fits to what is there already. With
  /// `only` of those factors alone.
  void take(
      const DimensionRule::Map &map, llvm::ArrayRef<Axes> dims,
      llvm::function_ref<bool(unsigned)> only = [](unsigned) { return true; });

  /// The axes of the dimensions of an operand or result.
  llvm::SmallVector<Axes> dimsOf(const DimensionRule::Map &map) const;
  llvm::ArrayRef<unsigned> operator[](unsigned factor) const { return axes[factor]; }
  bool uses(unsigned axis) const {
    return llvm::any_of(axes, [&](const Axes &each) { return mesh.holds(each, axis); });
  }
  /// How many positions of each factor a rank has.
  llvm::SmallVector<int64_t> sizesOf(int64_t rank) const;

private:
  std::optional<Axes> axesOf(const DimensionRule::Dim &dim) const;
  bool canSay() const;
  void extend(unsigned factor, llvm::ArrayRef<unsigned> wanted);

  const Mesh &mesh;
  const DimensionRule &rule;
  llvm::SmallVector<Axes> axes;
};

/// Which axes of a dimension split which of its factors; what cannot be told apart is left out.
llvm::SmallVector<std::pair<unsigned, Axes>> axesOfFactors(const Mesh &mesh, const DimensionRule &rule,
                                                           const DimensionRule::Dim &dim,
                                                           llvm::ArrayRef<unsigned> axes);

} // namespace sprig::shard
