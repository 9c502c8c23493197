// What threads do together: barriers, warp operations, matrices, asynchronous copies. Each is a call of the emulator.
#include "test/gpu/image/FunctionTranslator.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

static constexpr ptx::Type word{ptx::Kind::Unsigned, 32}, b32{ptx::Kind::Bits, 32};

// bar{.cta}.sync a{, b}; bar.arrive a, b; bar.red.op d, a{, b}, {!}c; bar.warp.sync mask; barrier likewise, which is
// `aligned` only where it says so.
void FunctionTranslator::barrier(Decoder &decoder) {
  kernel.cooperates = true;
  bool isAligned = decoder.instruction.opcode == "bar";
  isAligned |= decoder.take("aligned");
  if (decoder.take("warp")) return warpBarrier(decoder);
  decoder.take("cta");
  int what = decoder.takeOneOf({"sync", "arrive", "red"});
  uint32_t aligned = isAligned ? alignedBarrier : 0;
  auto value = [&](size_t i) { return read(decoder, decoder[i], word); };
  if (what == 0) {
    decoder.operands(1, 2);
    call(hooks::barrier, {self(), value(0), decoder.size() > 1 ? value(1) : code(0),
                          code(uint32_t(BarrierMode::Sync) | aligned), code(0), line(decoder)});
  } else if (what == 1) {
    decoder.operands(2, 2);
    call(hooks::barrier,
         {self(), value(0), value(1), code(uint32_t(BarrierMode::Arrive) | aligned), code(0), line(decoder)});
  } else if (what == 2) {
    decoder.operands(3, 4);
    int operation = decoder.takeOneOf({"and", "or", "popc"});
    decoder.takeOneOf({"pred", "u32"});
    if (operation < 0) decoder.fail("expected .and, .or or .popc");
    BarrierMode modes[] = {BarrierMode::And, BarrierMode::Or, BarrierMode::Popc};
    Value *predicate = builder.CreateZExt(readPredicate(decoder, decoder[decoder.size() - 1]), builder.getInt32Ty());
    Value *count = decoder.size() == 4 ? value(2) : code(0);
    Value *result = call(hooks::barrier, {self(), value(1), count, code(uint32_t(modes[operation]) | aligned),
                                          predicate, line(decoder)});
    if (operation == 2)
      write(decoder, decoder[0], result, word);
    else
      writePredicate(decoder, decoder[0], builder.CreateICmpNE(result, code(0)));
  } else {
    decoder.fail("expected .sync, .arrive, .red or .warp.sync");
  }
}
void FunctionTranslator::warpBarrier(Decoder &decoder) {
  if (!decoder.take("sync")) decoder.fail("expected .sync");
  decoder.operands(1, 1);
  call(hooks::warpBarrier, {self(), read(decoder, decoder[0], word), line(decoder)});
}

// shfl.sync.mode.b32 d{|p}, a, lane, clamp, mask
void FunctionTranslator::shuffle(Decoder &decoder) {
  kernel.cooperates = true;
  if (!decoder.take("sync")) decoder.fail("only shfl.sync is known here");
  int mode = decoder.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0) decoder.fail("expected .up, .down, .bfly or .idx");
  decoder.operands(5, 5);
  Type type = decoder.type();
  Value *both = call(hooks::shuffle,
                     {self(), code(mode), toBits(read(decoder, decoder[1], type)), read(decoder, decoder[2], word),
                      read(decoder, decoder[3], word), read(decoder, decoder[4], word), line(decoder)});
  bool hasPredicate = decoder[0].form == Operand::Form::Pair;
  write(decoder, hasPredicate ? decoder[0].elements[0] : decoder[0], builder.CreateTrunc(both, builder.getInt32Ty()),
        b32);
  if (hasPredicate)
    writePredicate(decoder, decoder[0].elements[1],
                   builder.CreateTrunc(builder.CreateLShr(both, 32), builder.getInt1Ty()));
}

