// Syntax, verification and cost of nn.cond and nn.while:
//   %r = nn.cond %p with (%a = %x : type) -> type { ... nn.yield %v : type } else { ... nn.yield %w : type }
//   %r = nn.while max_steps = 9 carry (%s = %init : type) with (%w = %v : type) { ... nn.yield %go : tensor<i1> } do
//       { ... nn.yield %next : type }
// An empty clause is left out. Both regions of an operation have the same arguments, so they are named once.
#include "dialects/Interfaces/ParseAttributes.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNState.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace sprig::ir {

namespace {
/// What stands between the operation's name and its regions: `keyword (%argument = %operand : type, ...)`.
struct Bindings {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;

  ParseResult parseClause(OpAsmParser &parser, StringRef keyword, int32_t &count) {
    count = 0;
    if (failed(parser.parseOptionalKeyword(keyword))) return success();
    return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
      OpAsmParser::Argument &argument = arguments.emplace_back();
      if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
          parser.parseColonType(argument.type))
        return failure();
      types.push_back(argument.type);
      ++count;
      return success();
    });
  }

  ParseResult parseRegions(OpAsmParser &parser, OperationState &result, StringRef between) {
    Region *first = result.addRegion(), *second = result.addRegion();
    return failure(parser.parseRegion(*first, arguments) || parser.parseKeyword(between) ||
                   parser.parseRegion(*second, arguments));
  }
};
} // namespace

static void printClause(OpAsmPrinter &printer, StringRef keyword, ArrayRef<BlockArgument> arguments,
                        OperandRange operands) {
  if (operands.empty()) return;
  printer << ' ' << keyword << " (";
  llvm::interleaveComma(llvm::zip_equal(arguments, operands), printer, [&](auto pair) {
    printer.printRegionArgument(std::get<0>(pair), {}, /*omitType=*/true);
    printer << " = " << std::get<1>(pair) << " : " << std::get<1>(pair).getType();
  });
  printer << ')';
}

static void printRegions(OpAsmPrinter &printer, Region &first, StringRef between, Region &second) {
  printer << ' ';
  printer.printRegion(first, /*printEntryBlockArgs=*/false);
  printer << ' ' << between << ' ';
  printer.shadowRegionArgs(second, first.getArguments());
  printer.printRegion(second, /*printEntryBlockArgs=*/false);
}

ParseResult CondOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::UnresolvedOperand predicate;
  SmallVector<Type> resultTypes;
  Bindings bindings;
  int32_t count;
  if (parser.parseOperand(predicate)) return failure();
  auto place = parser.getCurrentLocation();
  if (bindings.parseClause(parser, "with", count) || parser.parseOptionalArrowTypeList(resultTypes) ||
      parseAttributes(parser, result) || bindings.parseRegions(parser, result, "else"))
    return failure();
  auto flag = RankedTensorType::get({}, parser.getBuilder().getI1Type());
  if (parser.resolveOperand(predicate, flag, result.operands) ||
      parser.resolveOperands(bindings.operands, bindings.types, place, result.operands))
    return failure();
  result.addTypes(resultTypes);
  for (auto &region : result.regions) ensureTerminator(*region, parser.getBuilder(), result.location);
  return success();
}

void CondOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getPredicate();
  printClause(printer, "with", getThen().getArguments(), getInputs());
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printRegions(printer, getThenRegion(), "else", getElseRegion());
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("max_steps"))) {
    int64_t steps = 0;
    if (parser.parseEqual() || parser.parseInteger(steps)) return failure();
    properties.max_steps = parser.getBuilder().getI64IntegerAttr(steps);
  }
  Bindings bindings;
  int32_t counts[2];
  auto place = parser.getCurrentLocation();
  if (bindings.parseClause(parser, "carry", counts[0])) return failure();
  result.addTypes(bindings.types); // so far those of what is carried
  if (bindings.parseClause(parser, "with", counts[1]) || parseAttributes(parser, result) ||
      bindings.parseRegions(parser, result, "do") ||
      parser.resolveOperands(bindings.operands, bindings.types, place, result.operands))
    return failure();
  llvm::copy(counts, properties.operandSegmentSizes.begin());
  for (auto &region : result.regions) ensureTerminator(*region, parser.getBuilder(), result.location);
  return success();
}

void WhileOp::print(OpAsmPrinter &printer) {
  if (auto steps = getMaxSteps()) printer << " max_steps = " << *steps;
  auto arguments = getTest().getArguments();
  printClause(printer, "carry", arguments.take_front(getNumCarried()), getInitial());
  printClause(printer, "with", arguments.drop_front(getNumCarried()), getInvariants());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"max_steps", "operandSegmentSizes"});
  printRegions(printer, getCondition(), "do", getBody());
}

