#include "test/gpu/image/FunctionTranslator.h"
#include "llvm/IR/Module.h"
#include <bit>

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

FunctionTranslator::FunctionTranslator(KernelContext &kernel, const ptx::Function &source, Function *target)
    : kernel(kernel), source(source), target(target), builder(target->getContext()) {}

llvm::Type *FunctionTranslator::hostType(Type type) {
  if (type.kind == ptx::Kind::Float && type.lanes == 1 && type.bits == 32) return builder.getFloatTy();
  if (type.kind == ptx::Kind::Float && type.lanes == 1 && type.bits == 64) return builder.getDoubleTy();
  return integerType(type.totalBits());
}

AllocaInst *FunctionTranslator::slot(llvm::Type *type, unsigned count) {
  // In the entry block, where LLVM's passes look for slots that they can make values of.
  IRBuilder<> entry(&target->getEntryBlock(), target->getEntryBlock().begin());
  return entry.CreateAlloca(type, entry.getInt32(count));
}

void FunctionTranslator::run() {
  LLVMContext &context = target->getContext();
  BasicBlock *entry = BasicBlock::Create(context, "entry", target);
  builder.SetInsertPoint(BasicBlock::Create(context, "body", target));
  for (const ptx::Register &reg : source.registers) registers.push_back(slot(hostType(reg.type)));
  carry = slot(builder.getInt1Ty());
  for (const std::string &label : source.labels) labels.push_back(BasicBlock::Create(context, label, target));
  if (!source.isEntry) {
    unsigned argument = 1;
    for (const ptx::Variable &result : source.results) parameters[result.name] = target->getArg(argument++);
    for (const ptx::Variable &parameter : source.parameters) parameters[parameter.name] = target->getArg(argument++);
  }
  for (const ptx::Variable &variable : source.variables) {
    if (variable.space != ptx::Space::Param) continue;
    AllocaInst *memory = slot(builder.getInt8Ty(), unsigned(variable.size));
    memory->setAlignment(Align(std::max(variable.alignment, 8u)));
    parameters[variable.name] = memory;
  }
  BasicBlock *body = builder.GetInsertBlock();
  for (const ptx::Statement &statement : source.body) {
    if (statement.form == ptx::Statement::Form::Label) {
      BasicBlock *block = labels[statement.index];
      builder.CreateBr(block);
      block->moveAfter(builder.GetInsertBlock());
      builder.SetInsertPoint(block);
    } else {
      instruction(statement.instruction);
    }
  }
  builder.CreateRetVoid();
  IRBuilder<>(entry).CreateBr(body);
}

void FunctionTranslator::startDeadBlock() {
  builder.SetInsertPoint(BasicBlock::Create(target->getContext(), "", target));
}

void FunctionTranslator::onlyIf(Value *condition, const std::function<void()> &body) {
  BasicBlock *then = BasicBlock::Create(target->getContext(), "", target),
             *after = BasicBlock::Create(target->getContext(), "", target);
  builder.CreateCondBr(condition, then, after);
  builder.SetInsertPoint(then);
  body();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

void FunctionTranslator::instruction(const ptx::Instruction &instruction) {
  Decoder decoder(instruction, kernel.module.file);
  Handler handler = findHandler(instruction.opcode);
  if (!handler) decoder.fail("the instruction is not known here");
  auto translate = [&] {
    (this->*handler)(decoder);
    decoder.finish();
  };
  if (instruction.guard < 0) return translate();
  Value *guard = builder.CreateLoad(builder.getInt1Ty(), registers[instruction.guard]);
  onlyIf(instruction.guardNegated ? builder.CreateNot(guard) : guard, translate);
}

// Fields of the thread and its table of hooks stay the same while a kernel runs.
Value *FunctionTranslator::selfField(size_t offset, llvm::Type *type) {
  LoadInst *load = builder.CreateLoad(type, builder.CreateConstGEP1_64(builder.getInt8Ty(), self(), offset));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(target->getContext(), {}));
  return load;
}

Value *FunctionTranslator::call(const Hook &hook, ArrayRef<Value *> arguments) {
  Value *hooks = selfField(offsetof(SprigGpuThread, hooks), builder.getPtrTy());
  LoadInst *function =
      builder.CreateLoad(builder.getPtrTy(), builder.CreateConstGEP1_64(builder.getInt8Ty(), hooks, hook.offset));
  function->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(target->getContext(), {}));
  CallInst *call = builder.CreateCall(hook.type(target->getContext()), function, arguments);
  call->setDoesNotThrow();
  if (hook.isPure) {
    call->setDoesNotAccessMemory();
    call->addFnAttr(Attribute::WillReturn);
  }
  return call;
}

Value *FunctionTranslator::toBits(Value *value) {
  if (value->getType()->isIntegerTy()) return value;
  return builder.CreateBitCast(value, integerType(value->getType()->getPrimitiveSizeInBits()));
}
FunctionTranslator::Value *FunctionTranslator::fromBits(Value *value, Type type) {
  return builder.CreateBitCast(value, hostType(type));
}

