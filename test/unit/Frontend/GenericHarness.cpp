#include "test/unit/Frontend/GenericHarness.h"
#include "sprig/compile.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace sprig::frontend {

void Block::Free::operator()(char *p) const { std::free(p); }

Block::Block(const TensorType &type) : type(type) {
  size_t bytes = std::max<size_t>(128, (size_t(type.bytes()) + 63) / 64 * 64);
  memory.reset(static_cast<char *>(std::aligned_alloc(64, bytes)));
  std::memset(memory.get(), 0xa5, bytes); // what lies after the elements is no number that would do
}

static std::mt19937 &random() {
  static std::mt19937 generator(7);
  return generator;
}

static uint16_t bf16Of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return uint16_t(bits >> 16);
}

// Writes numbers that `next` gives, converted to the elements' type.
static void write(Block &block, const std::function<double()> &next) {
  int64_t count = block.type.elements();
  for (int64_t i = 0; i < count; ++i) {
    double value = next();
    // Conversions out of range are undefined in C++.
    int64_t whole = std::isfinite(value) && std::abs(value) < 9e18 ? int64_t(value) : 0;
    switch (block.type.dtype) {
    case DType::f64: block.as<double>()[i] = value; break;
    case DType::f32: block.as<float>()[i] = float(value); break;
    case DType::f16: {
      _Float16 half = _Float16(float(value));
      std::memcpy(block.as<uint16_t>() + i, &half, 2);
      break;
    }
    case DType::bf16: block.as<uint16_t>()[i] = bf16Of(float(value)); break;
    case DType::i64:
    case DType::u64: block.as<int64_t>()[i] = whole; break;
    case DType::i32:
    case DType::u32: block.as<int32_t>()[i] = int32_t(whole); break;
    case DType::i16:
    case DType::u16: block.as<int16_t>()[i] = int16_t(whole); break;
    case DType::i8:
    case DType::u8: block.as<int8_t>()[i] = int8_t(whole); break;
    case DType::boolean: block.as<uint8_t>()[i] = whole & 1; break;
    }
  }
}

void fillNasty(Block &block) {
  static const double special[] = {0.0,   -0.0,         1.0,           -1.0,    0.5,  INFINITY, -INFINITY, NAN,
                                   1e-42, -1e-42,       5e-324,        65520.0, 3e38, -3e38,    127.5,     -128.5,
                                   255.0, 2147483648.0, -2147483648.0, 9.3e18,  1e-7, 88.7};
  auto next = [] {
    auto &r = random();
    if (r() % 6 == 0) return special[r() % std::size(special)];
    double mantissa = double(int32_t(r())) / 2147483648.0;
    return r() % 3 ? 8 * mantissa : std::ldexp(mantissa, int(r() % 60) - 20);
  };
  write(block, next);
}

void fillPlain(Block &block) {
  write(block, [] {
    double value = double(int32_t(random()())) / 2147483648.0 * 9;
    return std::abs(value) < 1 ? value + (value < 0 ? -1 : 1) : value;
  });
}

Fill indicesBelow(int64_t bound) {
  return [bound](Block &block) { write(block, [&] { return double(int64_t(random()() % (2 * bound)) - bound); }); };
}

static std::string mlirType(const TensorType &type) {
  std::string text = "tensor<";
  for (int64_t n : type.shape) text += std::to_string(n) + "x";
  return text + (isUnsigned(type.dtype) ? "ui" + std::to_string(8 * size(type.dtype)) : name(type.dtype)) + ">";
}

static std::string mlirAttr(const Attr &attr) {
  std::string text = attr.name;
  switch (attr.kind) {
  case Attr::Kind::unit: return text;
  case Attr::Kind::boolean: return text + (attr.integer ? " = true" : " = false");
  case Attr::Kind::integer: return text + " = " + std::to_string(attr.integer) + " : i64";
  case Attr::Kind::real: return text + " = " + std::to_string(attr.real) + " : f64";
  case Attr::Kind::word: return text + " = #nn<" + attr.text + ">";
  case Attr::Kind::other: return text + " = " + attr.text;
  case Attr::Kind::integers: break;
  }
  text += " = array<i64";
  for (size_t i = 0; i < attr.integers.size(); ++i) text += (i ? ", " : ": ") + std::to_string(attr.integers[int(i)]);
  return text + ">";
}

