// The mask-lengths pass: functions of one model at several lengths become one for all lengths between.
#define GEN_PASS_DEF_MASKLENGTHS
#include "lib/Lengths/Passes.h"
#include "dialects/NN/Attributes.h"
#include "lib/Lengths/LengthRules.h"
#include "lib/Lengths/Sample.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace sprig;

static FailureOr<LengthSample> sampleOf(func::FuncOp function, DictionaryAttr stated) {
  LengthSample sample = lengthSampleOf(stated);
  if (sample.first < 1 || sample.length < sample.first || sample.last < sample.length)
    return function.emitError() << "'" << ir::kLengthsAttr << "': expected 1 <= first <= length <= last, found "
                                << sample.first << ", " << sample.length << ", " << sample.last;
  return sample;
}

/// For each port its dimensions that grow: dimension, multiple, add, divisor.
static ArrayAttr describe(OpBuilder &builder, ValueRange values, const LengthRules &rules) {
  SmallVector<Attribute> ports;
  for (Value value : values) {
    SmallVector<int64_t> growing;
    for (auto [dim, length] : llvm::enumerate(rules.of(value)))
      if (!length.isFixed()) growing.append({int64_t(dim), length.multiple, length.add, length.divisor});
    ports.push_back(builder.getDenseI64ArrayAttr(growing));
  }
  return builder.getArrayAttr(ports);
}

static LogicalResult maskGroup(const LengthSample &sample, SmallVector<Programs::Program> group) {
  Programs programs(sample.axis, std::move(group));
  func::FuncOp main = programs.main();
  if (programs.last() != sample.last || programs.first() != sample.first)
    return main.emitError() << "'" << ir::kLengthsAttr << "': expected functions of the lengths " << sample.first
                            << " and " << sample.last;
  if (failed(programs.begin())) return failure();
  OpBuilder builder(main.getContext());
  unsigned given = main.getNumArguments();
  auto type = RankedTensorType::get({}, builder.getI64Type());
  auto name = builder.getNamedAttr(ir::kNameAttr, builder.getStringAttr("length of '" + sample.axis + "'"));
  if (failed(main.insertArgument(given, type, builder.getDictionaryAttr(name), main.getLoc()))) return failure();
  LengthRules rules(programs, Masks(main.getArgument(given)));
  for (BlockArgument argument : main.getArguments().take_front(given))
    if (failed(rules.setArgument(argument))) return failure();
  if (llvm::none_of(main.getArguments().take_front(given), [&](Value input) { return programs.varies(input); }))
    return main.emitError() << "no input has a dimension that grows with '" << sample.axis << "'";
  if (failed(rules.run())) return failure();
  main->setAttr(
      ir::kLengthsAttr,
      builder.getDictionaryAttr({
          builder.getNamedAttr("axis", builder.getStringAttr(sample.axis)),
          builder.getNamedAttr("first", builder.getI64IntegerAttr(sample.first)),
          builder.getNamedAttr("last", builder.getI64IntegerAttr(sample.last)),
          builder.getNamedAttr("inputs", describe(builder, main.getArguments().take_front(given), rules)),
          builder.getNamedAttr("outputs", describe(builder, main.front().getTerminator()->getOperands(), rules)),
      }));
  return success();
}

namespace {
struct MaskLengths : sprig::impl::MaskLengthsBase<MaskLengths> {
  using MaskLengthsBase::MaskLengthsBase;

  void runOnOperation() override {
    llvm::MapVector<int64_t, std::pair<LengthSample, SmallVector<Programs::Program>>> groups;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto stated = function->getAttrOfType<DictionaryAttr>(ir::kLengthsAttr);
      if (!stated || stated.get("inputs")) continue; // not a sample, or done
      if (target != "cpu") {
        function.emitError() << "takes a range of lengths, and sums on '" << target
                             << "' are in an order that goes by the length: programs for a range are for 'cpu'";
        return signalPassFailure();
      }
      FailureOr<LengthSample> sample = sampleOf(function, stated);
      if (failed(sample)) return signalPassFailure();
      auto &group = groups.try_emplace(sample->group, *sample, SmallVector<Programs::Program>()).first->second;
      group.second.push_back({function, sample->length});
    }
    for (auto &[number, group] : groups) {
      if (failed(maskGroup(group.first, group.second))) return signalPassFailure();
      for (Programs::Program program : group.second)
        if (program.length != group.first.last) program.function.erase();
    }
  }
};
} // namespace
