// One operation against what it should give: run as it is written, and recorded, checked by the dialect's own inference
// and compiled as a whole, which must give the same bits.
#pragma once
#include "sprig/ops.h"
#include "test/unit/Frontend/Ops/Reference.h"
#include "gtest/gtest.h"

namespace sprig::test {

using Inputs = std::span<const Tensor>;
using Many = std::function<std::vector<Tensor>(Inputs)>;

struct Want {
  Array array;
  DType type = DType::f32;
};

/// |got - want| <= tolerance * (1 + |want|), exactly for integers and booleans; NaN equals NaN.
void expectClose(const std::string &name, const Tensor &got, const Want &want, double tolerance = 1e-5);

void checkMany(const std::string &name, const std::vector<Tensor> &inputs, const Many &f,
               const std::vector<Want> &wants, double tolerance = 1e-5);
inline void check(const std::string &name, const std::vector<Tensor> &inputs, const std::function<Tensor(Inputs)> &f,
                  const Array &want, DType type = DType::f32, double tolerance = 1e-5) {
  checkMany(name, inputs, [&](Inputs in) { return std::vector<Tensor>{f(in)}; }, {{want, type}}, tolerance);
}

/// That f throws an Error of kind usage which names this file, the line and the operation, and has all of these texts.
void expectRefused(int line, const std::string &op, const std::vector<std::string> &texts,
                   const std::function<void()> &f);

} // namespace sprig::test
