// A parameter and a network that optimizers update in tests.
#pragma once
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "test/unit/Frontend/LayerFixture.h"

namespace sprig::test {

inline constexpr int kSize = 6;
inline Parameter fresh() { return Parameter(someTensor({kSize}, 39)); }

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(5, 8)), b = add("b", nn::Linear(8, 3));
  Tensor operator()(Tensor x) const { return b(relu(a(x))); }
};

} // namespace sprig::test
