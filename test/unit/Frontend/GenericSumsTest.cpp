// Reductions, running sums, searches and matrix products against compiled code.
#include "test/unit/Frontend/GenericHarness.h"
#include "gtest/gtest.h"

using namespace sprig;
using namespace sprig::frontend;

static const DType kNumbers[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i64, DType::i32,
                                 DType::i16, DType::i8,  DType::u64, DType::u32,  DType::u16, DType::u8};

static Shape reduced(const Shape &shape, const Shape &axes, bool keep) {
  Shape result;
  for (int d = 0; d < shape.rank(); ++d) {
    bool gone = false;
    for (int64_t axis : axes) gone |= axis == d;
    if (gone && keep) result.push_back(1);
    if (!gone) result.push_back(shape[d]);
  }
  return result;
}

TEST(GenericReduce, KindsAndTypes) {
  Comparison comparison;
  for (const char *kind : {"reduce_kind sum", "reduce_kind prod", "reduce_kind max", "reduce_kind min"}) {
    for (DType type : kNumbers)
      for (Shape axes : {Shape{1}, Shape{0}})
        for (const Fill &fill : {Fill(fillNasty), Fill(fillPlain)})
          comparison.add("nn.reduce", {Attr::word("kind", kind), Attr::of("axes", axes)}, {{type, {37, 53}}},
                         {type, reduced({37, 53}, axes, false)}, {fill});
  }
  for (const char *kind : {"reduce_kind max", "reduce_kind min"})
    for (int64_t length : {1, 37})
      comparison.add("nn.reduce", {Attr::word("kind", kind), Attr::of("axes", Shape{0})}, {{DType::boolean, {length}}},
                     {DType::boolean, {}});
  comparison.run();
}

TEST(GenericReduce, Shapes) {
  struct Form {
    Shape shape, axes;
  };
  const Form forms[] = {
      {{1}, {0}},
      {{15}, {0}},
      {{16}, {0}},
      {{17}, {0}},
      {{1025}, {0}},
      {{100000}, {0}},
      {{64, 10}, {0}},
      {{64, 10}, {1}},
      {{64, 10}, {0, 1}},
      {{64, 16}, {0, 1}},
      {{64, 48}, {0, 1}},
      {{3, 5, 7}, {0, 2}},
      {{3, 5, 32}, {0, 2}},
      {{3, 5, 7}, {1}},
      {{3, 5, 7}, {0, 1}},
      {{3, 5, 7}, {1, 2}},
      {{4, 6, 8, 9}, {0, 2, 3}},
      {{4, 6, 8, 9}, {1, 3}},
      {{4, 6, 8, 9}, {0, 2}},
      {{2, 3000}, {1}},
      {{3000, 2}, {0}},
      {{30, 2500}, {0}},
      {{5, 1}, {1}},
      {{5, 1}, {0}},
      {{1, 5}, {0}},
      {{0, 5}, {0}},
      {{5, 0}, {1}},
      {{}, {}},
      {{7}, {}},
      {{8, 1, 20}, {0, 1}},
      {{8, 20, 1}, {1, 2}},
      {{8, 20, 1}, {2}},
      {{2, 2, 16}, {1, 2}},
      {{257, 784}, {1}},
      {{64, 128}, {0}},
      {{64, 3, 14, 14}, {0, 2, 3}},
  };
  Comparison comparison;
  for (const Form &form : forms)
    for (const char *kind : {"reduce_kind sum", "reduce_kind max"})
      for (bool keep : {false, true})
        for (DType type : {DType::f32, DType::f64, DType::f16}) {
          AttrList attrs{Attr::word("kind", kind), Attr::of("axes", form.axes)};
          if (keep) attrs.push_back(Attr::unit("keep_dims"));
          if (keep && type != DType::f32) continue;
          comparison.add("nn.reduce", attrs, {{type, form.shape}}, {type, reduced(form.shape, form.axes, keep)},
                         {fillPlain});
        }
  comparison.run();
}

TEST(GenericCumulative, Forms) {
  Comparison comparison;
  for (const char *kind : {"reduce_kind sum", "reduce_kind prod"})
    for (int axis : {0, 1, 2})
      for (int form = 0; form < 4; ++form)
        for (DType type : {DType::f32, DType::f64, DType::f16, DType::i32, DType::u8}) {
          AttrList attrs{Attr::word("kind", kind), Attr::of("axis", axis)};
          if (form & 1) attrs.push_back(Attr::unit("exclusive"));
          if (form & 2) attrs.push_back(Attr::unit("reverse"));
          comparison.add("nn.cumulative", attrs, {{type, {3, 19, 5}}}, {type, {3, 19, 5}}, {fillPlain});
        }
  comparison.run();
}

