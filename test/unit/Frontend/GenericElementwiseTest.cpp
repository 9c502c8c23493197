// Elementwise operations of all types, lengths and broadcasting forms against compiled code.
#include "test/unit/Frontend/GenericHarness.h"
#include "lib/Frontend/Generic/KernelList.h"
#include "sprig/error.h"
#include "gtest/gtest.h"
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::frontend;
using generic::KernelForm;

static std::vector<DType> allTypes() {
  std::vector<DType> types;
  for (int i = 0; i < generic::kTypeCount; ++i) types.push_back(DType(i));
  return types;
}

static AttrList attrsOf(const generic::KernelGroup &group) {
  std::string variant = group.variant;
  if (group.form == KernelForm::comparison) return {Attr::word("predicate", intern("predicate " + variant).c_str())};
  if (variant == "{detect_negative = false}") return {Attr::of("detect_negative", false)};
  if (variant == "{detect_positive = false}") return {Attr::of("detect_positive", false)};
  return {};
}

// Whether the operation takes the type, with a kernel of its own or with another's.
static bool takes(const generic::KernelGroup &group, DType type) {
  return hasType(group, type) ||
         (group.signless && isUnsigned(type) && type != group.from &&
          !(group.form == KernelForm::cast && generic::signedOf(type) == generic::signedOf(group.from)));
}

static void addCase(Comparison &comparison, const generic::KernelGroup &group, DType type, const Shape &x,
                    const Shape &y, const Shape &result) {
  std::string op = std::string("nn.") + group.op;
  TensorType a{type, x}, b{type, y};
  bool divides = !isFloat(type) && (op == "nn.div" || op == "nn.rem" || op == "nn.mod");
  std::vector<Fill> fills;
  if (divides) fills = {fillPlain, fillPlain};
  switch (group.form) {
  case KernelForm::unary: return comparison.add(op, attrsOf(group), {a}, {type, result}, fills);
  case KernelForm::binary: return comparison.add(op, attrsOf(group), {a, b}, {type, result}, fills);
  case KernelForm::comparison: return comparison.add(op, attrsOf(group), {a, b}, {DType::boolean, result});
  case KernelForm::predicate: return comparison.add(op, attrsOf(group), {a}, {DType::boolean, result});
  case KernelForm::select: return comparison.add(op, {}, {{DType::boolean, x}, a, b}, {type, result});
  case KernelForm::cast: return comparison.add(op, {}, {{group.from, x}}, {type, result});
  }
}

static bool isSlow(DType type) { return type != DType::f32 && type != DType::i64; }

TEST(GenericElementwise, EveryKernel) {
  Comparison comparison;
  for (const generic::KernelGroup &group : generic::kKernelGroups)
    for (DType type : allTypes())
      if (takes(group, type)) addCase(comparison, group, type, {129}, {129}, {129});
  comparison.run();
}

TEST(GenericElementwise, Lengths) {
  Comparison comparison;
  for (const generic::KernelGroup &group : generic::kKernelGroups) {
    std::string op = group.op;
    bool chosen = op == "add" || op == "exp" || op == "select" || op == "div" || op == "cast" || op == "compare";
    if (!chosen || (op == "compare" && std::string(group.variant) != "lt")) continue;
    for (DType type : allTypes())
      for (int64_t length : {0, 1, 15, 16, 17, 127, 1025, 4100})
        if (takes(group, type) && !(group.form == KernelForm::cast && isSlow(type) && isSlow(group.from)))
          addCase(comparison, group, type, {length}, {length}, {length});
  }
  comparison.run();
}