static std::string listOf(size_t count, const std::function<std::string(size_t)> &item) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + item(i);
  return text;
}

static std::string functionOf(const Case &c, size_t number) {
  auto argument = [](size_t i) { return "%a" + std::to_string(i); };
  std::string types = listOf(c.operands.size(), [&](size_t i) { return mlirType(c.operands[i]); });
  std::string results = "(" + listOf(c.results.size(), [&](size_t i) { return mlirType(c.results[i]); }) + ")";
  std::string text = "func.func @f" + std::to_string(number) + "(" +
                     listOf(c.operands.size(), [&](size_t i) { return argument(i) + ": " + mlirType(c.operands[i]); }) +
                     ") -> " + results + " {\n  %r:" + std::to_string(c.results.size()) + " = \"" + c.op + "\"(" +
                     listOf(c.operands.size(), argument) + ") {" +
                     listOf(c.attrs.size(), [&](size_t i) { return mlirAttr(c.attrs[i]); }) + "} : (" + types +
                     ") -> " + results + "\n  return " +
                     listOf(c.results.size(), [](size_t i) { return "%r#" + std::to_string(i); }) + " : " +
                     results.substr(1, results.size() - 2) + "\n}\n";
  return text;
}

GraphNode nodeOf(const Case &c) {
  GraphNode node;
  node.op = &opName(c.op);
  node.attrs = c.attrs;
  node.resultCount = uint32_t(c.results.size());
  node.constant = c.constant;
  return node;
}

static std::string describe(const Case &c) {
  std::string text = c.op + " {" + listOf(c.attrs.size(), [&](size_t i) { return mlirAttr(c.attrs[i]); }) + "} (";
  return text + listOf(c.operands.size(), [&](size_t i) { return sprig::describe(c.operands[i]); }) + ") -> " +
         listOf(c.results.size(), [&](size_t i) { return sprig::describe(c.results[i]); });
}

// Which NaN comes out of several is the processor's choice; every other bit counts.
static bool isNaNAt(const Block &block, int64_t i) {
  switch (block.type.dtype) {
  case DType::f64: return std::isnan(block.as<double>()[i]);
  case DType::f32: return std::isnan(block.as<float>()[i]);
  case DType::f16: return (block.as<uint16_t>()[i] & 0x7fff) > 0x7c00;
  case DType::bf16: return (block.as<uint16_t>()[i] & 0x7fff) > 0x7f80;
  default: return false;
  }
}

static int64_t firstDifference(const Block &want, const Block &got) {
  int64_t bytes = size(want.type.dtype);
  for (int64_t i = 0; i < want.type.elements(); ++i)
    if (std::memcmp(want.data() + i * bytes, got.data() + i * bytes, bytes) && !(isNaNAt(want, i) && isNaNAt(got, i)))
      return i;
  return -1;
}

static std::string hex(const Block &block, int64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, block.data() + i * size(block.type.dtype), size(block.type.dtype));
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", (unsigned long long)bits);
  return text;
}

static std::vector<rt::TensorView> viewsOf(const std::vector<Block> &blocks) {
  std::vector<rt::TensorView> views;
  for (const Block &block : blocks)
    views.emplace_back(block.data(), rt::DType(block.type.dtype), rt::Dims(block.type.shape.vector()));
  return views;
}

static std::vector<ArrayRef> arraysOf(const std::vector<Block> &blocks) {
  std::vector<ArrayRef> arrays;
  for (const Block &block : blocks) arrays.push_back({block.data(), &block.type});
  return arrays;
}

static CompileOptions optionsHere() {
  const char *cpu = std::getenv("SPRIG_CPU");
  CompileOptions options;
  options.architectures = {cpu ? cpu : "native"};
  options.threads = 1;
  options.math = MathMode::strict; // as functions are compiled
  return options;
}

