// One PTX function as LLVM IR, in the plain or the checked version. Registers are stack slots, which LLVM's own passes
// turn into values; an instruction is a handler, found by its first word in one table (Instructions.cpp).
#ifndef SPRIG_TEST_GPU_IMAGE_FUNCTIONTRANSLATOR_H
#define SPRIG_TEST_GPU_IMAGE_FUNCTIONTRANSLATOR_H

#include "test/gpu/image/Decoder.h"
#include "test/gpu/image/HookTypes.h"
#include "test/gpu/image/Layout.h"
#include "llvm/IR/IRBuilder.h"
#include <functional>

namespace sprig::gpu {

// What the functions of one kernel share.
struct KernelContext {
  const ptx::Module &module;
  const ModuleLayout &moduleLayout;
  const KernelLayout &layout;
  bool isChecked;
  llvm::Module &target;
  std::map<std::string, llvm::Function *> functions;
  bool cooperates = false; // threads meet: set by the first instruction that needs it
  bool orders = false;     // likewise by fences, strong accesses and atomic operations
};

class FunctionTranslator {
public:
  FunctionTranslator(KernelContext &kernel, const ptx::Function &source, llvm::Function *target);
  void run();

  using Handler = void (FunctionTranslator::*)(Decoder &);
  static Handler findHandler(const std::string &opcode);

private:
  using Type = ptx::Type;
  using Operand = ptx::Operand;
  using Value = llvm::Value;

  // FunctionTranslator.cpp: values of operands. Floats of 16 bits and packed types are integers of their bits, f32 and
  // f64 floats.
  llvm::Type *hostType(Type type);
  llvm::IntegerType *integerType(unsigned bits) { return builder.getIntNTy(bits); }
  Value *read(Decoder &decoder, const Operand &operand, Type type);
  void write(Decoder &decoder, const Operand &operand, Value *value, Type type);
  Value *readPredicate(Decoder &decoder, const Operand &operand);
  void writePredicate(Decoder &decoder, const Operand &operand, Value *value);
  Value *toBits(Value *value); // any value as an integer
  Value *fromBits(Value *value, Type type);
  Value *integer(unsigned bits, uint64_t value) { return llvm::ConstantInt::get(integerType(bits), value); }
  // The operation on each lane of a packed type.
  Value *byLanes(Type type, std::initializer_list<Value *> values,
                 const std::function<Value *(Type, llvm::ArrayRef<Value *>)> &operation);
  void instruction(const ptx::Instruction &instruction);
  Value *selfField(size_t offset, llvm::Type *type);
  Value *call(const Hook &hook, llvm::ArrayRef<Value *> arguments);
  Value *self() { return target->getArg(0); }
  Value *code(auto value) { return builder.getInt32(uint32_t(value)); }
  Value *line(Decoder &decoder) { return builder.getInt32(decoder.instruction.line); }
  llvm::AllocaInst *slot(llvm::Type *type, unsigned count = 1);
  Value *choose(Value *condition, Value *yes, Value *no) { return builder.CreateSelect(condition, yes, no); }
  void onlyIf(Value *condition, const std::function<void()> &body);
  void startDeadBlock();

  // Memory.cpp
  struct Address {
    ptx::Space space;
    Value *value; // 64 bits: an offset in shared memory, else the host's address
  };
  Address symbolAddress(Decoder &decoder, const std::string &name);
  Address address(Decoder &decoder, const Operand &operand, ptx::Space space);
  Value *pointer(Address address);
  Value *generic(Address address);
  std::optional<ptx::Space> space(Decoder &decoder);
  void access(Decoder &decoder, Address address, unsigned bytes, uint32_t flags);
  void cacheHints(Decoder &decoder);
  struct Order {
    bool isStrong;
    MemoryOrder order;
  };
  Order memoryOrder(Decoder &decoder);
  void load(Decoder &), store(Decoder &), atomic(Decoder &), reduction(Decoder &), convertAddress(Decoder &),
      isSpace(Decoder &), prefetch(Decoder &);
  void atomicOperation(Decoder &decoder, bool hasResult);
  bool isResultUsed(const Operand &result) const;

  // Move.cpp
  Value *specialRegister(Decoder &decoder, const std::string &name);
  void move(Decoder &), select(Decoder &), selectBySign(Decoder &), set(Decoder &), setPredicate(Decoder &);
  Value *compare(Decoder &decoder, const std::string &how, Value *a, Value *b, Type type, bool flush);
  Value *comparison(Decoder &decoder, Type type, bool flush, size_t first);