void FunctionTranslator::vote(Decoder &decoder) {
  kernel.cooperates = true;
  if (!decoder.take("sync")) decoder.fail("only vote.sync is known here");
  int mode = decoder.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0) decoder.fail("expected .all, .any, .uni or .ballot");
  decoder.operands(3, 3);
  decoder.type();
  Value *predicate = builder.CreateZExt(readPredicate(decoder, decoder[1]), builder.getInt32Ty());
  Value *result = call(hooks::vote, {self(), code(mode), predicate, read(decoder, decoder[2], word), line(decoder)});
  if (mode == 3)
    write(decoder, decoder[0], result, b32);
  else
    writePredicate(decoder, decoder[0], builder.CreateICmpNE(result, code(0)));
}

void FunctionTranslator::match(Decoder &decoder) {
  kernel.cooperates = true;
  int mode = decoder.takeOneOf({"any", "all"});
  if (!decoder.take("sync") || mode < 0) decoder.fail("expected .any or .all, and .sync");
  decoder.operands(3, 3);
  Type type = decoder.type();
  Value *value = builder.CreateZExt(read(decoder, decoder[1], type), builder.getInt64Ty());
  Value *result = call(hooks::match, {self(), code(mode), value, read(decoder, decoder[2], word), line(decoder)});
  bool hasPredicate = decoder[0].form == Operand::Form::Pair;
  write(decoder, hasPredicate ? decoder[0].elements[0] : decoder[0], builder.CreateTrunc(result, builder.getInt32Ty()),
        b32);
  if (hasPredicate) writePredicate(decoder, decoder[0].elements[1], builder.CreateICmpNE(result, builder.getInt64(0)));
}

void FunctionTranslator::reduce(Decoder &decoder) {
  kernel.cooperates = true;
  if (!decoder.take("sync")) decoder.fail("expected .sync");
  int operation = decoder.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  decoder.operands(3, 3);
  Type type = decoder.type();
  if (operation < 0 || type.totalBits() != 32 || type.isFloat()) decoder.fail("this reduction is not known here");
  bool isSigned = type.isSigned();
  ReduceOperation operations[] = {ReduceOperation::Add,
                                  isSigned ? ReduceOperation::MinSigned : ReduceOperation::MinUnsigned,
                                  isSigned ? ReduceOperation::MaxSigned : ReduceOperation::MaxUnsigned,
                                  ReduceOperation::And,
                                  ReduceOperation::Or,
                                  ReduceOperation::Xor};
  Value *result = call(hooks::reduce, {self(), code(operations[operation]), read(decoder, decoder[1], type),
                                       read(decoder, decoder[2], word), line(decoder)});
  write(decoder, decoder[0], result, type);
}

void FunctionTranslator::activeMask(Decoder &decoder) {
  decoder.operands(1, 1);
  decoder.type();
  write(decoder, decoder[0], call(hooks::activeMask, {self(), line(decoder)}), b32);
}

void FunctionTranslator::memoryBarrier(Decoder &decoder) {
  decoder.operands(0, 0);
  int scope = decoder.takeOneOf({"cta", "gl", "sys"});
  if (scope < 0) decoder.fail("expected .cta, .gl or .sys");
  kernel.orders = true;
  call(hooks::fence, {self(), code(scope), line(decoder)});
}
void FunctionTranslator::fence(Decoder &decoder) {
  decoder.operands(0, 0);
  decoder.takeOneOf({"sc", "acq_rel"});
  int scope = decoder.takeOneOf({"cta", "gpu", "sys"});
  if (scope < 0) decoder.fail("this fence is not known here");
  kernel.orders = true;
  call(hooks::fence, {self(), code(scope), line(decoder)});
}

// The offset in shared memory that an address operand means, also where it is a generic address.
Value *FunctionTranslator::sharedOffset(Decoder &decoder, const Operand &operand) {
  bool isShared = decoder.takeOneOf({"shared", "shared::cta"}) >= 0;
  Address at = address(decoder, operand, isShared ? ptx::Space::Shared : ptx::Space::Generic);
  return isShared ? at.value : builder.CreateSub(at.value, generic({ptx::Space::Shared, builder.getInt64(0)}));
}

