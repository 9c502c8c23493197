// A loaded package as a model of the peers' harness: inputs and outputs stay in place, a run is one invoke.
// For the programs beside it, which differ in where the package comes from.
#pragma once
#include "peers/cpp/serve.h"
#include "sprig/rt/sprig_rt.hpp"
#include <memory>
#include <utility>
#include <vector>

namespace sprig::bench {

class Served : public ::bench::Model {
public:
  Served(rt::Package loaded, ::bench::Case &data, int threads)
      : package(std::move(loaded)), pool(threads), context(package, {&pool}) {
    for (auto &tensor : data.inputs) inputs.emplace_back(tensor.bytes.data(), dtype(tensor), tensor.shape);
    results = data.outputs;
    for (auto &tensor : results) outputs.emplace_back(tensor.bytes.data(), dtype(tensor), tensor.shape);
  }

  void run() override { context.invoke(inputs, outputs); }
  const float *output(size_t index) override { return results[index].data<float>(); }

private:
  static rt::DType dtype(const ::bench::Tensor &tensor) { return tensor.isInt64 ? SPRIG_RT_I64 : SPRIG_RT_F32; }

  rt::Package package;
  rt::Pool pool;
  rt::Context context;
  std::vector<::bench::Tensor> results;
  std::vector<rt::TensorView> inputs, outputs;
};

} // namespace sprig::bench