static bool isFlag(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 && tensor.getElementType().isInteger(1);
}

/// A region that is bound to operands: argument by argument of their types.
static LogicalResult verifyArguments(Operation *op, Block &block, ValueRange operands, StringRef name) {
  if (block.getNumArguments() != operands.size())
    return op->emitOpError("binds ") << block.getNumArguments() << " arguments of its " << name << " to "
                                     << operands.size() << " operands";
  for (auto [i, argument, operand] : llvm::enumerate(block.getArguments(), operands))
    if (argument.getType() != operand.getType())
      return op->emitOpError("binds argument ")
             << i << " of its " << name << ", of type " << describe(argument.getType()) << ", to an operand of type "
             << describe(operand.getType());
  // A region may run any number of times, or not at all.
  WalkResult state = block.walk([&](Operation *inner) {
    if (!isa<GetParamOp, SetParamOp>(inner)) return WalkResult::advance();
    (op->emitOpError("holds '") << inner->getName() << "' in its " << name
                                << ", which takes state through operands and gives it through results")
            .attachNote(inner->getLoc())
        << "this one";
    return WalkResult::interrupt();
  });
  return failure(state.wasInterrupted());
}

static LogicalResult verifyYield(Operation *op, Block &block, TypeRange wanted, StringRef name) {
  Operation *yield = block.getTerminator();
  if (yield->getNumOperands() != wanted.size())
    return (op->emitOpError("has ") << wanted.size() << " results and yields " << yield->getNumOperands()
                                    << " values in its " << name)
               .attachNote(yield->getLoc())
           << "yielded here";
  for (auto [i, value, type] : llvm::enumerate(yield->getOperands(), wanted))
    if (value.getType() != type)
      return (op->emitOpError("has result ") << i << " of type " << describe(type) << " and yields "
                                             << describe(value.getType()) << " in its " << name)
                 .attachNote(yield->getLoc())
             << "yielded here";
  return success();
}

// After the verifiers of what is inside, so that blocks are whole.
LogicalResult CondOp::verifyRegions() {
  if (!isFlag(getPredicate().getType()))
    return emitOpError("chooses by ") << describe(getPredicate().getType()) << "; expected a scalar of i1";
  return success(succeeded(verifyArguments(*this, getThen(), getInputs(), "then region")) &&
                 succeeded(verifyArguments(*this, getElse(), getInputs(), "else region")) &&
                 succeeded(verifyYield(*this, getThen(), getResultTypes(), "then region")) &&
                 succeeded(verifyYield(*this, getElse(), getResultTypes(), "else region")));
}

LogicalResult WhileOp::verifyRegions() {
  if (auto steps = getMaxSteps(); steps && int64_t(*steps) < 1)
    return emitOpError("runs at most ") << int64_t(*steps) << " steps; expected at least 1";
  if (getInitial().empty()) return emitOpError("carries no values, so its condition would never change");
  if (getNumResults() != getNumCarried())
    return emitOpError("has ") << getNumResults() << " results and carries " << getNumCarried() << " values";
  for (auto [i, result, initial] : llvm::enumerate(getResultTypes(), getInitial()))
    if (result != initial.getType())
      return emitOpError("has result ") << i << " of type " << describe(result) << " for the value that starts as "
                                        << describe(initial.getType());
  if (failed(verifyArguments(*this, getTest(), getOperands(), "condition")) ||
      failed(verifyArguments(*this, getStep(), getOperands(), "body")))
    return failure();
  Operation *yield = getTest().getTerminator();
  if (yield->getNumOperands() != 1 || !isFlag(yield->getOperand(0).getType())) {
    InFlightDiagnostic error = emitOpError("has a condition that yields ");
    if (yield->getNumOperands() == 1)
      error << describe(yield->getOperand(0).getType());
    else
      error << yield->getNumOperands() << " values";
    error << "; expected a scalar of i1";
    error.attachNote(yield->getLoc()) << "yielded here";
    return error;
  }
  return verifyYield(*this, getStep(), getResultTypes(), "body");
}

int64_t CondOp::getFlops() { return std::max(flopsOf(getThen()), flopsOf(getElse())); }

// Nobody knows the number of steps: this is one.
int64_t WhileOp::getFlops() { return flopsOf(getTest()) + flopsOf(getStep()); }

} // namespace sprig::ir
