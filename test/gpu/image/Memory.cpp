// Addresses, loads, stores and atomic operations.
#include "test/gpu/image/FunctionTranslator.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

static constexpr ptx::Type u64{ptx::Kind::Unsigned, 64};

// An address in the space that the symbol is of.
FunctionTranslator::Address FunctionTranslator::symbolAddress(Decoder &decoder, const std::string &name) {
  auto base = [&](size_t field, uint64_t offset) {
    return builder.CreateAdd(builder.CreatePtrToInt(selfField(field, builder.getPtrTy()), builder.getInt64Ty()),
                             builder.getInt64(offset));
  };
  if (auto found = parameters.find(name); found != parameters.end())
    return {ptx::Space::Param, builder.CreatePtrToInt(found->second, builder.getInt64Ty())};
  if (source.isEntry)
    for (size_t i = 0; i < source.parameters.size(); ++i)
      if (source.parameters[i].name == name)
        return {ptx::Space::Param, base(offsetof(SprigGpuThread, parameters), kernel.layout.parameterOffsets[i])};
  for (const std::string &function : {source.name, std::string()}) {
    auto found = kernel.layout.places.find({function, name});
    if (found == kernel.layout.places.end()) continue;
    if (found->second.space == ptx::Space::Shared) return {ptx::Space::Shared, builder.getInt64(found->second.offset)};
    return {ptx::Space::Local, base(offsetof(SprigGpuThread, local), found->second.offset)};
  }
  if (auto found = kernel.moduleLayout.offsets.find(name); found != kernel.moduleLayout.offsets.end())
    return {kernel.module.findVariable(name)->space, base(offsetof(SprigGpuThread, variables), found->second)};
  decoder.fail("'" + name + "' is no variable whose address is known here");
}

FunctionTranslator::Address FunctionTranslator::address(Decoder &decoder, const Operand &operand, ptx::Space space) {
  if (operand.form != Operand::Form::Address) decoder.fail("expected an address in brackets");
  Value *offset = builder.getInt64(operand.value);
  if (operand.elements.empty()) return {space, offset};
  const Operand &base = operand.elements[0];
  if (base.form == Operand::Form::Symbol) {
    Address symbol = symbolAddress(decoder, base.name);
    if (space == ptx::Space::Generic)
      symbol = {ptx::Space::Generic, generic(symbol)};
    else if (symbol.space != space)
      decoder.fail("'" + base.name + "' is of another space");
    return {symbol.space, builder.CreateAdd(symbol.value, offset)};
  }
  // Addresses of spaces may be 32 bits wide. An offset is added in the width of the register.
  unsigned bits = source.registers[base.index].type.totalBits();
  if (bits != 32 && bits != 64) decoder.fail("an address of " + std::to_string(bits) + " bits");
  if (bits == 32 && space != ptx::Space::Shared) decoder.fail("an address of 32 bits is known only in shared memory");
  Value *value = read(decoder, base, {ptx::Kind::Unsigned, uint16_t(bits)});
  value = builder.CreateAdd(value, integer(bits, operand.value));
  return {space, builder.CreateZExt(value, builder.getInt64Ty())};
}

Value *FunctionTranslator::generic(Address address) {
  if (address.space != ptx::Space::Shared) return address.value;
  return builder.CreateAdd(
      builder.CreatePtrToInt(selfField(offsetof(SprigGpuThread, shared), builder.getPtrTy()), builder.getInt64Ty()),
      address.value);
}
Value *FunctionTranslator::pointer(Address address) {
  if (address.space == ptx::Space::Shared)
    return builder.CreateGEP(builder.getInt8Ty(), selfField(offsetof(SprigGpuThread, shared), builder.getPtrTy()),
                             address.value);
  return builder.CreateIntToPtr(address.value, builder.getPtrTy());
}

std::optional<ptx::Space> FunctionTranslator::space(Decoder &decoder) {
  // The window of the block itself; those of other blocks of a cluster are refused as unknown modifiers.
  decoder.take("cta");
  switch (decoder.takeOneOf(
      {"global", "shared", "local", "const", "param", "shared::cta", "param::entry", "param::func"})) {
  case 0: return ptx::Space::Global;
  case 1:
  case 5: return ptx::Space::Shared;
  case 2: return ptx::Space::Local;
  case 3: return ptx::Space::Const;
  case 4:
  case 6:
  case 7: return ptx::Space::Param;
  default: return std::nullopt;
  }
}

static uint32_t hostSpace(ptx::Space space) {
  switch (space) {
  case ptx::Space::Global: return SPRIG_GPU_GLOBAL;
  case ptx::Space::Shared: return SPRIG_GPU_SHARED;
  case ptx::Space::Local: return SPRIG_GPU_LOCAL;
  case ptx::Space::Const: return SPRIG_GPU_CONST;
  default: return SPRIG_GPU_GENERIC;
  }
}

