// Operations one by one against the same compiled as one function, where they share kernels.
#include "test/unit/Frontend/GenericHarness.h"
#include "gtest/gtest.h"

using namespace sprig;
using namespace sprig::frontend;

static TensorType f32(const Shape &shape) { return {DType::f32, shape}; }
static Attr kind(const char *word) { return Attr::word("kind", word); }

TEST(GenericChain, LinearAndRelu) {
  for (auto [rows, depth, columns] : {std::tuple(64, 784, 256), std::tuple(3, 1537, 40), std::tuple(1, 100, 10)}) {
    Chain chain;
    uint32_t x = chain.input(f32({rows, depth})), w = chain.input(f32({columns, depth})),
             b = chain.input(f32({columns}));
    uint32_t y = chain.add("nn.matmul", {Attr::unit("transpose_rhs")}, {x, w}, f32({rows, columns}));
    y = chain.add("nn.add", {}, {y, b}, f32({rows, columns}));
    uint32_t z = chain.add("nn.relu", {}, {y}, f32({rows, columns}));
    chain.run({y, z});
  }
}

TEST(GenericChain, Softmax) {
  for (auto [rows, columns] : {std::pair(64, 10), std::pair(5, 16), std::pair(33, 1000), std::pair(7, 401)}) {
    Chain chain;
    AttrList last{Attr::of("axes", Shape{1}), Attr::unit("keep_dims")}, max = last, sum = last;
    max.push_back(kind("reduce_kind max"));
    sum.push_back(kind("reduce_kind sum"));
    TensorType whole = f32({rows, columns}), row = f32({rows, 1});
    uint32_t x = chain.input(whole);
    uint32_t shifted = chain.add("nn.sub", {}, {x, chain.add("nn.reduce", max, {x}, row)}, whole);
    uint32_t e = chain.add("nn.exp", {}, {shifted}, whole), total = chain.add("nn.reduce", sum, {e}, row);
    uint32_t y = chain.add("nn.div", {}, {e, total}, whole), logs = chain.add("nn.log", {}, {total}, row);
    chain.run({y, chain.add("nn.sub", {}, {shifted, logs}, whole)});
  }
}

TEST(GenericChain, Sums) {
  for (Shape axes : {Shape{0}, Shape{1}, Shape{0, 1}}) {
    for (auto [rows, columns] : {std::pair(64, 784), std::pair(300, 37), std::pair(17, 16)}) {
      Chain chain;
      uint32_t x = chain.input(f32({rows, columns})), y = chain.input(f32({rows, columns}));
      uint32_t p = chain.add("nn.mul", {}, {x, y}, f32({rows, columns}));
      Shape result = axes.rank() == 2 ? Shape{} : axes[0] ? Shape{rows} : Shape{columns};
      uint32_t sum = chain.add("nn.reduce", {kind("reduce_kind sum"), Attr::of("axes", axes)}, {p}, f32(result));
      chain.run({chain.add("nn.sqrt", {}, {chain.add("nn.abs", {}, {sum}, f32(result))}, f32(result))});
    }
  }
}

TEST(GenericChain, BackwardOfLinear) {
  Chain chain;
  uint32_t x = chain.input(f32({64, 784})), w = chain.input(f32({256, 784})), y = chain.input(f32({64, 256})),
           g = chain.input(f32({64, 256}));
  uint32_t zero = chain.input(f32({}), [](Block &block) { block.as<float>()[0] = 0; });
  uint32_t positive =
      chain.add("nn.compare", {Attr::word("predicate", "predicate gt")}, {y, zero}, {DType::boolean, {64, 256}});
  g = chain.add("nn.select", {}, {positive, g, zero}, f32({64, 256}));
  uint32_t dw = chain.add("nn.matmul", {Attr::unit("transpose_lhs")}, {g, x}, f32({256, 784}));
  uint32_t dx = chain.add("nn.matmul", {}, {g, w}, f32({64, 784}));
  uint32_t db = chain.add("nn.reduce", {kind("reduce_kind sum"), Attr::of("axes", Shape{0})}, {g}, f32({256}));
  chain.run({dw, dx, db});
}

