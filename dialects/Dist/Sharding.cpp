// The sharding attribute: its text, and what it has to keep to.
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Interfaces/AttributeRow.h"
#include "runtime/collective/Piece.h"
#include "runtime/collective/Shares.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sprig::ir::dist;
using sprig::ir::AttributeRow;
using sprig::ir::isOf;
using sprig::ir::isOn;

#define GET_ATTRDEF_CLASSES
#include "dialects/Dist/DistAttributes.cpp.inc"

void DistDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dist/DistAttributes.cpp.inc"
      >();
}

/// `3,1`: numbers up to the comma behind which none comes; `isOver` says that there was no such comma.
static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers, bool &isOver) {
  if (parser.parseInteger(numbers.emplace_back())) return failure();
  for (;;) {
    isOver = failed(parser.parseOptionalComma());
    if (isOver) return success();
    int64_t next = 0;
    OptionalParseResult more = parser.parseOptionalInteger(next);
    if (!more.has_value()) return success();
    if (failed(*more)) return failure();
    numbers.push_back(next);
  }
}

// An axis may be followed by how it deals a dimension: `by 3,1 in 16,16 of 4`.
static Attribute parseCut(AsmParser &parser, StringAttr axis, bool &isOver) {
  llvm::SMLoc place = parser.getCurrentLocation();
  SmallVector<int64_t> weights, blocks, unit;
  for (auto [keyword, numbers] : {std::pair("by", &weights), {"in", &blocks}, {"of", &unit}})
    if (isOver && succeeded(parser.parseOptionalKeyword(keyword)) && parseNumbers(parser, *numbers, isOver)) return {};
  if (unit.size() > 1) {
    parser.emitError(place) << "expected one number of positions, found " << unit.size();
    return {};
  }
  if (isOver) isOver = failed(parser.parseOptionalComma());
  if (weights.empty() && blocks.empty() && unit.empty()) return axis;
  return CutAttr::getChecked([&] { return parser.emitError(place); }, parser.getContext(), axis, weights, blocks,
                             unit.empty() ? 1 : unit[0]);
}

// `["data", "model"]`; with `mayCut` also `["data" by 3,1]`.
static FailureOr<ArrayAttr> parseAxes(AsmParser &parser, bool mayCut = false) {
  SmallVector<Attribute> axes;
  if (parser.parseLSquare()) return failure();
  if (succeeded(parser.parseOptionalRSquare())) return ArrayAttr::get(parser.getContext(), {});
  for (bool isOver = false; !isOver;) {
    std::string name;
    if (parser.parseString(&name)) return failure();
    auto axis = StringAttr::get(parser.getContext(), name);
    isOver = true; // no comma yet
    axes.push_back(mayCut ? parseCut(parser, axis, isOver) : axis);
    if (!axes.back()) return failure();
    if (!mayCut) isOver = failed(parser.parseOptionalComma());
  }
  if (parser.parseRSquare()) return failure();
  return ArrayAttr::get(parser.getContext(), axes);
}

static void printAxes(AsmPrinter &printer, ArrayAttr axes) {
  auto printNumbers = [&](StringRef keyword, ArrayRef<int64_t> numbers) {
    if (numbers.empty()) return;
    printer << " " << keyword << " ";
    llvm::interleave(numbers, printer.getStream(), ",");
  };
  printer << "[";
  llvm::interleaveComma(axes, printer.getStream(), [&](Attribute axis) {
    auto cut = dyn_cast<CutAttr>(axis);
    printer << (cut ? Attribute(cut.getAxis()) : axis);
    if (!cut) return;
    printNumbers("by", cut.getWeights());
    printNumbers("in", cut.getBlocks());
    if (cut.getUnit() > 1) printNumbers("of", cut.getUnit());
  });
  printer << "]";
}

Attribute CutAttr::parse(AsmParser &parser, Type) {
  std::string name;
  bool isOver = true;
  if (parser.parseLess() || parser.parseString(&name)) return {};
  Attribute cut = parseCut(parser, StringAttr::get(parser.getContext(), name), isOver);
  if (!cut || parser.parseGreater()) return {};
  return cut;
}

void CutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printAxes(printer, ArrayAttr::get(getContext(), {*this}));
  printer << ">";
}