Value *FunctionTranslator::read(Decoder &decoder, const Operand &operand, Type type) {
  unsigned bits = type.totalBits();
  auto constant = [&](APInt value) { return fromBits(ConstantInt::get(target->getContext(), value), type); };
  switch (operand.form) {
  case Operand::Form::Register: {
    Value *value = toBits(builder.CreateLoad(registers[operand.index]->getAllocatedType(), registers[operand.index]));
    unsigned have = value->getType()->getIntegerBitWidth();
    if (have < bits)
      decoder.fail("register '" + source.registers[operand.index].name + "' has " + std::to_string(have) +
                   " bits, expected " + std::to_string(bits));
    return fromBits(builder.CreateTrunc(value, integerType(bits)), type);
  }
  case Operand::Form::Integer:
    if (type.isFloat() && hostType(type)->isFloatingPointTy())
      return ConstantFP::get(hostType(type), double(int64_t(operand.value)));
    return constant(APInt(64, operand.value, true, true).sextOrTrunc(bits));
  case Operand::Form::Float32:
    if (bits == 64)
      return ConstantFP::get(builder.getDoubleTy(), double(std::bit_cast<float>(uint32_t(operand.value))));
    return constant(APInt(64, operand.value).trunc(bits));
  case Operand::Form::Float64:
    if (bits == 32) return constant(APInt(32, std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.value)))));
    return constant(APInt(64, operand.value).zextOrTrunc(bits));
  case Operand::Form::Special:
    return builder.CreateZExtOrTrunc(specialRegister(decoder, operand.name), integerType(bits));
  case Operand::Form::Symbol: {
    if (operand.name == "WARP_SZ") return integer(bits, 32);
    Value *value = symbolAddress(decoder, operand.name).value;
    return builder.CreateTrunc(builder.CreateAdd(value, builder.getInt64(operand.value)), integerType(bits));
  }
  case Operand::Form::Predicate: return builder.CreateZExt(readPredicate(decoder, operand), integerType(bits));
  default: decoder.fail("expected a register or a constant of type " + ptx::typeName(type));
  }
}

void FunctionTranslator::write(Decoder &decoder, const Operand &operand, Value *value, Type type) {
  if (operand.form == Operand::Form::Sink) return;
  if (operand.form != Operand::Form::Register) decoder.fail("expected a register for the result");
  const ptx::Register &reg = source.registers[operand.index];
  Value *bits = toBits(value);
  unsigned have = reg.type.totalBits(), need = bits->getType()->getIntegerBitWidth();
  if (have < need)
    decoder.fail("register '" + reg.name + "' has " + std::to_string(have) + " bits, the result " +
                 std::to_string(need));
  bits = type.isSigned() ? builder.CreateSExt(bits, integerType(have)) : builder.CreateZExt(bits, integerType(have));
  builder.CreateStore(fromBits(bits, reg.type), registers[operand.index]);
  type.isFloat() ? void(ofFloats.insert(operand.index)) : void(ofFloats.erase(operand.index));
}

Value *FunctionTranslator::readPredicate(Decoder &decoder, const Operand &operand) {
  if (operand.form == Operand::Form::Integer) return builder.getInt1(operand.value != 0);
  if (operand.form != Operand::Form::Predicate) decoder.fail("expected a predicate");
  Value *value = builder.CreateLoad(builder.getInt1Ty(), registers[operand.index]);
  return operand.negated ? builder.CreateNot(value) : value;
}
void FunctionTranslator::writePredicate(Decoder &decoder, const Operand &operand, Value *value) {
  if (operand.form == Operand::Form::Sink) return;
  if (operand.form != Operand::Form::Predicate) decoder.fail("expected a predicate for the result");
  builder.CreateStore(value, registers[operand.index]);
}

Value *FunctionTranslator::byLanes(Type type, std::initializer_list<Value *> values,
                                   const std::function<Value *(Type, ArrayRef<Value *>)> &operation) {
  if (type.lanes == 1) return operation(type, ArrayRef<Value *>(values.begin(), values.size()));
  Type lane = type;
  lane.lanes = 1;
  Value *result = integer(type.totalBits(), 0);
  for (unsigned i = 0; i < type.lanes; ++i) {
    SmallVector<Value *> parts;
    for (Value *value : values)
      parts.push_back(value ? fromBits(builder.CreateTrunc(builder.CreateLShr(value, uint64_t(i) * type.bits),
                                                           integerType(type.bits)),
                                       lane)
                            : nullptr);
    Value *part = builder.CreateZExt(toBits(operation(lane, parts)), integerType(type.totalBits()));
    result = builder.CreateOr(result, builder.CreateShl(part, uint64_t(i) * type.bits));
  }
  return result;
}
