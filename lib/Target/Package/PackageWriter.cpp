#include "lib/Target/Package/PackageWriter.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/FetchedBytes.h"
#include "dialects/Interfaces/IndexRanges.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNState.h"
#include "lib/Target/OperationNames.h"
#include "lib/Target/Package/Compact.h"
#include "lib/Target/Package/Parts.h"
#include "runtime/format/Container.h"
#include "runtime/format/program_generated.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"
#include <deque>
#include <span>
#include <unordered_map>

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;
namespace fb = sprig::rt::fb;
namespace format = sprig::rt::format;

static FailureOr<fb::DType> dtypeOf(Type type) {
  if (type.isF64()) return fb::DType::F64;
  if (type.isF32()) return fb::DType::F32;
  if (type.isF16()) return fb::DType::F16;
  if (type.isBF16()) return fb::DType::BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer) return failure();
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 64: return isUnsigned ? fb::DType::U64 : fb::DType::I64;
  case 32: return isUnsigned ? fb::DType::U32 : fb::DType::I32;
  case 16: return isUnsigned ? fb::DType::U16 : fb::DType::I16;
  case 8: return isUnsigned ? fb::DType::U8 : fb::DType::I8;
  case 1: return fb::DType::I1;
  default: return failure();
  }
}

namespace {
class Writer {
public:
  explicit Writer(ModuleOp module) : module(module) {}

  LogicalResult addConstants();
  LogicalResult addKernels();
  LogicalResult addEntries();
  void addImages(ArrayRef<PackageImage> images);
  std::vector<uint8_t> finish(StringRef producer, ArrayRef<std::pair<std::string, std::string>> facts,
                              PackageSizes *sizes);

private:
  using Commands = std::vector<flatbuffers::Offset<fb::CommandBox>>;
  /// A command as its own kind of table.
  struct Encoded {
    fb::Command kind;
    flatbuffers::Offset<void> content;
    StringRef name = {};
  };

  uint64_t placeConstant(ArrayRef<char> bytes);
  uint32_t addExpanded(StringRef name, uint64_t size, CompactConstant compact);
  FailureOr<uint32_t> addConstant(Operation *op, StringRef name, ElementsAttr value);
  FailureOr<flatbuffers::Offset<fb::Tensor>> tensor(Operation *op, StringRef name, RankedTensorType type,
                                                    ArrayRef<int64_t> piece = {}, ArrayRef<int64_t> growing = {},
                                                    ArrayRef<int64_t> indexRanges = {});
  LogicalResult addEntry(ProgramOp program);
  FailureOr<std::vector<flatbuffers::Offset<fb::Tensor>>> ports(ProgramOp program, ArrayAttr names, ArrayAttr types,
                                                                ArrayAttr pieces, ArrayAttr growing,
                                                                ArrayAttr indexRanges = {});
  flatbuffers::Offset<flatbuffers::Vector<const fb::TileRange *>> ranges(KernelOp kernel);
  flatbuffers::Offset<fb::Buffer> buffer(BufferOp op);
  LogicalResult addLane(LaneOp op, std::vector<flatbuffers::Offset<fb::Lane>> &lanes);
  FailureOr<Encoded> encode(Operation *op);
  Encoded encode(exec::DispatchOp op);
  flatbuffers::Offset<flatbuffers::Vector<const fb::Touched *>> touched(exec::DispatchOp op, KernelOp kernel);
  using PartList = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Part>>>;
  PartList encode(ArrayRef<Part> list);
  Encoded encode(CopyOp op);
  FailureOr<Encoded> encode(CollectiveOp op);
  Encoded encode(RecordOp op);
  Encoded encode(WaitOp op);
  flatbuffers::Offset<flatbuffers::String> text(StringRef s) { return builder.CreateString(s.data(), s.size()); }
  // For what repeats, as entries for several sizes have the same layers.
  flatbuffers::Offset<flatbuffers::String> shared(StringRef s) {
    return builder.CreateSharedString(s.data(), s.size());
  }