TEST(GenericSearch, FirstAndLast) {
  Comparison comparison;
  // Few values, so that there are ties.
  Fill ties = [](Block &block) {
    fillPlain(block);
    if (block.type.dtype == DType::f32)
      for (int64_t i = 0; i < block.type.elements(); ++i) block.as<float>()[i] = float(int(block.as<float>()[i]) % 4);
  };
  for (const char *kind : {"reduce_kind max", "reduce_kind min"})
    for (int axis : {0, 1})
      for (DType type : kNumbers)
        for (const Fill &fill : {Fill(fillNasty), ties}) {
          comparison.add("nn.arg_reduce", {Attr::word("kind", kind), Attr::of("axis", axis)}, {{type, {21, 35}}},
                         {DType::i64, {axis ? 21 : 35}}, {fill});
          comparison.add(
              "nn.arg_reduce",
              {Attr::word("kind", kind), Attr::of("axis", axis), Attr::unit("last_index"), Attr::unit("keep_dims")},
              {{type, {21, 35}}}, {DType::i64, {axis ? 21 : 1, axis ? 1 : 35}}, {fill});
        }
  for (bool largest : {true, false})
    for (int axis : {0, 1})
      for (DType type : {DType::f32, DType::f64, DType::i32, DType::u8, DType::bf16})
        for (const Fill &fill : {Fill(fillNasty), ties}) {
          Shape result = axis ? Shape{21, 4} : Shape{4, 35};
          comparison.add({"nn.top_k",
                          {Attr::of("k", 4), Attr::of("axis", axis), Attr::of("largest", largest)},
                          {{type, {21, 35}}},
                          {{type, result}, {DType::i64, result}},
                          {fill},
                          nullptr});
        }
  comparison.run();
}

static void addProduct(Comparison &comparison, DType type, Shape batchLeft, Shape batchRight, int64_t m, int64_t k,
                       int64_t n, int flags, const Fill &fill) {
  Shape left = batchLeft, right = batchRight, result = batchLeft.rank() > batchRight.rank() ? batchLeft : batchRight;
  for (int d = 1; d <= std::min(batchLeft.rank(), batchRight.rank()); ++d)
    result[result.rank() - d] = std::max(batchLeft[batchLeft.rank() - d], batchRight[batchRight.rank() - d]);
  AttrList attrs;
  if (flags & 1) attrs.push_back(Attr::unit("transpose_lhs"));
  if (flags & 2) attrs.push_back(Attr::unit("transpose_rhs"));
  left.push_back(flags & 1 ? k : m);
  left.push_back(flags & 1 ? m : k);
  right.push_back(flags & 2 ? n : k);
  right.push_back(flags & 2 ? k : n);
  result.push_back(m);
  result.push_back(n);
  comparison.add("nn.matmul", attrs, {{type, left}, {type, right}}, {type, result}, {fill, fill});
}

TEST(GenericMatmul, Shapes) {
  Comparison comparison;
  for (int flags = 0; flags < 4; ++flags) {
    for (auto [m, k, n] : {std::tuple(1, 1, 1), std::tuple(3, 5, 7), std::tuple(16, 16, 16), std::tuple(17, 33, 65),
                           std::tuple(64, 128, 10), std::tuple(2, 1024, 31), std::tuple(9, 1025, 33),
                           std::tuple(5, 1537, 40), std::tuple(7, 5000, 12), std::tuple(1, 784, 256),
                           std::tuple(4, 0, 5), std::tuple(0, 4, 5), std::tuple(64, 784, 256)})
      for (DType type : {DType::f32, DType::f64}) addProduct(comparison, type, {}, {}, m, k, n, flags, fillPlain);
    for (DType type : {DType::f16, DType::bf16, DType::i32, DType::u64})
      addProduct(comparison, type, {}, {}, 13, 29, 37, flags, fillPlain);
    addProduct(comparison, DType::f32, {}, {}, 13, 29, 37, flags, fillNasty);
    addProduct(comparison, DType::f32, {3}, {3}, 5, 6, 7, flags, fillPlain);
    addProduct(comparison, DType::f32, {3}, {}, 5, 6, 7, flags, fillPlain);
    addProduct(comparison, DType::f32, {}, {3}, 5, 6, 7, flags, fillPlain);
    addProduct(comparison, DType::f32, {2, 1}, {3}, 5, 6, 7, flags, fillPlain);
    addProduct(comparison, DType::i64, {2, 3}, {1, 3}, 5, 6, 7, flags, fillPlain);
  }
  comparison.run();
}