LogicalResult CutAttr::verify(llvm::function_ref<InFlightDiagnostic()> error, StringAttr axis,
                              ArrayRef<int64_t> weights, ArrayRef<int64_t> blocks, int64_t unit) {
  int64_t sum = 0;
  for (int64_t weight : weights) {
    if (weight < 1) return error() << "expected weights from 1 on of axis " << axis << ", found " << weight;
    if (weight > rt::collective::kMostWeight - sum)
      return error() << "has weights of axis " << axis << " of more than " << rt::collective::kMostWeight
                     << " together";
    sum += weight;
  }
  for (int64_t block : blocks)
    if (block < 0) return error() << "expected blocks of 0 or more units along " << axis << ", found " << block;
  if (unit < 1) return error() << "expected units of 1 position or more along " << axis << ", found " << unit;
  return success();
}

StringAttr sprig::ir::dist::axisOf(Attribute axis) {
  auto cut = dyn_cast<CutAttr>(axis);
  return cut ? cut.getAxis() : dyn_cast<StringAttr>(axis);
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  llvm::SMLoc place = parser.getCurrentLocation();
  StringAttr mesh;
  SmallVector<ArrayAttr> dims;
  ArrayAttr flat = ArrayAttr::get(parser.getContext(), {}), partial = flat;
  Reduction reduction = Reduction::sum;
  auto parseDim = [&]() -> ParseResult {
    FailureOr<ArrayAttr> axes = parseAxes(parser, /*mayCut=*/true);
    if (failed(axes)) return failure();
    dims.push_back(*axes);
    return success();
  };
  if (parser.parseLess() || parser.parseSymbolName(mesh) || parser.parseComma()) return {};
  if (succeeded(parser.parseOptionalKeyword("flat"))) {
    llvm::SMLoc at = parser.getCurrentLocation();
    FailureOr<ArrayAttr> axes = parseAxes(parser);
    if (failed(axes)) return {};
    if (axes->empty()) {
      parser.emitError(at) << "expected an axis that the vector is split by";
      return {};
    }
    flat = *axes;
  } else if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim)) {
    return {};
  }
  if (succeeded(parser.parseOptionalComma())) {
    llvm::SMLoc at = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword("partial") || parser.parseKeyword(&name)) return {};
    std::optional<Reduction> known = symbolizeReduction(name);
    FailureOr<ArrayAttr> axes = parseAxes(parser);
    if (failed(axes)) return {};
    if (!known) {
      parser.emitError(at) << "there is no reduction '" << name << "'";
      return {};
    }
    if (axes->empty()) {
      parser.emitError(at) << "expected an axis that the value is partial along";
      return {};
    }
    reduction = *known, partial = *axes;
  }
  if (parser.parseGreater()) return {};
  return getChecked([&] { return parser.emitError(place); }, parser.getContext(), FlatSymbolRefAttr::get(mesh), dims,
                    flat, partial, reduction);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << "<" << getMesh() << ", ";
  if (getFlat().empty()) {
    printer << "[";
    llvm::interleaveComma(getDims(), printer.getStream(), [&](ArrayAttr axes) { printAxes(printer, axes); });
    printer << "]";
  } else {
    printer << "flat ";
    printAxes(printer, getFlat());
  }
  if (!getPartial().empty()) {
    printer << ", partial " << stringifyReduction(getReduction()) << " ";
    printAxes(printer, getPartial());
  }
  printer << ">";
}

LogicalResult ShardingAttr::verify(llvm::function_ref<InFlightDiagnostic()> error, FlatSymbolRefAttr,
                                   ArrayRef<ArrayAttr> dims, ArrayAttr flat, ArrayAttr partial, Reduction reduction) {
  llvm::StringSet<> seen;
  SmallVector<ArrayAttr> all(dims);
  all.append({flat, partial});
  for (ArrayAttr axes : all)
    for (Attribute axis : axes) {
      StringAttr name = axisOf(axis);
      if (!name) return error() << "expected names of axes, found " << axis;
      if (!seen.insert(name).second) return error() << "axis " << name << " is there twice in a sharding";
      auto cut = dyn_cast<CutAttr>(axis);
      if (cut && axes.size() > 1 && (!cut.getBlocks().empty() || cut.getUnit() > 1))
        return error() << "axis " << name << " deals blocks or units, which stand alone in a dimension";
    }
  if (!flat.empty() && !dims.empty()) return error() << "a flat sharding has no dimensions";
  if (reduction == Reduction::mean) return error() << "a value is no partial mean; it is a partial sum";
  if (partial.empty() && reduction != Reduction::sum)
    return error() << "expected an axis that the value is partial along";
  return success();
}

