// Syntax and verification of dispatches:
//   %r = kernel.dispatch "label" (%a = %x : tensor<4xf32>) -> tensor<4xf32> { ... kernel.yield %v : tensor<4xf32> }
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/Interfaces/ParseAttributes.h"
#include "dialects/Interfaces/Touch.h"
#include "dialects/Kernel/ExternalModels.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace sprig::kernel {

ParseResult DispatchOp::parse(OpAsmParser &parser, OperationState &result) {
  std::string label;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, resultTypes;
  auto operandsLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalString(&label)))
    result.getOrAddProperties<Properties>().label = parser.getBuilder().getStringAttr(label);
  auto parseBinding = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    types.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseBinding) ||
      parser.parseOptionalArrowTypeList(resultTypes) || parseAttributes(parser, result) ||
      parser.parseRegion(*result.addRegion(), arguments) ||
      parser.resolveOperands(operands, types, operandsLoc, result.operands))
    return failure();
  result.addTypes(resultTypes);
  ensureTerminator(*result.regions[0], parser.getBuilder(), result.location);
  return success();
}

void DispatchOp::print(OpAsmPrinter &printer) {
  if (auto label = getLabelAttr()) printer << ' ' << label;
  printer << " (";
  auto pairs = llvm::zip(getBody().getArguments(), getOperands());
  llvm::interleaveComma(pairs, printer, [&](auto pair) {
    auto [argument, operand] = pair;
    printer.printRegionArgument(argument, {}, /*omitType=*/true);
    printer << " = " << operand << " : " << operand.getType();
  });
  printer << ')';
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"label"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult DispatchOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getNumOperands())
    return emitOpError("binds ") << body.getNumArguments() << " arguments to " << getNumOperands() << " operands";
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (argument.getType() != getOperand(i).getType())
      return emitOpError("binds argument ") << i << " of type " << ir::describe(argument.getType())
                                            << " to an operand of type " << ir::describe(getOperand(i).getType());
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != getNumResults())
    return (emitOpError("has ") << getNumResults() << " results and yields " << yield->getNumOperands() << " values")
               .attachNote(yield->getLoc())
           << "yielded here";
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (value.getType() != getResult(i).getType())
      return (emitOpError("has result ") << i << " of type " << ir::describe(getResult(i).getType()) << " and yields "
                                         << ir::describe(value.getType()))
                 .attachNote(yield->getLoc())
             << "yielded here";
  return success();
}

namespace {
// What is between its operations stays in registers or scratch.
struct DispatchTouch : TouchOpInterface::ExternalModel<DispatchTouch, DispatchOp> {
  Touched getTouchedOperand(Operation *op, unsigned index) const {
    return touchedOf(cast<DispatchOp>(op).getBody().getArgument(index));
  }
  Touched getTouchedResult(Operation *op, unsigned index) const {
    return touchedToMake(cast<DispatchOp>(op).getBody().front().getTerminator()->getOperand(index));
  }
};

struct DispatchRanges : IndexRangeOpInterface::ExternalModel<DispatchRanges, DispatchOp> {
  void narrowOperands(Operation *op, IndexRanges &ranges) const {
    auto dispatch = cast<DispatchOp>(op);
    Block &body = dispatch.getBody().front();
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), dispatch.getOperands()))
      ranges.bind(argument, operand);
    for (auto [yielded, result] : llvm::zip_equal(body.getTerminator()->getOperands(), dispatch.getResults()))
      ranges.narrow(yielded, ranges.of(result));
    ranges.visit(body);
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), dispatch.getOperands()))
      ranges.narrow(operand, ranges.of(argument));
  }
};
} // namespace

void attachDispatchModels(MLIRContext *context) {
  DispatchOp::attachInterface<DispatchTouch, DispatchRanges>(*context);
}

} // namespace sprig::kernel