TEST(GenericChain, Adam) {
  Chain chain;
  TensorType whole = f32({256, 784}), one = f32({});
  auto rate = [](float value) { return [value](Block &block) { block.as<float>()[0] = value; }; };
  uint32_t p = chain.input(whole), g = chain.input(whole), m = chain.input(whole), v = chain.input(whole);
  uint32_t beta = chain.input(one, rate(0.9f)), rest = chain.input(one, rate(0.1f)),
           beta2 = chain.input(one, rate(0.999f)), rest2 = chain.input(one, rate(0.001f)),
           lr = chain.input(one, rate(1e-3f)), eps = chain.input(one, rate(1e-8f));
  auto binary = [&](const char *op, uint32_t a, uint32_t b) { return chain.add(op, {}, {a, b}, whole); };
  uint32_t square = binary("nn.mul", v, v); // a second moment is not negative
  uint32_t m1 = binary("nn.add", binary("nn.mul", m, beta), binary("nn.mul", g, rest));
  uint32_t v1 = binary("nn.add", binary("nn.mul", square, beta2), binary("nn.mul", binary("nn.mul", g, g), rest2));
  uint32_t root = binary("nn.add", chain.add("nn.sqrt", {}, {v1}, whole), eps);
  uint32_t next = binary("nn.sub", p, binary("nn.mul", binary("nn.div", m1, root), lr));
  chain.run({m1, v1, next});
}

// What is a constant in the function is an operand like others here.
TEST(GenericChain, ConstantOperands) {
  for (float number : {1.f, 2.f, -1.f, 0.5f, 3.f, 0.25f, -8.f}) {
    Chain chain;
    TensorType whole = f32({100000});
    uint32_t x = chain.input(whole), c = chain.constant(number);
    uint32_t power = chain.add("nn.pow", {}, {x, c}, whole), quotient = chain.add("nn.div", {}, {x, c}, whole);
    uint32_t product = chain.add("nn.mul", {}, {quotient, c}, whole);
    chain.run({power, quotient, product, chain.add("nn.max", {}, {c, product}, whole)});
  }
}

TEST(GenericChain, HalfTypes) {
  for (DType type : {DType::f16, DType::bf16}) {
    Chain chain;
    TensorType whole{type, {33, 70}}, row{type, {70}}, column{type, {33}};
    uint32_t x = chain.input(whole), b = chain.input(row);
    uint32_t y = chain.add("nn.tanh", {}, {chain.add("nn.mul", {}, {x, b}, whole)}, whole);
    uint32_t z = chain.add("nn.cast", {}, {chain.add("nn.add", {}, {y, x}, whole)}, f32({33, 70}));
    uint32_t s = chain.add("nn.reduce", {kind("reduce_kind sum"), Attr::of("axes", Shape{1})}, {y}, column);
    chain.run({z, s});
  }
}

TEST(GenericChain, SumsOfImages) {
  // What a batch norm's statistics are made of.
  Chain chain;
  uint32_t x = chain.input(f32({4, 6, 9, 7})), mean = chain.input(f32({1, 6, 1, 1}));
  uint32_t d = chain.add("nn.sub", {}, {x, mean}, f32({4, 6, 9, 7}));
  uint32_t square = chain.add("nn.mul", {}, {d, d}, f32({4, 6, 9, 7}));
  AttrList attrs{kind("reduce_kind sum"), Attr::of("axes", Shape{0, 2, 3}), Attr::unit("keep_dims")};
  uint32_t sum = chain.add("nn.reduce", attrs, {square}, f32({1, 6, 1, 1}));
  chain.run(
      {sum, chain.add("nn.mul", {}, {d, chain.add("nn.rsqrt", {}, {sum}, f32({1, 6, 1, 1}))}, f32({4, 6, 9, 7}))});
}