// `mesh`: what its name is looked up as, null where there is none.
static LogicalResult verifyOn(MeshOp mesh, Operation *op, ShardingAttr sharding, Type type, const Twine &what) {
  auto error = [&] { return op->emitOpError() << "the sharding of " << what << ": "; };
  if (!mesh) return error() << "expected a dist.mesh, found '" << sharding.getMesh().getValue() << "'";
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape()) return error() << "expected a tensor of static shape, found " << type;
  if (sharding.getFlat().empty() && int64_t(sharding.getDims().size()) != tensor.getRank())
    return error() << "has " << sharding.getDims().size() << " dimensions and " << tensor << " has "
                   << tensor.getRank();
  SmallVector<ArrayAttr> all(sharding.getDims());
  all.append({sharding.getFlat(), sharding.getPartial()});
  for (auto [dim, axes] : llvm::enumerate(all))
    for (Attribute axis : axes) {
      auto found = llvm::find(mesh.getAxes(), Attribute(axisOf(axis)));
      if (found == mesh.getAxes().end())
        return error() << "expected an axis of " << sharding.getMesh() << " " << mesh.getAxes() << ", found "
                       << axisOf(axis);
      auto cut = dyn_cast<CutAttr>(axis);
      if (!cut) continue;
      int64_t ranks = mesh.getSizes()[size_t(found - mesh.getAxes().begin())], units = 0;
      if (!cut.getWeights().empty() && int64_t(cut.getWeights().size()) != ranks)
        return error() << "has " << cut.getWeights().size() << " weights of the " << ranks << " ranks along "
                       << cut.getAxis();
      int64_t size = tensor.getDimSize(int64_t(dim)), unit = cut.getUnit();
      for (int64_t block : cut.getBlocks()) units += std::min(block, size + 1);
      if (size % unit || (!cut.getBlocks().empty() && units != size / unit))
        return error() << "deals blocks of " << (cut.getBlocks().empty() ? size / unit : units) << " x " << unit
                       << " positions along " << cut.getAxis() << ", and dimension " << dim << " of " << tensor
                       << " has " << size;
    }
  return success();
}

LogicalResult sprig::ir::dist::verifySharding(Operation *op, SymbolTableCollection &symbols, ShardingAttr sharding,
                                              Type type, const Twine &what) {
  return verifyOn(symbols.lookupNearestSymbolFrom<MeshOp>(op, sharding.getMesh()), op, sharding, type, what);
}

// A sharding of a value that `op` names. Whoever verifies attributes has no table of symbols, and one for each would
// cost more than to look for the mesh.
static LogicalResult verifyNamed(Operation *op, Attribute value, Type type, const Twine &what) {
  auto sharding = dyn_cast<ShardingAttr>(value);
  if (!sharding) return op->emitOpError() << "expected a sharding of " << what << ", found " << value;
  return verifyOn(SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, sharding.getMesh()), op, sharding, type, what);
}

// A piece lies in its whole, whose elements can be counted.
static LogicalResult verifyPiece(Operation *op, Attribute value, Type type, const Twine &what) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  auto piece = dyn_cast<RankedTensorType>(type);
  if (!numbers || !piece || numbers.size() != 2 * piece.getRank())
    return op->emitOpError() << "expected '" << kPieceAttr << "' of " << what
                             << " as two numbers for each dimension of " << type << ", found " << value;
  ArrayRef<int64_t> given = numbers;
  if (int dim = sprig::rt::collective::dimOutside(piece.getShape(), given); dim >= 0)
    return op->emitOpError() << what << " has " << piece.getDimSize(dim) << " from "
                             << given[size_t(piece.getRank() + dim)] << " on of a dimension of " << given[size_t(dim)];
  if (!sprig::rt::collective::isCountable(given.take_front(size_t(piece.getRank()))))
    return op->emitOpError() << what << " is a piece of more than 2^48 elements together";
  return success();
}

static LogicalResult verifyFlatPiece(Operation *op, Attribute value) {
  auto state = op->getNumResults() ? TypedAttr() : op->getAttrOfType<TypedAttr>("value");
  auto whole = dyn_cast<DenseI64ArrayAttr>(value);
  auto piece = state ? dyn_cast<RankedTensorType>(state.getType()) : RankedTensorType();
  if (!piece) return op->emitOpError() << "has no value that '" << kPieceAttr << "' could be about";
  if (!whole || piece.getRank() != 1 || !sprig::rt::collective::isFlatPiece(piece.getDimSize(0), whole.asArrayRef()))
    return op->emitOpError() << "expected '" << kPieceAttr << "' as the shape of a whole, of which " << piece
                             << " is an even piece, found " << value;
  return success();
}

