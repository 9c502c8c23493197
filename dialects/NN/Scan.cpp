// Syntax, verification and cost of nn.scan:
//   %last, %all = nn.scan steps = 5 reverse over (%xt = %x : type) carry (%s = %init : type) with (%w = %v : type)
//       -> (type, type) { ... nn.yield %next, %out : type, type }
// An empty clause is left out.
#include "dialects/Interfaces/ParseAttributes.h"
#include "dialects/NN/NNRecurrent.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace sprig::ir {

/// The type of one slice along the first dimension; null where there is none.
static Type sliceType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() == 0) return {};
  return RankedTensorType::get(tensor.getShape().drop_front(), tensor.getElementType());
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &result) {
  int64_t steps = 0;
  if (parser.parseKeyword("steps") || parser.parseEqual() || parser.parseInteger(steps)) return failure();
  auto &properties = result.getOrAddProperties<Properties>();
  properties.steps = parser.getBuilder().getI64IntegerAttr(steps);
  if (succeeded(parser.parseOptionalKeyword("reverse"))) properties.reverse = parser.getBuilder().getUnitAttr();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, resultTypes;
  auto operandsLoc = parser.getCurrentLocation();
  auto parseClause = [&](StringRef keyword, int32_t &count) -> ParseResult {
    count = 0;
    if (failed(parser.parseOptionalKeyword(keyword))) return success();
    return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
      OpAsmParser::Argument &argument = arguments.emplace_back();
      auto place = parser.getCurrentLocation();
      Type type;
      if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
          parser.parseColonType(type))
        return failure();
      types.push_back(type);
      argument.type = keyword == "over" ? sliceType(type) : type;
      if (!argument.type) return parser.emitError(place, "steps over a tensor with a first dimension, got ") << type;
      ++count;
      return success();
    });
  };
  int32_t counts[3];
  if (parseClause("over", counts[0]) || parseClause("carry", counts[1]) || parseClause("with", counts[2]) ||
      parser.parseOptionalArrowTypeList(resultTypes) || parseAttributes(parser, result) ||
      parser.parseRegion(*result.addRegion(), arguments) ||
      parser.resolveOperands(operands, types, operandsLoc, result.operands))
    return failure();
  llvm::copy(counts, properties.operandSegmentSizes.begin());
  result.addTypes(resultTypes);
  ensureTerminator(*result.regions[0], parser.getBuilder(), result.location);
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << " steps = " << getSteps();
  if (getReverse()) printer << " reverse";
  auto printClause = [&](StringRef keyword, ArrayRef<BlockArgument> arguments, OperandRange operands) {
    if (arguments.empty()) return;
    printer << ' ' << keyword << " (";
    llvm::interleaveComma(llvm::zip_equal(arguments, operands), printer, [&](auto pair) {
      printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
      printer << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
    });
    printer << ')';
  };
  printClause("over", getInputArguments(), getInputs());
  printClause("carry", getCarriedArguments(), getInitial());
  printClause("with", getInvariantArguments(), getInvariants());
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"steps", "reverse", "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ScanOp::verify() {
  int64_t steps = getSteps();
  if (steps < 1) return emitOpError("runs ") << steps << " steps; expected at least 1";
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getRank() == 0 || type.getDimSize(0) != steps)
      return emitOpError("runs ") << steps << " steps over input " << i << " of type " << describe(type);
  }
  Block &body = getStep();
  if (body.getNumArguments() != getNumOperands())
    return emitOpError("binds ") << body.getNumArguments() << " arguments to " << getNumOperands() << " operands";
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    Type given = getOperand(i).getType(), wanted = i < getNumInputs() ? sliceType(given) : given;
    if (argument.getType() != wanted)
      return emitOpError("binds argument ")
             << i << " of type " << describe(argument.getType()) << " to "
             << (i < getNumInputs() ? "a slice of type " : "an operand of type ") << describe(wanted);
  }
  Operation *yield = body.getTerminator();
  if (getNumResults() < getNumCarried() || yield->getNumOperands() != getNumResults())
    return (emitOpError("has ") << getNumResults() << " results, carries " << getNumCarried() << " values and yields "
                                << yield->getNumOperands())
               .attachNote(yield->getLoc())
           << "yielded here";
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    bool carried = i < getNumCarried();
    Type result = getResult(i).getType(), wanted = carried ? result : sliceType(result);
    bool stacks = carried || (wanted && cast<RankedTensorType>(result).getDimSize(0) == steps);
    if (!stacks || value.getType() != wanted || (carried && getInitial()[i].getType() != wanted))
      return (
                 emitOpError("has result ")
                 << i << " of type " << describe(result) << " and yields " << describe(value.getType())
                 << (carried ? " for the value that starts as " : " in each of ")
                 << (carried ? describe(getInitial()[i].getType()) : std::to_string(steps) + " steps"))
                 .attachNote(yield->getLoc())
             << "yielded here";
  }
  return success();
}

int64_t ScanOp::getFlops() { return flopsOf(getStep()) * int64_t(getSteps()); }

} // namespace sprig::ir
