// Calls the first entry of a package on one thread: call-package FILE.sprig CALLS. For instruction counts, which need a
// program that does nothing else: those of one call are the difference of two runs. Float inputs are
// ones, others zeros.
#include "sprig/rt/sprig_rt.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace sprig::rt;

static void fill(Array &array) {
  if (array.dtype() == SPRIG_RT_F32)
    std::fill_n(array.as<float>(), array.elements(), 1.0f);
  else
    std::fill_n(array.as<unsigned char>(), array.bytes(), 0);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FILE.sprig CALLS\n", argv[0]);
    return 2;
  }
  try {
    Package package = Package::load(argv[1]);
    Pool pool(1);
    Context context(package, {&pool});
    std::vector<Array> inputs, outputs;
    for (auto &info : package.inputs(0)) fill(inputs.emplace_back(info.dtype, info.shape));
    for (auto &info : package.outputs(0)) outputs.emplace_back(info.dtype, info.shape);
    std::vector<TensorView> in, out;
    for (auto &array : inputs) in.push_back(array.view());
    for (auto &array : outputs) out.push_back(array.view());
    for (int i = std::atoi(argv[2]); i > 0; --i) context.invoke(in, out);
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 3;
  }
}