namespace {
bool isNumberFromZero(Attribute value) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isInteger(64) && number.getInt() >= 0;
}
bool isTexts(Attribute value) {
  auto texts = dyn_cast<ArrayAttr>(value);
  return texts && llvm::all_of(texts, [](Attribute each) { return isa<StringAttr>(each); });
}

constexpr llvm::StringLiteral kLateOps = "an all-reduce, a reduce-scatter or an all-gather"; // mayBeLate

/// Attributes that speak of nothing else.
constexpr AttributeRow kPlainAttributes[] = {
    {kRankAttr, "a function", isOn<FunctionOpInterface>, "an integer from 0 on", isNumberFromZero},
    {kSamplesAttr, "a function", isOn<FunctionOpInterface>, "an integer from 0 on", isNumberFromZero},
    {kPlanAttr, "a function", isOn<FunctionOpInterface>, "an array of strings", isTexts},
    {kLateAttr, kLateOps, mayBeLate, "no value", isOf<UnitAttr>},
    {kOrderAttr, kLateOps, mayBeLate, "an integer", isOf<IntegerAttr>},
};
} // namespace

static LogicalResult refuseUnknown(Operation *op, StringRef name, const Twine &port) {
  return op->emitOpError() << "has '" << name << "'" << port << ", which dist does not know";
}

LogicalResult DistDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  for (const AttributeRow &row : kPlainAttributes)
    if (attribute.getName() == row.name) return verifyByRow(row, op, "", attribute.getValue());
  if (attribute.getName() == kMeshAttr) {
    auto name = dyn_cast<FlatSymbolRefAttr>(attribute.getValue());
    if (name && SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, name)) return success();
    return op->emitOpError() << "expected '" << kMeshAttr << "' to name a dist.mesh, found " << attribute.getValue();
  }
  if (attribute.getName() == kMostBytesAttr) {
    auto sizes = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (sizes && sizes.size() == op->getNumResults()) return success();
    return op->emitOpError() << "expected '" << kMostBytesAttr << "' of " << op->getNumResults() << " results, found "
                             << attribute.getValue();
  }
  if (attribute.getName() == kShardingAttr) {
    auto value = op->getAttrOfType<TypedAttr>("value");
    if (!value || op->getNumResults())
      return op->emitOpError() << "has no value that '" << kShardingAttr << "' could be about";
    return verifyNamed(op, attribute.getValue(), value.getType(), "the parameter");
  }
  if (attribute.getName() == kPieceAttr) return verifyFlatPiece(op, attribute.getValue());
  if (attribute.getName() != kShardingsAttr) return refuseUnknown(op, attribute.getName(), "");
  auto shardings = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!shardings || shardings.size() != op->getNumResults())
    return op->emitOpError() << "expected '" << kShardingsAttr << "' of " << op->getNumResults() << " results, found "
                             << attribute.getValue();
  for (auto [i, sharding] : llvm::enumerate(shardings))
    if (failed(verifyNamed(op, sharding, op->getResult(unsigned(i)).getType(), "result " + Twine(i)))) return failure();
  return success();
}

/// Of an argument or result of a function: `port`.
static LogicalResult verifyOnPort(Operation *op, NamedAttribute attribute,
                                  ArrayRef<Type> (FunctionOpInterface::*types)(), unsigned index, const Twine &port) {
  StringRef name = attribute.getName();
  if (name != kShardingAttr && name != kPieceAttr) return refuseUnknown(op, name, " on " + port);
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function) return op->emitOpError() << "has '" << name << "' on " << port << " and is no function";
  auto verify = name == kPieceAttr ? verifyPiece : verifyNamed;
  return verify(op, attribute.getValue(), (function.*types)()[index], port);
}

LogicalResult DistDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  return verifyOnPort(op, attribute, &FunctionOpInterface::getArgumentTypes, index, "argument " + Twine(index));
}

LogicalResult DistDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                       NamedAttribute attribute) {
  return verifyOnPort(op, attribute, &FunctionOpInterface::getResultTypes, index, "result " + Twine(index));
}
