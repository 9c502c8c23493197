// Operations that move elements, by position or by index, against compiled code.
#include "test/unit/Frontend/GenericHarness.h"
#include "sprig/error.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace sprig;
using namespace sprig::frontend;

static const DType kWidths[] = {DType::f32, DType::f64, DType::bf16, DType::u8, DType::boolean};

TEST(GenericMovement, Views) {
  Comparison comparison;
  for (DType type : kWidths) {
    auto tensor = [&](const Shape &shape) { return TensorType{type, shape}; };
    comparison.add("nn.reshape", {}, {tensor({6, 35})}, tensor({10, 21}));
    for (auto [from, to] :
         {std::pair(Shape{3, 1}, Shape{2, 3, 40}), std::pair(Shape{}, Shape{33}), std::pair(Shape{40}, Shape{5, 40}),
          std::pair(Shape{1, 4, 1}, Shape{7, 4, 3}), std::pair(Shape{2, 1, 3}, Shape{2, 0, 3})})
      comparison.add("nn.broadcast", {}, {tensor(from)}, tensor(to));
    for (Shape order : {Shape{1, 0, 2}, Shape{2, 1, 0}, Shape{0, 2, 1}, Shape{2, 0, 1}, Shape{1, 2, 0}}) {
      Shape shape{7, 33, 20}, result;
      for (int64_t d : order) result.push_back(shape[int(d)]);
      comparison.add("nn.transpose", {Attr::of("permutation", order)}, {tensor(shape)}, tensor(result));
    }
    comparison.add("nn.transpose", {Attr::of("permutation", Shape{0, 3, 1, 2})}, {tensor({2, 9, 5, 3})},
                   tensor({2, 3, 9, 5}));
    comparison.add(
        "nn.slice",
        {Attr::of("starts", Shape{1, 29, 0}), Attr::of("sizes", Shape{2, 7, 5}), Attr::of("steps", Shape{1, -4, 2})},
        {tensor({4, 30, 10})}, tensor({2, 7, 5}));
    comparison.add("nn.slice",
                   {Attr::of("starts", Shape{3, 0}), Attr::of("sizes", Shape{20, 17}), Attr::of("steps", Shape{1, 1})},
                   {tensor({30, 17})}, tensor({20, 17}));
    for (int axis : {0, 1, 2}) {
      Shape a{3, 4, 5}, b{3, 4, 5}, c{3, 4, 5}, result{3, 4, 5};
      b[axis] = 1, c[axis] = 7, result[axis] = a[axis] + 8;
      comparison.add("nn.concat", {Attr::of("axis", axis)}, {tensor(a), tensor(b), tensor(c)}, tensor(result));
    }
    for (const char *mode : {"pad_mode constant", "pad_mode edge", "pad_mode reflect", "pad_mode wrap"})
      comparison.add("nn.pad",
                     {Attr::word("mode", mode), Attr::of("low", Shape{1, 0, 3}), Attr::of("high", Shape{0, 2, 2})},
                     {tensor({4, 6, 5}), tensor({})}, tensor({5, 8, 10}));
  }
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32, DType::i8, DType::u16})
    for (int axis : {0, 1, 2}) comparison.add("nn.iota", {Attr::of("axis", axis)}, {}, {type, {3, 300, 17}});
  comparison.run();
}

