// partOfRank: what one rank computes of a graph of all ranks' samples, as a graph.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "lib/Frontend/Bridge/Derive.h"
#include "lib/Frontend/Bridge/Import.h"
#include "lib/Frontend/Bridge/PlanFunction.h"
#include "lib/Pipeline/Phases.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/collective/Collective.h"
#include "runtime/comm/RankGroup.h"
#include "sprig/error.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

namespace {

/// The graph's inputs and outputs in a function: states are its reads and writes of parameters.
class Ports {
public:
  Ports(func::FuncOp function, std::span<const StateSlot> slots) : body(function.getBody().front()) {
    for (auto read : body.getOps<ir::GetParamOp>())
      if (auto [known, isNew] = reads.try_emplace(read.getParam(), read.getResult()); !isNew)
        read.replaceAllUsesWith(known->second);
    for (auto write : body.getOps<ir::SetParamOp>()) writes[write.getParam()] = write.getValue();
    for (const StateSlot &slot : slots) {
      ofInput[slot.input] = &slot;
      if (slot.output >= 0) ofOutput[uint32_t(slot.output)] = &slot;
    }
  }

  SmallVector<Value> inputs(uint32_t count) {
    SmallVector<Value> values;
    unsigned next = 0;
    for (uint32_t i = 0; i < count; ++i)
      values.push_back(ofInput.contains(i) ? readOf(ofInput[i]->name) : Value(body.getArgument(next++)));
    return values;
  }
  SmallVector<Value> outputs(uint32_t count) {
    SmallVector<Value> values;
    unsigned next = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const StateSlot *slot = ofOutput.lookup(i);
      if (!slot)
        values.push_back(body.getTerminator()->getOperand(next++));
      else // what is set to itself is not written
        values.push_back(writes.contains(slot->name) ? writes[slot->name] : readOf(slot->name));
    }
    return values;
  }

private:
  Value readOf(const std::string &name) {
    Value &read = reads[name];
    if (!read) { // nothing does
      OpBuilder b = OpBuilder::atBlockBegin(&body);
      auto module = cast<ModuleOp>(body.getParentOp()->getParentOp());
      read = ir::GetParamOp::create(b, b.getUnknownLoc(), module.lookupSymbol<ir::ParamOp>(name).getTensorType(),
                                    FlatSymbolRefAttr::get(b.getContext(), name));
    }
    return read;
  }

  Block &body;
  llvm::StringMap<Value> reads, writes;
  llvm::DenseMap<uint32_t, const StateSlot *> ofInput, ofOutput;
};

} // namespace

/// A rank's parts of what it has become slices, which need no ranks.
static void sliceParts(func::FuncOp function, int ranks, int rank) {
  for (auto part : llvm::make_early_inc_range(function.getBody().front().getOps<ir::dist::PartOp>())) {
    OpBuilder b(part);
    for (auto [whole, own] : llvm::zip_equal(part->getOperands(), part->getResults())) {
      auto type = cast<RankedTensorType>(own.getType());
      int64_t rows = cast<RankedTensorType>(whole.getType()).getDimSize(0);
      SmallVector<int64_t> starts(type.getRank(), 0), steps(type.getRank(), 1);
      starts[0] = rt::collective::pieceOf(rows, uint32_t(ranks), uint32_t(rank)).begin;
      own.replaceAllUsesWith(ir::SliceOp::create(b, part->getLoc(), whole, starts, type.getShape(), steps));
    }
    part->erase();
  }
}

Graph frontend::partOfRank(const Graph &graph, std::span<const StateSlot> states, const CompileOptions &given,
                           const std::string &name, const PlanRanks &ranks, const char *mesh) {
  CompileOptions options = given;
  bridge::Workspace work;
  func::FuncOp function = bridge::addPlanFunction(*work.module, graph, states, name, ranks, options);
  bridge::stateDivision(*work.module, ranks, options);
  PassManager passes(work.context());
  addDivisionPasses(passes, options, /*together=*/false);
  bridge::runPasses(passes, *work.module);
  sliceParts(function, ranks.group->ranks(), ranks.group->rank());
  Block &body = function.getBody().front();
  Ports ports(function, states);
  SmallVector<Value> inputs = ports.inputs(graph.inputCount), outputs = ports.outputs(uint32_t(graph.outputs.size()));
  llvm::DenseSet<Operation *> computes;
  for (Operation &op : body)
    if (!isa<ir::GetParamOp, ir::SetParamOp, func::ReturnOp>(op)) computes.insert(&op);
  bridge::GraphReader reader;
  reader.addInputs(inputs);
  reader.addOperations(body, &computes);
  Graph part = reader.finish(outputs);
  for (GraphNode &node : part.nodes)
    for (Attr &attr : node.attrs)
      if (node.op->text.starts_with("dist.") && std::string_view(attr.name) == "mesh") attr = Attr::other("mesh", mesh);
  return part;
}
