// Branches and loops that depend on data, as nn.cond and nn.while. For the rows of If and Loop.
#pragma once
#include "lib/Import/ONNX/Importer.h"

namespace sprig::onnximport {

/// A graph of a node, imported into a block of its own: what then becomes a region, moves in front of the node, or is
/// given up. Parameters and constants move in front of the node at once, as others may read them.
class BodyBlock {
public:
  explicit BodyBlock(Node &n, mlir::TypeRange arguments = {});
  mlir::Block &operator*() { return *block; }
  mlir::Block *operator->() { return block; }

  /// What `import` makes goes into the block.
  Items run(llvm::function_ref<Items()> import);
  /// Moves in front of the node what no argument decides, of what may run without being asked for.
  void hoistInvariants();
  /// Moves everything in front of the node; the block has no arguments.
  void inlineAll();
  /// Operations of one run.
  int64_t flops();
  /// Whether something in it may fail, or may never end, with data that it was not meant for.
  bool mustBeAsked();

  /// Makes the block a region's: what it reads from outside comes in through new arguments, in the order of `captured`,
  /// which grows by what it does not have yet.
  void capture(Values &captured);
  void become(mlir::Region &region);

private:
  Node &n;
  mlir::OpBuilder &b;
  mlir::Region own;
  mlir::Block *block;
  Importer::Attempt attempt; // before the block goes
};

/// Results of two branches whose yielded values agree in type.
Values makeCond(Node &n, Value condition, BodyBlock &onTrue, const Values &trueValues, BodyBlock &onFalse,
                const Values &falseValues);

/// The last carried values of a Loop whose condition, or whose number of trips, is only known when it runs, and whose
/// step can be imported once for all. `trips` and `condition` are null where the node has none.
std::optional<Values> importWhile(Node &n, const onnx::GraphProto &body, Value trips, Value condition,
                                  const Values &initial);

} // namespace sprig::onnximport