void FunctionTranslator::access(Decoder &decoder, Address address, unsigned bytes, uint32_t flags) {
  if (!kernel.isChecked || address.space == ptx::Space::Param) return;
  call(hooks::access, {self(), address.value, code(bytes), code(flags | hostSpace(address.space)), line(decoder)});
}

// Hints that change no result.
void FunctionTranslator::cacheHints(Decoder &decoder) {
  while (decoder.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged",
                            "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B",
                            "L2::evict_first", "L2::evict_last", "L2::evict_normal"}) >= 0) {
  }
}

FunctionTranslator::Order FunctionTranslator::memoryOrder(Decoder &decoder) {
  Order order{false, MemoryOrder::Relaxed};
  decoder.take("weak");
  switch (decoder.takeOneOf({"volatile", "relaxed", "acquire", "release", "acq_rel"})) {
  case 0:
  case 1: order.isStrong = true; break;
  case 2: order = {true, MemoryOrder::Acquire}; break;
  case 3: order = {true, MemoryOrder::Release}; break;
  case 4: order = {true, MemoryOrder::AcquireRelease}; break;
  default: break;
  }
  if (order.isStrong) decoder.takeOneOf({"gpu", "sys"});
  kernel.orders |= order.isStrong;
  return order;
}

static unsigned vectorLength(Decoder &decoder) {
  int index = decoder.takeOneOf({"v2", "v4", "v8"});
  return index < 0 ? 1 : 2u << index;
}

void FunctionTranslator::load(Decoder &decoder) {
  decoder.operands(2, 2);
  Order order = memoryOrder(decoder);
  ptx::Space where = space(decoder).value_or(ptx::Space::Generic);
  cacheHints(decoder);
  unsigned count = vectorLength(decoder);
  Type type = decoder.type();
  Address from = address(decoder, decoder[1], where);
  uint32_t flags = order.isStrong ? uint32_t(SPRIG_GPU_STRONG) : 0;
  access(decoder, from, type.bytes() * count, flags);
  Value *base = pointer(from);
  bool isConstant = where == ptx::Space::Param && source.isEntry && decoder[1].elements.size() == 1 &&
                    decoder[1].elements[0].form == Operand::Form::Symbol &&
                    !parameters.count(decoder[1].elements[0].name);
  if (count > 1 && (decoder[0].form != Operand::Form::Vector || decoder[0].elements.size() != count))
    decoder.fail("expected " + std::to_string(count) + " registers in braces");
  SmallVector<Value *> values;
  for (unsigned i = 0; i < count; ++i) {
    // Aligned to bytes: whether the address is what PTX wants is for the checked version to say.
    LoadInst *value = builder.CreateAlignedLoad(
        hostType(type), builder.CreateConstGEP1_64(builder.getInt8Ty(), base, i * type.bytes()), Align(1));
    if (isConstant) value->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(target->getContext(), {}));
    values.push_back(value);
  }
  if (order.isStrong)
    call(hooks::order, {self(), from.value, code(flags | hostSpace(from.space)), code(order.order), line(decoder)});
  for (unsigned i = 0; i < count; ++i) write(decoder, count > 1 ? decoder[0].elements[i] : decoder[0], values[i], type);
}

void FunctionTranslator::store(Decoder &decoder) {
  decoder.operands(2, 2);
  Order order = memoryOrder(decoder);
  ptx::Space where = space(decoder).value_or(ptx::Space::Generic);
  cacheHints(decoder);
  unsigned count = vectorLength(decoder);
  Type type = decoder.type();
  Address to = address(decoder, decoder[0], where);
  if (count > 1 && (decoder[1].form != Operand::Form::Vector || decoder[1].elements.size() != count))
    decoder.fail("expected " + std::to_string(count) + " registers in braces");
  SmallVector<Value *> values;
  for (unsigned i = 0; i < count; ++i) {
    const Operand &value = count > 1 ? decoder[1].elements[i] : decoder[1];
    // PTX has the lowest bits stored; ptxas 13.0 stores the float as an integer of 8 or 16.
    if (value.form == Operand::Form::Register && type.bits <= 16 && ofFloats.contains(value.index) &&
        type.bits < source.registers[value.index].type.totalBits())
      decoder.fail("a part of register '" + source.registers[value.index].name +
                   "', which has a float: ptxas converts it instead");
    values.push_back(read(decoder, value, type));
  }
  uint32_t flags = SPRIG_GPU_WRITE | (order.isStrong ? uint32_t(SPRIG_GPU_STRONG) : 0);
  access(decoder, to, type.bytes() * count, flags);
  if (kernel.isChecked && order.isStrong)
    call(hooks::order, {self(), to.value, code(flags | hostSpace(to.space)), code(order.order), line(decoder)});
  Value *base = pointer(to);
  for (unsigned i = 0; i < count; ++i)
    builder.CreateAlignedStore(values[i], builder.CreateConstGEP1_64(builder.getInt8Ty(), base, i * type.bytes()),
                               Align(1));
}