// The 32-bit registers of a vector operand (or of one register) as an array in memory.
Value *FunctionTranslator::storeWords(Decoder &decoder, const Operand &operand, unsigned least) {
  bool isVector = operand.form == Operand::Form::Vector;
  size_t count = isVector ? operand.elements.size() : 1;
  if (count != least) decoder.fail("expected " + std::to_string(least) + " registers, got " + std::to_string(count));
  AllocaInst *words = slot(builder.getInt32Ty(), unsigned(count));
  for (size_t i = 0; i < count; ++i) {
    const Operand &element = isVector ? operand.elements[i] : operand;
    builder.CreateStore(read(decoder, element, b32), builder.CreateConstGEP1_64(builder.getInt32Ty(), words, i));
  }
  return words;
}
void FunctionTranslator::loadWords(Decoder &decoder, const Operand &operand, Value *from) {
  bool isVector = operand.form == Operand::Form::Vector;
  for (size_t i = 0; i < (isVector ? operand.elements.size() : 1); ++i)
    write(decoder, isVector ? operand.elements[i] : operand,
          builder.CreateLoad(builder.getInt32Ty(), builder.CreateConstGEP1_64(builder.getInt32Ty(), from, i)), b32);
}

static unsigned matrixCount(Decoder &decoder) {
  if (!decoder.take("sync") || !decoder.take("aligned")) decoder.fail("expected .sync.aligned");
  if (!decoder.take("m8n8")) decoder.fail("only matrices of shape .m8n8 are known here");
  int index = decoder.takeOneOf({"x1", "x2", "x4"});
  if (index < 0 || !decoder.take("b16")) decoder.fail("expected .x1, .x2 or .x4, and .b16");
  return 1u << index;
}
void FunctionTranslator::loadMatrix(Decoder &decoder) {
  kernel.cooperates = true;
  decoder.operands(2, 2);
  unsigned count = matrixCount(decoder);
  bool isTransposed = decoder.take("trans");
  AllocaInst *words = slot(builder.getInt32Ty(), count);
  call(hooks::loadMatrix,
       {self(), sharedOffset(decoder, decoder[1]), code(count), code(isTransposed), words, line(decoder)});
  if ((decoder[0].form == Operand::Form::Vector ? decoder[0].elements.size() : 1) != count)
    decoder.fail("expected " + std::to_string(count) + " registers");
  loadWords(decoder, decoder[0], words);
}
void FunctionTranslator::storeMatrix(Decoder &decoder) {
  kernel.cooperates = true;
  decoder.operands(2, 2);
  unsigned count = matrixCount(decoder);
  bool isTransposed = decoder.take("trans");
  Value *words = storeWords(decoder, decoder[1], count);
  call(hooks::storeMatrix,
       {self(), sharedOffset(decoder, decoder[0]), code(count), code(isTransposed), words, line(decoder)});
}

// mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c
void FunctionTranslator::matrixMultiply(Decoder &decoder) {
  kernel.cooperates = true;
  decoder.operands(4, 4);
  if (!decoder.take("sync") || !decoder.take("aligned") || !decoder.take("row") || !decoder.take("col"))
    decoder.fail("expected .sync.aligned and .row.col");
  struct Shape {
    const char *name;
    ptx::Kind kind;
    unsigned bits, a, b;
    MatrixKind code;
  };
  static const Shape shapes[] = {{"m16n8k4", ptx::Kind::TFloat, 32, 2, 1, MatrixKind::M16N8K4Tf32},
                                 {"m16n8k8", ptx::Kind::TFloat, 32, 4, 2, MatrixKind::M16N8K8Tf32},
                                 {"m16n8k8", ptx::Kind::Float, 16, 2, 1, MatrixKind::M16N8K8F16},
                                 {"m16n8k8", ptx::Kind::BFloat, 16, 2, 1, MatrixKind::M16N8K8BF16},
                                 {"m16n8k16", ptx::Kind::Float, 16, 4, 2, MatrixKind::M16N8K16F16},
                                 {"m16n8k16", ptx::Kind::BFloat, 16, 4, 2, MatrixKind::M16N8K16BF16},
                                 {"m16n8k16", ptx::Kind::Signed, 8, 2, 1, MatrixKind::M16N8K16S8},
                                 {"m16n8k32", ptx::Kind::Signed, 8, 4, 2, MatrixKind::M16N8K32S8}};
  bool saturate = decoder.take("satfinite");
  Type d = decoder.type(), a = decoder.type(), b = decoder.type(), c = decoder.type();
  auto kindOf = [](Type type) { return type.kind == ptx::Kind::Unsigned ? ptx::Kind::Signed : type.kind; };
  for (const Shape &shape : shapes) {
    if (kindOf(a) != shape.kind || kindOf(b) != shape.kind || a.bits != shape.bits || b.bits != shape.bits ||
        !decoder.take(shape.name))
      continue;
    bool isInteger = shape.bits == 8, isHalf = d == Type{ptx::Kind::Float, 16} && shape.kind == ptx::Kind::Float;
    Type accumulator = isInteger ? Type{ptx::Kind::Signed, 32} : Type{ptx::Kind::Float, 32};
    if (c != d || (!isHalf && d != accumulator) || (saturate && !isInteger))
      decoder.fail("this kind of product is not known here");
    uint32_t kind = uint32_t(shape.code) | (isHalf ? matrixHalfAccumulator : 0) |
                    (isInteger && !a.isSigned() ? matrixUnsignedA : 0) |
                    (isInteger && !b.isSigned() ? matrixUnsignedB : 0) | (saturate ? matrixSaturate : 0);
    unsigned words = isHalf ? 2 : 4;
    AllocaInst *result = slot(builder.getInt32Ty(), words);
    call(hooks::multiply,
         {self(), code(kind), storeWords(decoder, decoder[1], shape.a), storeWords(decoder, decoder[2], shape.b),
          storeWords(decoder, decoder[3], words), result, line(decoder)});
    if (decoder[0].form != Operand::Form::Vector || decoder[0].elements.size() != words)
      decoder.fail("expected " + std::to_string(words) + " results");
    return loadWords(decoder, decoder[0], result);
  }
  decoder.fail("this kind of product is not known here");
}

// cp.async.ca|cg.shared.global [to], [from], bytes{, sourceBytes}; .commit_group; .wait_group n; .wait_all
void FunctionTranslator::copyAsync(Decoder &decoder) {
  if (!decoder.take("async")) decoder.fail("only cp.async is known here");
  if (decoder.take("commit_group")) {
    call(hooks::commitCopies, {self(), line(decoder)});
  } else if (decoder.take("wait_group")) {
    decoder.operands(1, 1);
    call(hooks::waitCopies, {self(), code(decoder.constant(0)), line(decoder)});
  } else if (decoder.take("wait_all")) {
    call(hooks::commitCopies, {self(), line(decoder)});
    call(hooks::waitCopies, {self(), code(0), line(decoder)});
  } else {
    decoder.operands(3, 4);
    bool isWide = decoder.take("cg");
    if (!isWide && !decoder.take("ca")) decoder.fail("this copy is not known here");
    cacheHints(decoder);
    Value *to = sharedOffset(decoder, decoder[0]);
    decoder.take("global");
    Value *from = address(decoder, decoder[1], ptx::Space::Global).value;
    uint64_t bytes = decoder.constant(2);
    if (bytes != 16 && (isWide || (bytes != 4 && bytes != 8)))
      decoder.fail("a copy of " + std::to_string(bytes) + " bytes");
    Value *sourceBytes = code(bytes);
    if (decoder.size() == 4) {
      // The number of bytes to read, or a predicate that asks to read none.
      if (decoder[3].form == Operand::Form::Predicate)
        sourceBytes = choose(readPredicate(decoder, decoder[3]), code(0), code(bytes));
      else
        sourceBytes = read(decoder, decoder[3], word);
    }
    call(hooks::copyAsync, {self(), to, from, code(bytes), sourceBytes, line(decoder)});
  }
}