void Comparison::run() {
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i) text += functionOf(cases[i], i);
  Program program = compile(Model::text(text, "cases"), optionsHere());
  for (size_t i = 0; i < cases.size(); ++i) {
    const Case &c = cases[i];
    std::vector<Block> inputs, want, got;
    for (size_t n = 0; n < c.operands.size(); ++n) {
      inputs.emplace_back(c.operands[n]);
      (n < c.fills.size() && c.fills[n] ? c.fills[n] : fillNasty)(inputs.back());
    }
    for (const TensorType &type : c.results) {
      want.emplace_back(type);
      got.emplace_back(type);
    }
    uint32_t entry = program.package().findEntry("f" + std::to_string(i));
    program.context().invoke(viewsOf(inputs), viewsOf(want), int32_t(entry));
    if (!runGeneric(nodeOf(c), arraysOf(inputs), arraysOf(got))) {
      ADD_FAILURE() << describe(c) << ": no generic kernel";
      continue;
    }
    for (size_t n = 0; n < c.results.size(); ++n)
      if (int64_t at = firstDifference(want[n], got[n]); at >= 0)
        ADD_FAILURE() << describe(c) << ": result " << n << ", element " << at << ": compiled " << hex(want[n], at)
                      << ", generic " << hex(got[n], at);
  }
}

uint32_t Chain::input(const TensorType &type, Fill fill) {
  types.push_back(type);
  fills.push_back(std::move(fill));
  return uint32_t(types.size() - 1);
}

uint32_t Chain::add(const std::string &op, AttrList attrs, std::vector<uint32_t> operands, const TensorType &result) {
  steps.push_back({op, std::move(attrs), std::move(operands), nullptr});
  types.push_back(result);
  return uint32_t(types.size() - 1);
}

uint32_t Chain::constant(float value) {
  const std::string &text = intern("dense<" + std::to_string(value) + "> : tensor<f32>");
  uint32_t number = add("nn.constant", {Attr::other("value", text.c_str())}, {}, {DType::f32, {}});
  const char *bytes = reinterpret_cast<const char *>(&value);
  steps.back().constant = std::make_shared<std::vector<char>>(bytes, bytes + sizeof value);
  return number;
}

void Chain::run(const std::vector<uint32_t> &outputs) {
  auto value = [](size_t i) { return "%v" + std::to_string(i); };
  auto typed = [&](size_t i) { return value(i) + ": " + mlirType(types[i]); };
  std::string results = listOf(outputs.size(), [&](size_t i) { return mlirType(types[outputs[i]]); });
  std::string text = "func.func @main(" + listOf(fills.size(), typed) + ") -> (" + results + ") {\n";
  for (size_t n = 0; n < steps.size(); ++n) {
    const Step &s = steps[n];
    text += "  " + value(fills.size() + n) + " = \"" + s.op + "\"(" +
            listOf(s.operands.size(), [&](size_t i) { return value(s.operands[i]); }) + ") {" +
            listOf(s.attrs.size(), [&](size_t i) { return mlirAttr(s.attrs[i]); }) + "} : (" +
            listOf(s.operands.size(), [&](size_t i) { return mlirType(types[s.operands[i]]); }) + ") -> " +
            mlirType(types[fills.size() + n]) + "\n";
  }
  text += "  return " + listOf(outputs.size(), [&](size_t i) { return value(outputs[i]); }) + " : " + results + "\n}\n";

  std::vector<Block> blocks, inputs, want;
  for (const TensorType &type : types) blocks.emplace_back(type);
  for (size_t i = 0; i < fills.size(); ++i) {
    fills[i](blocks[i]);
    inputs.emplace_back(types[i]);
    std::memcpy(inputs[i].data(), blocks[i].data(), types[i].bytes());
  }
  for (uint32_t output : outputs) want.emplace_back(types[output]);
  Program program = compile(Model::text(text, "chain"), optionsHere());
  program.context().invoke(viewsOf(inputs), viewsOf(want));
  for (size_t n = 0; n < steps.size(); ++n) {
    std::vector<ArrayRef> operands;
    for (uint32_t operand : steps[n].operands) operands.push_back({blocks[operand].data(), &types[operand]});
    ArrayRef result{blocks[fills.size() + n].data(), &types[fills.size() + n]};
    GraphNode node;
    node.op = &opName(steps[n].op);
    node.attrs = steps[n].attrs;
    node.constant = steps[n].constant;
    ASSERT_TRUE(runGeneric(node, operands, {&result, 1})) << steps[n].op;
  }
  for (size_t i = 0; i < outputs.size(); ++i)
    if (int64_t at = firstDifference(want[i], blocks[outputs[i]]); at >= 0)
      ADD_FAILURE() << "value " << outputs[i] << ", element " << at << ": compiled " << hex(want[i], at) << ", generic "
                    << hex(blocks[outputs[i]], at) << " in\n"
                    << text;
}

} // namespace sprig::frontend