TEST(GenericMovement, Constants) {
  float numbers[] = {1, -0.0f, 3e-42f, 4, 5};
  auto bytes = [](const void *data, size_t size) {
    return std::make_shared<const std::vector<char>>(static_cast<const char *>(data),
                                                     static_cast<const char *>(data) + size);
  };
  Block out({DType::f32, {5}});
  ArrayRef result{out.data(), &out.type};
  Case whole{"nn.constant", {}, {}, {out.type}, {}, bytes(numbers, sizeof numbers)};
  ASSERT_TRUE(runGeneric(nodeOf(whole), {}, {&result, 1}));
  EXPECT_EQ(std::memcmp(out.data(), numbers, sizeof numbers), 0);
  Case splat{"nn.constant", {}, {}, {out.type}, {}, bytes(numbers + 2, 4)};
  ASSERT_TRUE(runGeneric(nodeOf(splat), {}, {&result, 1}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(out.as<float>()[i], numbers[2]);
}

TEST(GenericMovement, Gathers) {
  Comparison comparison;
  for (DType type : kWidths)
    for (DType index : {DType::i64, DType::i32}) {
      auto tensor = [&](const Shape &shape) { return TensorType{type, shape}; };
      auto indices = [&](const Shape &shape) { return TensorType{index, shape}; };
      Shape shape{6, 7, 8};
      for (int axis : {0, 1, 2}) {
        Shape result;
        for (int d = 0; d < 3; ++d) {
          if (d != axis) result.push_back(shape[d]);
          if (d == axis) result.push_back(3), result.push_back(5);
        }
        comparison.add("nn.gather", {Attr::of("axis", axis)}, {tensor(shape), indices({3, 5})}, tensor(result),
                       {nullptr, indicesBelow(shape[axis])});
        Shape sizes{4, 5, 6};
        comparison.add("nn.gather_elements", {Attr::of("axis", axis)}, {tensor(shape), indices(sizes)}, tensor(sizes),
                       {nullptr, indicesBelow(shape[axis])});
      }
      comparison.add("nn.gather", {Attr::of("axis", 0)}, {tensor({10}), indices({})}, tensor({}),
                     {nullptr, indicesBelow(10)});
      comparison.add("nn.gather_nd", {}, {tensor({4, 4, 5}), indices({6, 2})}, tensor({6, 5}),
                     {nullptr, indicesBelow(4)});
      comparison.add("nn.gather_nd", {Attr::of("batch_dims", 1)}, {tensor({3, 4, 5}), indices({3, 6, 1})},
                     tensor({3, 6, 5}), {nullptr, indicesBelow(4)});
      comparison.add("nn.gather_nd", {}, {tensor({4, 4}), indices({9, 2})}, tensor({9}), {nullptr, indicesBelow(4)});
    }
  comparison.run();
}

TEST(GenericMovement, Scatters) {
  Comparison comparison;
  for (const char *kind :
       {"scatter_kind none", "scatter_kind add", "scatter_kind mul", "scatter_kind max", "scatter_kind min"})
    for (DType type : {DType::f32, DType::f64, DType::i32, DType::u8, DType::bf16, DType::boolean})
      for (DType index : {DType::i64, DType::i32}) {
        bool replaces = std::string(kind) == "scatter_kind none";
        if (!replaces && (type == DType::bf16 || type == DType::boolean)) continue;
        auto tensor = [&](const Shape &shape) { return TensorType{type, shape}; };
        auto indices = [&](const Shape &shape) { return TensorType{index, shape}; };
        for (int axis : {0, 1, 2})
          comparison.add("nn.scatter_elements", {Attr::word("kind", kind), Attr::of("axis", axis)},
                         {tensor({6, 7, 8}), indices({4, 5, 6}), tensor({4, 5, 6})}, tensor({6, 7, 8}),
                         {nullptr, indicesBelow(6)});
        comparison.add("nn.scatter_nd", {Attr::word("kind", kind)},
                       {tensor({6, 7, 19}), indices({9, 2}), tensor({9, 19})}, tensor({6, 7, 19}),
                       {nullptr, indicesBelow(6)});
        comparison.add("nn.scatter_nd", {Attr::word("kind", kind)}, {tensor({6, 7}), indices({30, 2}), tensor({30})},
                       tensor({6, 7}), {nullptr, indicesBelow(6)});
      }
  comparison.run();
}

TEST(GenericMovement, IndexOutOfRange) {
  Case gather{"nn.gather", {Attr::of("axis", 0)}, {{DType::f32, {4}}, {DType::i64, {2}}}, {{DType::f32, {2}}}, {},
              nullptr};
  Block values(gather.operands[0]), indices(gather.operands[1]), out(gather.results[0]);
  fillPlain(values);
  ArrayRef operands[] = {{values.data(), &values.type}, {indices.data(), &indices.type}}, result{out.data(), &out.type};
  for (int64_t wrong : {4, -5}) {
    indices.as<int64_t>()[0] = -4;
    indices.as<int64_t>()[1] = wrong;
    try {
      runGeneric(nodeOf(gather), operands, {&result, 1});
      FAIL() << "index " << wrong << " was taken";
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::runtime);
      EXPECT_EQ(std::string(error.what()), "'nn.gather': expected an index below 4, found " + std::to_string(wrong));
    }
  }
}