static AtomicType atomicType(Decoder &decoder, ptx::Type type, AtomicOperation operation) {
  bool swaps = operation == AtomicOperation::Exchange || operation == AtomicOperation::CompareExchange;
  if (type.kind == ptx::Kind::Float && !swaps) {
    if (type.lanes == 2 && type.bits == 16) return AtomicType::F16x2;
    if (type.lanes == 1) return type.bits == 16 ? AtomicType::F16 : type.bits == 32 ? AtomicType::F32 : AtomicType::F64;
  }
  if (type.kind == ptx::Kind::BFloat && !swaps) return type.lanes == 2 ? AtomicType::BF16x2 : AtomicType::BF16;
  if (type.totalBits() == 16 && operation == AtomicOperation::CompareExchange) return AtomicType::B16;
  if (type.totalBits() == 32) return type.isSigned() ? AtomicType::S32 : AtomicType::U32;
  if (type.totalBits() == 64) return type.isSigned() ? AtomicType::S64 : AtomicType::U64;
  decoder.fail("atomic operations on " + ptx::typeName(type) + " are not known here");
}

static unsigned occurrences(const ptx::Operand &operand, unsigned reg) {
  bool isRegister = operand.form == ptx::Operand::Form::Register || operand.form == ptx::Operand::Form::Predicate;
  unsigned count = isRegister && operand.index == reg;
  for (const ptx::Operand &element : operand.elements) count += occurrences(element, reg);
  return count;
}

/// Whether the function names the register that an instruction writes a second time. Compilers write `atom` where
/// nobody looks at the old value, and leave it to ptxas to make `red` of it.
bool FunctionTranslator::isResultUsed(const Operand &result) const {
  if (result.form == Operand::Form::Sink) return false;
  if (result.form != Operand::Form::Register) return true;
  unsigned count = 0;
  for (const ptx::Statement &statement : source.body)
    for (const Operand &operand : statement.instruction.operands) count += occurrences(operand, result.index);
  return count > 1;
}

void FunctionTranslator::atomicOperation(Decoder &decoder, bool hasResult) {
  Order order = memoryOrder(decoder);
  kernel.orders = true;
  decoder.takeOneOf({"gpu", "sys", "cta"});
  ptx::Space where = space(decoder).value_or(ptx::Space::Generic);
  decoder.take("noftz");
  int index = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (index < 0) decoder.fail("the atomic operation is not known here");
  AtomicOperation operation = AtomicOperation(index);
  Type type = decoder.type();
  AtomicType kind = atomicType(decoder, type, operation);
  size_t first = hasResult ? 1 : 0, count = operation == AtomicOperation::CompareExchange ? 3 : 2;
  decoder.operands(first + count, first + count);
  Address at = address(decoder, decoder[first], where);
  auto operand = [&](size_t i) {
    return builder.CreateZExt(toBits(read(decoder, decoder[i], type)), builder.getInt64Ty());
  };
  Value *a = operand(first + 1), *b = count == 3 ? operand(first + 2) : builder.getInt64(0);
  bool usesOld = hasResult && isResultUsed(decoder[0]);
  uint32_t number = atomicCode(operation, kind, hostSpace(at.space), order.order, usesOld);
  Value *old = call(hooks::atomic, {self(), at.value, a, b, code(number), line(decoder)});
  if (hasResult)
    write(decoder, decoder[0], fromBits(builder.CreateTrunc(old, integerType(type.totalBits())), type), type);
}
void FunctionTranslator::atomic(Decoder &decoder) { atomicOperation(decoder, true); }
void FunctionTranslator::reduction(Decoder &decoder) { atomicOperation(decoder, false); }

void FunctionTranslator::convertAddress(Decoder &decoder) {
  decoder.operands(2, 2);
  bool toSpace = decoder.take("to");
  std::optional<ptx::Space> where = space(decoder);
  Type type = decoder.type();
  if (!where) decoder.fail("it names no space");
  Value *value = builder.CreateZExt(read(decoder, decoder[1], type), builder.getInt64Ty());
  if (*where == ptx::Space::Shared) {
    Value *window = generic({ptx::Space::Shared, builder.getInt64(0)});
    value = toSpace ? builder.CreateSub(value, window) : builder.CreateAdd(value, window);
  }
  write(decoder, decoder[0], builder.CreateTrunc(value, integerType(type.bits)), type);
}

void FunctionTranslator::isSpace(Decoder &decoder) {
  decoder.operands(2, 2);
  std::optional<ptx::Space> where = space(decoder);
  if (!where || *where == ptx::Space::Param) decoder.fail("it names no space that is known here");
  Value *value = read(decoder, decoder[1], u64);
  Value *result = call(hooks::isSpace, {self(), value, code(hostSpace(*where))});
  writePredicate(decoder, decoder[0], builder.CreateICmpNE(result, builder.getInt32(0)));
}

void FunctionTranslator::prefetch(Decoder &decoder) {
  decoder.operands(1, 1);
  space(decoder);
  decoder.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
}