  ModuleOp module;
  SymbolTableCollection symbols;
  flatbuffers::FlatBufferBuilder builder;
  std::deque<ir::ConstantView> views; // which what is placed lies in
  std::deque<std::vector<char>> streams;
  std::vector<std::tuple<uint32_t, uint64_t, format::Expansion>> expanded; // with their numbers among the constants
  std::vector<std::span<const uint8_t>> placed;
  uint64_t placedBytes = 0;
  struct Place {
    uint64_t offset;
    ArrayRef<char> bytes;
  };
  // By a hash of the content: equal bytes are stored once.
  std::unordered_map<uint64_t, SmallVector<Place, 1>> constantPlaces;
  std::vector<flatbuffers::Offset<fb::Constant>> constants;
  std::vector<flatbuffers::Offset<fb::State>> states;
  std::vector<flatbuffers::Offset<fb::Kernel>> kernels;
  std::vector<flatbuffers::Offset<fb::Image>> images;
  std::vector<flatbuffers::Offset<fb::Entry>> entries;
  std::vector<const LinkedImage *> imageSections;
  llvm::StringMap<uint32_t> constantIndex, stateIndex, kernelIndex, deviceIndex;
  std::vector<std::string> devices, architectures;
  std::vector<int64_t> ordinals;          // of the devices
  DenseMap<Value, uint32_t> bufferIndex;  // of the entry at hand
  DenseMap<Operation *, int64_t> fetched; // by its dispatches
};

FailureOr<uint32_t> Writer::addConstant(Operation *op, StringRef name, ElementsAttr value) {
  std::string reason;
  if (!ir::isReadableConstant(value, reason)) return op->emitError("constant '") << name << "' " << reason, failure();
  ir::ConstantView &view = views.emplace_back(value);
  uint64_t size = byteSize(value.getType());
  ArrayRef<char> bytes = view.bytes();
  uint64_t offset = 0;
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>> splat;
  if (view.isSplat() && size) {
    splat = builder.CreateVector(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  } else if (std::optional<CompactConstant> compact = compactForm(value)) {
    return addExpanded(name, size, std::move(*compact));
  } else if (size) {
    offset = placeConstant(bytes);
  }
  constants.push_back(fb::CreateConstant(builder, text(name), size, offset, splat));
  return uint32_t(constants.size() - 1);
}

// What is expanded alike, as entries for several sizes have it, is one constant: it is made once.
uint32_t Writer::addExpanded(StringRef name, uint64_t size, CompactConstant compact) {
  format::Expansion &e = compact.expansion;
  ArrayRef<char> bytes = compact.source ? views.emplace_back(compact.source).bytes()
                                        : ArrayRef<char>(streams.emplace_back(std::move(compact.bytes)));
  e.offset = placeConstant(bytes);
  for (const auto &[index, earlierSize, earlier] : expanded)
    if (earlierSize == size && earlier == e) return index;
  auto expansion =
      fb::CreateExpansionDirect(builder, fb::ExpansionForm(e.form), e.offset, e.size, fb::DType(e.dtype), e.width,
                                fb::Arrangement(e.arrangement), &e.shape, &e.strides, &e.down, &e.across);
  uint32_t index = uint32_t(constants.size());
  // Readers of 1.7 refuse the offset.
  constants.push_back(fb::CreateConstant(builder, text(name), size, /*offset=*/1, /*splat=*/0, expansion));
  expanded.emplace_back(index, size, std::move(e));
  return index;
}

uint64_t Writer::placeConstant(ArrayRef<char> bytes) {
  auto &places = constantPlaces[llvm::xxh3_64bits(StringRef(bytes.data(), bytes.size()))];
  for (const Place &place : places)
    if (place.bytes == bytes) return place.offset;
  places.push_back({placedBytes, bytes});
  placed.emplace_back(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  placedBytes += alignBuffer(bytes.size());
  return places.back().offset;
}

LogicalResult Writer::addConstants() {
  for (auto constant : module.getOps<ConstantOp>()) {
    auto index = addConstant(constant, constant.getSymName(), constant.getValue());
    if (failed(index)) return failure();
    constantIndex[constant.getSymName()] = *index;
  }
  for (auto param : module.getOps<ir::ParamOp>()) {
    auto initial = addConstant(param, param.getSymName(), param.getValue());
    if (failed(initial)) return failure();
    auto piece = param->getAttrOfType<DenseI64ArrayAttr>(ir::dist::kPieceAttr);
    auto type =
        tensor(param, param.getSymName(), param.getTensorType(), piece ? piece.asArrayRef() : ArrayRef<int64_t>());
    if (failed(type)) return failure();
    stateIndex[param.getSymName()] = states.size();
    states.push_back(fb::CreateState(builder, *type, *initial));
  }
  return success();
}

LogicalResult Writer::addKernels() {
  // Between lanes alone it counts what tiles touch: the others would carry it for nobody.
  llvm::DenseSet<Attribute> ofLanes;
  for (auto program : module.getOps<ProgramOp>())
    if (llvm::hasNItemsOrMore(program.getBody().getOps<LaneOp>(), 2))
      program.walk([&](exec::DispatchOp dispatch) { ofLanes.insert(dispatch.getKernelAttr().getAttr()); });
  for (KernelOp kernel : launchedKernels(module)) {
    std::vector<flatbuffers::Offset<flatbuffers::String>> names;
    for (const std::string &name : kernelOpNames(kernel)) names.push_back(text(name));
    kernelIndex[kernel.getSymName()] = kernels.size();
    auto opNames = builder.CreateVector(names);
    std::vector<uint8_t> modes;
    for (AccessMode mode : kernel.getOperandAccess(symbols)) modes.push_back(uint8_t(mode));
    auto access = builder.CreateVector(modes);
    flatbuffers::Offset<flatbuffers::Vector<const fb::TileRange *>> tiles;
    if (ofLanes.contains(kernel.getSymNameAttr())) tiles = ranges(kernel);
    kernels.push_back(fb::CreateKernel(builder, text(kernel.getSymName()), kernel.getScratch(),
                                       kernel.getOperandTypes().size(), opNames, access, tiles));
  }
  return success();
}

flatbuffers::Offset<flatbuffers::Vector<const fb::TileRange *>> Writer::ranges(KernelOp kernel) {
  if (!kernel.getRangesAttr()) return {};
  std::vector<fb::TileRange> list;
  for (TileRangeAttr range : kernel.tileRanges())
    list.emplace_back(range.getOperand(), range.getPer(), range.getFirst(), range.getStep(), range.getSize());
  return builder.CreateVectorOfStructs(list);
}

FailureOr<flatbuffers::Offset<fb::Tensor>> Writer::tensor(Operation *op, StringRef name, RankedTensorType type,
                                                          ArrayRef<int64_t> piece, ArrayRef<int64_t> growing,
                                                          ArrayRef<int64_t> indexRanges) {
  FailureOr<fb::DType> dtype = dtypeOf(type.getElementType());
  if (failed(dtype))
    return op->emitError("'") << name << "' has elements of type " << type.getElementType()
                              << ", which a package cannot hold",
           failure();
  auto shape = builder.CreateVector(type.getShape().data(), type.getRank());
  flatbuffers::Offset<flatbuffers::Vector<int64_t>> place;
  if (!piece.empty()) place = builder.CreateVector(piece.data(), piece.size());
  flatbuffers::Offset<flatbuffers::Vector<const fb::GrowingDim *>> dims;
  if (!growing.empty()) {
    std::vector<fb::GrowingDim> list;
    for (size_t i = 0; i < growing.size(); i += 4)
      list.emplace_back(uint32_t(growing[i]), growing[i + 1], growing[i + 2], growing[i + 3]);
    dims = builder.CreateVectorOfStructs(list);
  }
  flatbuffers::Offset<flatbuffers::Vector<int64_t>> ranges;
  if (!indexRanges.empty()) ranges = builder.CreateVector(indexRanges.data(), indexRanges.size());
  return fb::CreateTensor(builder, text(name), *dtype, shape, place, dims, ranges);
}

FailureOr<std::vector<flatbuffers::Offset<fb::Tensor>>> Writer::ports(ProgramOp program, ArrayAttr names,
                                                                      ArrayAttr types, ArrayAttr pieces,
                                                                      ArrayAttr growing, ArrayAttr indexRanges) {
  std::vector<flatbuffers::Offset<fb::Tensor>> result;
  for (auto [number, name, type] : llvm::enumerate(names, types)) {
    ArrayRef<int64_t> piece, dims, ranges;
    if (pieces) piece = cast<DenseI64ArrayAttr>(pieces[number]);
    if (growing && number < growing.size()) dims = cast<DenseI64ArrayAttr>(growing[number]);
    if (indexRanges && number < indexRanges.size()) ranges = cast<DenseI64ArrayAttr>(indexRanges[number]);
    auto port = tensor(program, cast<StringAttr>(name).getValue(),
                       cast<RankedTensorType>(cast<TypeAttr>(type).getValue()), piece, dims, ranges);
    if (failed(port)) return failure();
    result.push_back(*port);
  }
  return result;
}

flatbuffers::Offset<fb::Buffer> Writer::buffer(BufferOp op) {
  uint32_t index = op.getIndex().value_or(0);
  if (op.getKind() == BufferKind::constant) index = constantIndex.lookup(*op.getSource());
  if (op.getKind() == BufferKind::state) index = stateIndex.lookup(*op.getSource());
  fb::BufferKind kind = fb::BufferKind::Arena;
  switch (op.getKind()) {
  case BufferKind::arena: kind = fb::BufferKind::Arena; break;
  case BufferKind::input: kind = fb::BufferKind::Input; break;
  case BufferKind::output: kind = fb::BufferKind::Output; break;
  case BufferKind::constant: kind = fb::BufferKind::Constant; break;
  case BufferKind::state: kind = fb::BufferKind::State; break;
  }
  return fb::CreateBuffer(builder, kind, index, op.getOffset().value_or(0), byteSize(op.getType()),
                          text(op.getLabel().value_or("")), deviceIndex.lookup(op.getPlace().getValue()));
}

// A list of operations, which others ask CommandOpInterface instead of: each has a table of its own in the format, with
// fields of its own.
FailureOr<Writer::Encoded> Writer::encode(Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<Encoded>>(op)
      .Case<exec::DispatchOp, CopyOp, RecordOp, WaitOp, CollectiveOp>([&](auto command) { return encode(command); })
      .Default(
          [](Operation *other) { return other->emitOpError("is a command that a package cannot hold"), failure(); });
}

Writer::Encoded Writer::encode(exec::DispatchOp op) {
  auto kernel = symbols.lookupSymbolIn<KernelOp>(module, op.getKernelAttr());
  std::vector<uint32_t> operands;
  for (Value value : op.getBuffers()) operands.push_back(bufferIndex.lookup(value));
  auto buffers = builder.CreateVector(operands);
  auto partList = encode(partsOf(op, symbols));
  int64_t first = op.getFirstTile().value_or(0), end = op.getEndTile().value_or(kernel.getTiles());
  auto content = fb::CreateDispatch(builder, kernelIndex.lookup(kernel.getSymName()), buffers, end - first,
                                    kernel.getGrain(), kernel.getFlops(), kernel.getBytes(), partList, first,
                                    uint64_t(fetched.lookup(op)), touched(op, kernel));
  return {fb::Command::Dispatch, content.Union(), op.getTitle()};
}

flatbuffers::Offset<flatbuffers::Vector<const fb::Touched *>> Writer::touched(exec::DispatchOp op, KernelOp kernel) {
  std::vector<fb::Touched> list;
  for (auto [index, buffer, own] : llvm::enumerate(op.getBuffers(), kernel.getTouched(symbols))) {
    if (own.accesses || own.bytes < byteSize(buffer.getType()))
      list.emplace_back(uint32_t(index), uint64_t(own.bytes), uint64_t(own.accesses), uint64_t(own.accessedBytes),
                        uint64_t(own.spread));
  }
  return list.empty() ? 0 : builder.CreateVectorOfStructs(list);
}

Writer::PartList Writer::encode(ArrayRef<Part> list) {
  std::vector<flatbuffers::Offset<fb::Part>> parts;
  for (const Part &part : list) {
    auto name = shared(part.name), kind = shared(part.kind), shape = shared(part.shape), source = shared(part.source),
         factors = part.factors.empty() ? flatbuffers::Offset<flatbuffers::String>() : shared(part.factors);
    parts.push_back(fb::CreatePart(builder, name, kind, shape, source, part.flops, part.bytes, part.call,
                                   uint32_t(part.steps), uint64_t(part.repeated), factors));
  }
  return builder.CreateVector(parts);
}

Writer::Encoded Writer::encode(CopyOp op) {
  SmallVector<Part> parts = partsOf(op);
  PartList partList = parts.empty() ? PartList() : encode(parts);
  auto content =
      fb::CreateCopy(builder, bufferIndex.lookup(op.getSource()), bufferIndex.lookup(op.getTarget()), partList);
  return {fb::Command::Copy, content.Union(), "copy"};
}

// An all-reduce has a table of its own, which readers of 1.4 have, too.
FailureOr<Writer::Encoded> Writer::encode(CollectiveOp op) {
  std::vector<uint32_t> operands;
  for (Value value : op->getOperands()) operands.push_back(bufferIndex.lookup(value));
  flatbuffers::Optional<fb::Algorithm> algorithm;
  if (auto name = op.getAlgorithm()) {
    const char *const *names = fb::EnumNamesAlgorithm();
    const char *const *found = std::find_if(names, names + int(fb::Algorithm::MAX) + 1,
                                            [&](const char *each) { return name->equals_insensitive(each); });
    if (found == names + int(fb::Algorithm::MAX) + 1)
      return op.emitOpError("is by '") << *name << "', which no package can hold";
    algorithm = fb::Algorithm(found - names);
  }
  FailureOr<fb::DType> element = fb::DType::F32; // of a barrier, which has no elements
  if (!op.getBuffers().empty()) element = dtypeOf(cast<MemRefType>(op.getBuffers().front().getType()).getElementType());
  if (failed(element)) return op.emitOpError("is of a type that no package can hold");
  auto reduction = fb::Reduction(op.getReduction().value_or(Reduction::sum));
  auto buffers = builder.CreateVector(operands);
  if (op.getKind() == CollectiveKind::all_reduce && !op.getOver()) {
    auto content = fb::CreateAllReduce(builder, reduction, *element, algorithm, buffers);
    return Encoded{fb::Command::AllReduce, content.Union(), op.getTitle()};
  }
  static_assert(int(fb::CollectiveKind::MAX) == int(getMaxEnumValForCollectiveKind()));
  flatbuffers::Offset<flatbuffers::Vector<uint64_t>> units;
  if (op.getUnits()) units = builder.CreateVector(std::vector<uint64_t>(op.getUnits()->begin(), op.getUnits()->end()));
  auto content = fb::CreateCollective(builder, fb::CollectiveKind(op.getKind()), reduction, *element, algorithm,
                                      uint32_t(op.getRoot().value_or(0)), buffers, units);
  bool isOfRoot = op.getKind() == CollectiveKind::reduce || op.getKind() == CollectiveKind::gather;
  if (!op.getOver() && !isOfRoot) return Encoded{fb::Command::Collective, content.Union(), op.getTitle()};
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>> list;
  if (op.getOver()) {
    SmallVector<uint32_t> axes = *op->getParentOfType<ProgramOp>().findAxes(*op.getOver());
    list = builder.CreateVector(axes.data(), axes.size());
  }
  if (isOfRoot)
    return Encoded{fb::Command::RootCollective, fb::CreateRootCollective(builder, content, list).Union(),
                   op.getTitle()};
  return Encoded{fb::Command::AxesCollective, fb::CreateAxesCollective(builder, content, list).Union(), op.getTitle()};
}

Writer::Encoded Writer::encode(RecordOp op) {
  return {fb::Command::Record, fb::CreateRecord(builder, op.getEvent()).Union()};
}

Writer::Encoded Writer::encode(WaitOp op) {
  return {fb::Command::Wait, fb::CreateWait(builder, op.getEvent()).Union()};
}

LogicalResult Writer::addLane(LaneOp op, std::vector<flatbuffers::Offset<fb::Lane>> &lanes) {
  Commands commands;
  for (Operation &child : op.getBody().front()) {
    FailureOr<Encoded> encoded = encode(&child);
    if (failed(encoded)) return failure();
    commands.push_back(fb::CreateCommandBox(builder, encoded->kind, encoded->content, text(encoded->name)));
  }
  auto list = builder.CreateVector(commands);
  lanes.push_back(fb::CreateLane(builder, deviceIndex.lookup(op.getDevice()), list));
  return success();
}

LogicalResult Writer::addEntry(ProgramOp program) {
  if (!program.getArenas()) return program.emitOpError("has no planned memory, so cannot be packaged");
  auto stated = program->getAttrOfType<DictionaryAttr>(ir::kLengthsAttr);
  auto growing = [&](StringRef side) { return stated ? stated.getAs<ArrayAttr>(side) : ArrayAttr(); };
  auto inputs = ports(program, program.getInputNames(), program.getInputTypes(), program.getInputPiecesAttr(),
                      growing("inputs"), program->getAttrOfType<ArrayAttr>(kIndexRangesAttr));
  auto outputs = ports(program, program.getOutputNames(), program.getOutputTypes(), program.getOutputPiecesAttr(),
                       growing("outputs"));
  if (failed(inputs) || failed(outputs)) return failure();
  bufferIndex.clear();
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers;
  for (auto op : program.getBody().getOps<BufferOp>()) {
    bufferIndex[op.getResult()] = buffers.size();
    buffers.push_back(buffer(op));
  }
  fetched = fetchedBytes(program, symbols);
  std::vector<flatbuffers::Offset<fb::Lane>> lanes;
  for (auto op : program.getBody().getOps<LaneOp>())
    if (failed(addLane(op, lanes))) return failure();
  uint32_t events = 0;
  SmallVector<BufferAccess> accesses;
  program.walk([&](CommandOpInterface command) {
    if (auto event = command.getRecordedEvent()) events = std::max<uint32_t>(events, *event + 1);
    command.getAccesses(symbols, accesses);
  });
  bool updates = llvm::any_of(accesses, [](const BufferAccess &access) {
    return writes(access.mode) && access.buffer.getDefiningOp<BufferOp>().getKind() == BufferKind::state;
  });
  auto name = text(program.getEntry().value_or(program.getSymName()));
  auto inputList = builder.CreateVector(*inputs), outputList = builder.CreateVector(*outputs);
  auto bufferList = builder.CreateVector(buffers);
  auto laneList = builder.CreateVector(lanes);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Axis>>> mesh;
  if (program.getMeshAxes()) {
    std::vector<flatbuffers::Offset<fb::Axis>> axes;
    for (auto [axis, size] : llvm::zip_equal(program.getMeshAxes()->getAsRange<StringAttr>(), *program.getMeshSizes()))
      axes.push_back(fb::CreateAxis(builder, text(axis.getValue()), uint32_t(size)));
    mesh = builder.CreateVector(axes);
  }
  flatbuffers::Offset<fb::Lengths> lengths;
  if (stated)
    lengths =
        fb::CreateLengths(builder, text(stated.getAs<StringAttr>("axis").getValue()),
                          stated.getAs<IntegerAttr>("first").getInt(), stated.getAs<IntegerAttr>("last").getInt());
  ArrayRef<int64_t> arenas = *program.getArenas();
  flatbuffers::Offset<flatbuffers::Vector<uint64_t>> moreArenas;
  if (arenas.size() > 1) moreArenas = builder.CreateVector(std::vector<uint64_t>(arenas.begin() + 1, arenas.end()));
  entries.push_back(fb::CreateEntry(
      builder, name, inputList, outputList, bufferList, arenas.empty() ? 0 : arenas[0], events, laneList,
      program.getIndependentSamples(), updates, moreArenas, uint32_t(program.getRanks().value_or(0)),
      program.getRank() ? int32_t(*program.getRank()) : -1, program.getSamplesOfRanks().value_or(0), mesh, lengths));
  return success();
}

LogicalResult Writer::addEntries() {
  for (auto device : module.getOps<DeviceOp>()) {
    deviceIndex[device.getSymName()] = devices.size();
    devices.push_back(device.getKind().str());
    architectures.push_back(device.getArchitecture().value_or("").str());
    ordinals.push_back(device.getOrdinal());
  }
  // A reader of format 1.0 takes a device for a kind, and knows no two of them.
  if (devices.size() > 1 || llvm::any_of(ordinals, [](int64_t ordinal) { return ordinal != 0; }))
    for (auto [device, ordinal] : llvm::zip_equal(devices, ordinals)) device += ":" + std::to_string(ordinal);
  for (auto program : module.getOps<ProgramOp>())
    if (failed(addEntry(program))) return failure();
  return success();
}

void Writer::addImages(ArrayRef<PackageImage> list) {
  for (const PackageImage &item : list) {
    std::vector<uint64_t> symbols, symbolSizes;
    std::vector<std::string> entryPoints;
    std::vector<fb::LaunchShape> launches;
    bool byName = !item.image.launches.empty();
    assert((!byName || item.image.launches.size() == item.image.symbols.size()) && "a shape for each kernel");
    for (const LinkedImage::Symbol &symbol : item.image.symbols) {
      if (byName) {
        entryPoints.push_back(symbol.name);
        continue;
      }
      symbols.push_back(symbol.offset);
      symbolSizes.push_back(symbol.size);
    }
    for (const LaunchShape &launch : item.image.launches) launches.emplace_back(launch.threads, launch.sharedBytes);
    std::vector<flatbuffers::Offset<fb::Import>> imports;
    for (const LinkedImage::Import &import : item.image.imports)
      imports.push_back(fb::CreateImport(builder, text(import.call), import.slot));
    auto features = builder.CreateVectorOfStrings(item.features);
    // Sections: metadata, constants, then the images.
    uint32_t section = 2 + imageSections.size();
    auto isa = text(item.architecture);
    auto symbolList = builder.CreateVector(symbols), sizeList = builder.CreateVector(symbolSizes);
    auto importList = builder.CreateVector(imports);
    std::vector<flatbuffers::Offset<fb::Function>> functions;
    for (const LinkedImage::Symbol &function : item.image.functions)
      functions.push_back(fb::CreateFunction(builder, shared(function.name), function.offset, function.size));
    auto functionList = builder.CreateVector(functions);
    flatbuffers::Offset<flatbuffers::String> kind; // without one it is for a CPU, as in format 1.0
    if (item.kind != "cpu") kind = shared(item.kind);
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> entryPointList;
    flatbuffers::Offset<flatbuffers::Vector<const fb::LaunchShape *>> launchList;
    if (byName) {
      entryPointList = builder.CreateVectorOfStrings(entryPoints);
      launchList = builder.CreateVectorOfStructs(launches);
    }
    images.push_back(fb::CreateImage(builder, isa, features, section, item.image.codeSize, symbolList, sizeList,
                                     importList, functionList, kind, entryPointList, launchList));
    imageSections.push_back(&item.image);
  }
}

std::vector<uint8_t> Writer::finish(StringRef producer, ArrayRef<std::pair<std::string, std::string>> facts,
                                    PackageSizes *sizes) {
  std::vector<flatbuffers::Offset<fb::BuildFact>> factList;
  for (const auto &[key, value] : facts) {
    auto keyText = text(key), valueText = text(value);
    factList.push_back(fb::CreateBuildFact(builder, keyText, valueText));
  }
  auto producerText = text(producer);
  auto entryList = builder.CreateVector(entries);
  auto kernelList = builder.CreateVector(kernels);
  auto constantList = builder.CreateVector(constants);
  auto stateList = builder.CreateVector(states);
  auto imageList = builder.CreateVector(images);
  auto deviceList = builder.CreateVectorOfStrings(devices);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>> architectureList;
  if (llvm::any_of(architectures, [](const std::string &name) { return !name.empty(); }))
    architectureList = builder.CreateVectorOfStrings(architectures);
  auto allFacts = builder.CreateVector(factList);
  builder.Finish(fb::CreatePackage(builder, producerText, entryList, kernelList, constantList, stateList, imageList,
                                   deviceList, allFacts, architectureList),
                 fb::PackageIdentifier());

  std::vector<format::SectionBytes> sections;
  sections.push_back({format::SectionKind::Metadata, {builder.GetBufferPointer(), builder.GetSize()}});
  sections.push_back({format::SectionKind::Constants, {}, placed});
  size_t code = 0;
  for (const LinkedImage *image : imageSections) {
    sections.push_back({format::SectionKind::Image, image->bytes});
    code += image->bytes.size();
  }
  std::vector<uint8_t> file = format::writeContainer(sections);
  if (sizes) *sizes = {builder.GetSize(), placedBytes, code, file.size()};
  return file;
}
} // namespace

FailureOr<std::vector<uint8_t>> sprig::writePackage(ModuleOp program, ArrayRef<PackageImage> images, StringRef producer,
                                                    ArrayRef<std::pair<std::string, std::string>> facts,
                                                    PackageSizes *sizes) {
  Writer writer(program);
  if (failed(writer.addConstants()) || failed(writer.addKernels()) || failed(writer.addEntries())) return failure();
  writer.addImages(images);
  return writer.finish(producer, facts, sizes);
}