  // Control.cpp
  void branch(Decoder &), branchIndexed(Decoder &), callFunction(Decoder &), returnFrom(Decoder &),
      exitThread(Decoder &), trap(Decoder &), nothing(Decoder &);

  // Integer.cpp, Bits.cpp
  void add(Decoder &), subtract(Decoder &), multiply(Decoder &), multiplyAdd(Decoder &), divide(Decoder &),
      remainder(Decoder &), absolute(Decoder &), negate(Decoder &), minimum(Decoder &), maximum(Decoder &),
      addCarry(Decoder &), subtractCarry(Decoder &), sumOfDifferences(Decoder &), dotProduct(Decoder &),
      multiply24(Decoder &), multiplyAdd24(Decoder &);
  void addOrSubtract(Decoder &decoder, bool isSubtraction);
  void addOrSubtractInteger(Decoder &decoder, bool isSubtraction, bool usesCarry);
  void divideInteger(Decoder &decoder, Type type, bool isRemainder);
  void minimumOrMaximum(Decoder &decoder, bool isMaximum);
  Value *product(Decoder &decoder, Value *a, Value *b, Type type, int part);
  void bitwise(Decoder &), invert(Decoder &), isZero(Decoder &), shiftLeft(Decoder &), shiftRight(Decoder &),
      funnelShift(Decoder &), permute(Decoder &), lookup(Decoder &), population(Decoder &), leadingZeros(Decoder &),
      findLeading(Decoder &), reverseBits(Decoder &), extractField(Decoder &), insertField(Decoder &);
  Value *shiftedLeft(Value *value, Value *count);  // 0 from the width on
  Value *shiftedRight(Value *value, Value *count); // likewise
  Value *lowMask(unsigned bits, Value *count);

  // Float.cpp
  struct FloatMode {
    Rounding rounding = Rounding::Nearest;
    bool flush = false, saturate = false, relu = false;
  };
  FloatMode floatMode(Decoder &decoder, Type type);
  Value *flushed(Value *value, bool flush);
  Value *saturated(Value *value);
  Value *widen(Value *value, Type type); // f16, bf16 to f32; f32 and f64 stay
  Value *narrow(Value *value, Type type, Rounding rounding = Rounding::Nearest);
  Value *floatOperation(RoundedOperation operation, Type type, FloatMode mode, Value *a, Value *b, Value *c);
  void floatBinary(Decoder &decoder, RoundedOperation operation, Type type, bool negatesSecond);
  void floatDivide(Decoder &decoder, Type type);
  void floatSign(Decoder &decoder, Type type, bool isAbsolute);
  void floatMinimum(Decoder &decoder, Type type, bool isMaximum);
  void fusedMultiplyAdd(Decoder &), reciprocal(Decoder &), squareRoot(Decoder &), reciprocalRoot(Decoder &),
      approximate(Decoder &), testProperty(Decoder &), copySign(Decoder &);
  void multiplyAddFloat(Decoder &decoder, Type type);

  // Convert.cpp
  void convert(Decoder &);
  Value *integerToInteger(Value *value, Type from, Type to, bool saturate);
  Value *integerToFloat(Value *value, Type from, Type to, Rounding rounding);
  Value *floatToInteger(Value *value, Type to, Type from, int rounding);
  Value *roundToIntegral(Value *value, int rounding);

  // Warp.cpp
  void barrier(Decoder &), shuffle(Decoder &), vote(Decoder &), match(Decoder &), reduce(Decoder &),
      activeMask(Decoder &), fence(Decoder &), memoryBarrier(Decoder &), loadMatrix(Decoder &), storeMatrix(Decoder &),
      matrixMultiply(Decoder &), copyAsync(Decoder &);
  void warpBarrier(Decoder &decoder);
  Value *sharedOffset(Decoder &decoder, const Operand &operand);
  Value *storeWords(Decoder &decoder, const Operand &operand, unsigned least);
  void loadWords(Decoder &decoder, const Operand &operand, Value *from);

  KernelContext &kernel;
  const ptx::Function &source;
  llvm::Function *target;
  llvm::IRBuilder<> builder;
  std::vector<llvm::AllocaInst *> registers;
  std::set<size_t> ofFloats; // registers that an operation on floats has written last, in the order of the text
  std::vector<llvm::BasicBlock *> labels;
  std::map<std::string, Value *> parameters; // pointers: of a called function, and .param variables of bodies
  llvm::AllocaInst *carry = nullptr;
};

} // namespace sprig::gpu
#endif
