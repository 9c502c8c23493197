// Moves, selections and comparisons.
#include "test/gpu/image/FunctionTranslator.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

Value *FunctionTranslator::specialRegister(Decoder &decoder, const std::string &name) {
  auto field = [&](size_t offset) { return selfField(offset, builder.getInt32Ty()); };
  static const std::pair<const char *, size_t> vectors[] = {{"%tid", offsetof(SprigGpuThread, tid)},
                                                            {"%ntid", offsetof(SprigGpuThread, ntid)},
                                                            {"%ctaid", offsetof(SprigGpuThread, ctaid)},
                                                            {"%nctaid", offsetof(SprigGpuThread, nctaid)}};
  for (auto &[vector, offset] : vectors) {
    std::string prefix = std::string(vector) + ".";
    if (name.size() == prefix.size() + 1 && name.compare(0, prefix.size(), prefix) == 0)
      if (char axis = name.back(); axis >= 'x' && axis <= 'z') return field(offset + 4 * (axis - 'x'));
  }
  Value *lane = field(offsetof(SprigGpuThread, laneid)), *one = builder.getInt32(1),
        *bit = builder.CreateShl(one, lane);
  Value *below = builder.CreateSub(bit, one);
  if (name == "%laneid") return lane;
  if (name == "%warpid") return field(offsetof(SprigGpuThread, warpid));
  if (name == "%nwarpid") return field(offsetof(SprigGpuThread, nwarpid));
  if (name == "%gridid") return field(offsetof(SprigGpuThread, gridid));
  if (name == "%dynamic_smem_size") return field(offsetof(SprigGpuThread, dynamicSharedBytes));
  if (name == "%total_smem_size") return field(offsetof(SprigGpuThread, totalSharedBytes));
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return below;
  if (name == "%lanemask_le") return builder.CreateOr(bit, below);
  if (name == "%lanemask_ge") return builder.CreateNot(below);
  if (name == "%lanemask_gt") return builder.CreateNot(builder.CreateOr(bit, below));
  if (name == "%smid") return builder.getInt32(0);
  if (name == "%nsmid") return one;
  if (name == "%clock" || name == "%clock64" || name == "%globaltimer" || name == "%clock_hi") {
    Value *clock = call(hooks::clock, {self()});
    return name == "%clock_hi" ? builder.CreateLShr(clock, 32) : clock;
  }
  decoder.fail("the register '" + name + "' is not known here");
}

void FunctionTranslator::move(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  if (type.kind == ptx::Kind::Predicate) return writePredicate(decoder, decoder[0], readPredicate(decoder, decoder[1]));
  // mov.b64 {lo, hi}, x takes a register apart, mov.b64 x, {lo, hi} puts one together.
  auto elementType = [&](const Operand &vector) {
    if (vector.elements.empty() || type.totalBits() % vector.elements.size())
      decoder.fail("a type that cannot be split so");
    return Type{ptx::Kind::Bits, uint16_t(type.totalBits() / vector.elements.size())};
  };
  if (decoder[0].form == Operand::Form::Vector) {
    Type element = elementType(decoder[0]);
    Value *value = toBits(read(decoder, decoder[1], type));
    for (size_t i = 0; i < decoder[0].elements.size(); ++i)
      write(decoder, decoder[0].elements[i],
            builder.CreateTrunc(builder.CreateLShr(value, i * element.bits), integerType(element.bits)), element);
  } else if (decoder[1].form == Operand::Form::Vector) {
    Type element = elementType(decoder[1]);
    Value *value = integer(type.totalBits(), 0);
    for (size_t i = 0; i < decoder[1].elements.size(); ++i) {
      Value *part = builder.CreateZExt(read(decoder, decoder[1].elements[i], element), integerType(type.totalBits()));
      value = builder.CreateOr(value, builder.CreateShl(part, i * element.bits));
    }
    write(decoder, decoder[0], fromBits(value, type), type);
  } else {
    write(decoder, decoder[0], read(decoder, decoder[1], type), type);
  }
}

void FunctionTranslator::select(Decoder &decoder) {
  decoder.operands(4, 4);
  Type type = decoder.type();
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type);
  write(decoder, decoder[0], choose(readPredicate(decoder, decoder[3]), a, b), type);
}

// slct.dtype.ctype d, a, b, c: a where c >= 0, else b; NaN selects b.
void FunctionTranslator::selectBySign(Decoder &decoder) {
  decoder.operands(4, 4);
  bool flush = decoder.take("ftz");
  Type type = decoder.type(), signType = decoder.type();
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type),
        *c = read(decoder, decoder[3], signType);
  Value *isPositive = signType.isFloat() ? builder.CreateFCmpOGE(flushed(c, flush), ConstantFP::get(c->getType(), 0.0))
                                         : builder.CreateICmpSGE(c, builder.getInt32(0));
  write(decoder, decoder[0], choose(isPositive, a, b), type);
}