TEST(GenericElementwise, Broadcasting) {
  struct Form {
    Shape x, y, result;
  };
  const Form forms[] = {
      {{17}, {}, {17}},
      {{}, {1025}, {1025}},
      {{}, {}, {}},
      {{3000}, {1}, {3000}},
      {{64, 128}, {128}, {64, 128}},
      {{64, 10}, {64, 1}, {64, 10}},
      {{33, 7}, {7}, {33, 7}},
      {{5, 700}, {700}, {5, 700}},
      {{5, 700}, {5, 1}, {5, 700}},
      {{1, 19}, {23, 1}, {23, 19}},
      {{4, 1, 6}, {5, 1}, {4, 5, 6}},
      {{2, 3, 5, 7}, {3, 1, 1}, {2, 3, 5, 7}},
      {{2, 300, 3}, {2, 1, 3}, {2, 300, 3}},
      {{1, 1, 300}, {40, 1, 1}, {40, 1, 300}},
      {{0, 5}, {5}, {0, 5}},
      {{2, 1, 2, 1, 2}, {2, 1, 2, 1}, {2, 2, 2, 2, 2}},
      {{700}, {3, 1}, {3, 700}},
  };
  Comparison comparison;
  for (const Form &form : forms)
    for (const generic::KernelGroup &group : generic::kKernelGroups) {
      std::string op = group.op;
      bool chosen = op == "sub" || op == "select" || op == "div" || std::string(group.variant) == "le";
      if (!chosen || group.form == KernelForm::unary) continue;
      for (DType type : {DType::f32, DType::f64, DType::f16, DType::i64, DType::u8})
        if (takes(group, type)) addCase(comparison, group, type, form.x, form.y, form.result);
    }
  comparison.run();
}

TEST(GenericElementwise, BitsAlone) {
  Comparison comparison;
  for (auto [from, to] : {std::pair(DType::f32, DType::i32), std::pair(DType::u32, DType::f32),
                          std::pair(DType::f64, DType::i64), std::pair(DType::i16, DType::u16)})
    comparison.add("nn.bitcast", {}, {{from, {37}}}, {to, {37}});
  for (DType type : {DType::u64, DType::u8})
    for (const char *op : {"nn.abs", "nn.relu"}) comparison.add(op, {}, {{type, {37}}}, {type, {37}});
  comparison.add("nn.cast", {}, {{DType::i32, {37}}}, {DType::u32, {37}});
  comparison.add("nn.stop_gradient", {}, {{DType::f32, {37}}}, {DType::f32, {37}});
  comparison.run();
}

TEST(GenericElementwise, Philox) {
  Comparison comparison;
  auto counting = [](Block &block) {
    for (int64_t i = 0; i < block.type.elements(); ++i) block.as<int64_t>()[i] = i * 0x123456789;
  };
  auto index = [](Block &block) {
    for (int64_t i = 0; i < block.type.elements(); ++i) block.as<int64_t>()[i] = i + (i % 5 == 4 ? 100000 : 0);
  };
  TensorType scalar{DType::i64, {}};
  for (int64_t stream : {0, 1, 77}) {
    comparison.add("nn.philox", {Attr::of("stream", stream)}, {{DType::i64, {3, 41}}, scalar, scalar},
                   {DType::u32, {3, 41}}, {index, counting, counting});
    comparison.add("nn.philox", {Attr::of("stream", stream)},
                   {{DType::i64, {41}}, {DType::i64, {3, 1}}, {DType::i64, {41}}}, {DType::u32, {3, 41}},
                   {index, counting, counting});
  }
  comparison.run();
}

// What throws, and the text.
static std::string errorOf(const Case &c, const std::vector<Block> &inputs) {
  std::vector<ArrayRef> operands, results;
  std::vector<Block> outputs;
  for (const Block &input : inputs) operands.push_back({input.data(), &input.type});
  for (const TensorType &type : c.results) outputs.emplace_back(type);
  for (const Block &output : outputs) results.push_back({output.data(), &output.type});
  try {
    EXPECT_TRUE(runGeneric(nodeOf(c), operands, results));
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::runtime);
    return error.what();
  }
  return "";
}