FunctionTranslator::Value *FunctionTranslator::compare(Decoder &decoder, const std::string &how, Value *a, Value *b,
                                                       Type type, bool flush) {
  using P = CmpInst::Predicate;
  struct Row {
    const char *name;
    P ofFloats, ofSigned, ofUnsigned;
  };
  constexpr P none = P::BAD_ICMP_PREDICATE;
  static const Row rows[] = {{"eq", P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ},
                             {"ne", P::FCMP_ONE, P::ICMP_NE, P::ICMP_NE},
                             {"lt", P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT},
                             {"le", P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE},
                             {"gt", P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT},
                             {"ge", P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE},
                             {"lo", none, none, P::ICMP_ULT},
                             {"ls", none, none, P::ICMP_ULE},
                             {"hi", none, none, P::ICMP_UGT},
                             {"hs", none, none, P::ICMP_UGE},
                             {"equ", P::FCMP_UEQ, none, none},
                             {"neu", P::FCMP_UNE, none, none},
                             {"ltu", P::FCMP_ULT, none, none},
                             {"leu", P::FCMP_ULE, none, none},
                             {"gtu", P::FCMP_UGT, none, none},
                             {"geu", P::FCMP_UGE, none, none},
                             {"num", P::FCMP_ORD, none, none},
                             {"nan", P::FCMP_UNO, none, none}};
  for (const Row &row : rows) {
    if (how != row.name) continue;
    P predicate = type.isFloat() ? row.ofFloats : type.isSigned() ? row.ofSigned : row.ofUnsigned;
    if (type.kind == ptx::Kind::Bits && how != "eq" && how != "ne") predicate = none;
    if (predicate == none) break;
    if (type.isFloat())
      return builder.CreateFCmp(predicate, flushed(widen(a, type), flush), flushed(widen(b, type), flush));
    return builder.CreateICmp(predicate, a, b);
  }
  decoder.fail("'." + how + "' does not compare " + ptx::typeName(type));
}

// The comparison that the modifiers name, of the operands `first` and the one behind it.
FunctionTranslator::Value *FunctionTranslator::comparison(Decoder &decoder, Type type, bool flush, size_t first) {
  static const char *const names[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                      "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (const char *name : names)
    if (decoder.take(name))
      return compare(decoder, name, read(decoder, decoder[first], type), read(decoder, decoder[first + 1], type), type,
                     flush);
  decoder.fail("it names no comparison that is known here");
}

static Value *combine(IRBuilderBase &builder, int how, Value *a, Value *b) {
  return how == 0 ? builder.CreateAnd(a, b) : how == 1 ? builder.CreateOr(a, b) : builder.CreateXor(a, b);
}

// setp.lt.and.f32 p|q, a, b, c: p = (a < b) and c, q = not (a < b) and c.
void FunctionTranslator::setPredicate(Decoder &decoder) {
  int how = decoder.takeOneOf({"and", "or", "xor"});
  decoder.operands(how < 0 ? 3 : 4, how < 0 ? 3 : 4);
  bool flush = decoder.take("ftz");
  Type type = decoder.type();
  if (type.lanes != 1) decoder.fail("comparisons of packed types are not known here");
  Value *result = comparison(decoder, type, flush, 1), *opposite = builder.CreateNot(result);
  if (how >= 0) {
    Value *other = readPredicate(decoder, decoder[3]);
    result = combine(builder, how, result, other);
    opposite = combine(builder, how, opposite, other);
  }
  if (decoder[0].form == Operand::Form::Pair) {
    writePredicate(decoder, decoder[0].elements[0], result);
    writePredicate(decoder, decoder[0].elements[1], opposite);
  } else {
    writePredicate(decoder, decoder[0], result);
  }
}

// set.lt.u32.f32 d, a, b: all ones or zeros, for a float type 1.0 or 0.0.
void FunctionTranslator::set(Decoder &decoder) {
  int how = decoder.takeOneOf({"and", "or", "xor"});
  decoder.operands(how < 0 ? 3 : 4, how < 0 ? 3 : 4);
  bool flush = decoder.take("ftz");
  Type type = decoder.type(), source = decoder.type();
  if (type.lanes != 1 || source.lanes != 1) decoder.fail("comparisons of packed types are not known here");
  Value *result = comparison(decoder, source, flush, 1);
  if (how >= 0) result = combine(builder, how, result, readPredicate(decoder, decoder[3]));
  Value *value = type.isFloat() ? narrow(builder.CreateUIToFP(result, builder.getFloatTy()), type)
                                : builder.CreateSExt(result, hostType(type));
  write(decoder, decoder[0], value, type);
}