TEST(GenericElementwise, ValuesThatAreRefused) {
  std::vector<Block> inputs;
  for (int i = 0; i < 2; ++i) {
    inputs.emplace_back(TensorType{DType::i32, {20}});
    for (int64_t n = 0; n < 20; ++n) inputs[i].as<int32_t>()[n] = int32_t(n + 1);
  }
  Case divide{"nn.div", {}, {{DType::i32, {20}}, {DType::i32, {20}}}, {{DType::i32, {20}}}, {}, nullptr};
  EXPECT_EQ(errorOf(divide, inputs), "");
  inputs[1].as<int32_t>()[18] = 0;
  EXPECT_EQ(errorOf(divide, inputs), "'nn.div': integer division by zero");
  inputs.pop_back();
  Case classes{"nn.class_index", {Attr::of("classes", 21)}, {{DType::i32, {20}}}, {{DType::i32, {20}}}, {}, nullptr};
  EXPECT_EQ(errorOf(classes, inputs), "");
  inputs[0].as<int32_t>()[7] = 21;
  EXPECT_EQ(errorOf(classes, inputs), "'nn.class_index': expected an index below 21, found 21");
  inputs[0].as<int32_t>()[7] = -1;
  EXPECT_EQ(errorOf(classes, inputs), "'nn.class_index': expected an index below 21, found -1");
}

TEST(GenericElementwise, ValuesOutsideARange) {
  std::vector<Block> inputs;
  inputs.emplace_back(TensorType{DType::f32, {20}});
  float *x = inputs[0].as<float>();
  for (int64_t n = 0; n < 20; ++n) x[n] = float(n) / 19;
  Case range{"nn.in_range", {Attr::of("low", 0.), Attr::of("high", 1.)}, {{DType::f32, {20}}}, {{DType::f32, {20}}}, {},
             nullptr};
  EXPECT_EQ(errorOf(range, inputs), "");
  x[18] = 1.5f, x[17] = 1.25f;
  EXPECT_EQ(errorOf(range, inputs), "'nn.in_range': expected a value of at most 1, found 1.5");
  x[19] = -0.1f, x[16] = -3;
  EXPECT_EQ(errorOf(range, inputs), "'nn.in_range': expected a value of at least 0, found -3");
  x[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(errorOf(range, inputs), "'nn.in_range': expected a value of at least 0, found nan");
}

// Memory that a program gave may end right after the last line of an array.
TEST(GenericElementwise, OperandsAtTheEndOfMemory) {
  size_t page = size_t(::sysconf(_SC_PAGESIZE));
  char *pages =
      static_cast<char *>(::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(pages + 2 * page, page, PROT_NONE), 0);
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::i8})
    for (int64_t length = 1; length < 300; length += length < 40 ? 1 : 7)
      for (const Shape &shape : {Shape{length}, Shape{3, length}}) {
        TensorType own{type, {length}}, whole{type, shape};
        char *end = pages + 2 * page - (own.bytes() + 63) / 64 * 64;
        std::memset(end, 0, size_t(own.bytes()));
        Case add{"nn.add", {}, {own, whole}, {whole}, {}, nullptr};
        Block other(whole), out(whole);
        fillPlain(other);
        ArrayRef operands[] = {{end, &own}, {other.data(), &whole}}, result{out.data(), &whole};
        ASSERT_TRUE(runGeneric(nodeOf(add), operands, {&result, 1}));
        EXPECT_EQ(std::memcmp(out.data(), other.data(), size_t(whole.bytes())), 0) << describe(whole);
      }
  ::munmap(pages, 3 * page);
}

TEST(GenericElementwise, UnknownOperation) {
  Case c{"nn.conv", {}, {}, {{DType::f32, {1}}}, {}, nullptr};
  Block out({DType::f32, {1}});
  ArrayRef result{out.data(), &out.type};
  EXPECT_FALSE(runGeneric(nodeOf(c), {}, {&result, 1}));
}
