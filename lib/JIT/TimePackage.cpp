#include "lib/JIT/TimePackage.h"
#include "sprig/rt/sprig_rt.hpp"
#include <chrono>
#include <cstring>

using namespace sprig;

namespace {
class TimedPackage {
public:
  TimedPackage(std::vector<uint8_t> bytes, rt::Pool threads)
      : package(rt::Package::fromMemory(std::move(bytes), "a kernel to time")), pool(std::move(threads)),
        context(package, contextOptions()) {
    for (const rt::TensorInfo &info : package.inputs(0)) inputs.push_back(makeArray(info));
    for (const rt::TensorInfo &info : package.outputs(0)) outputs.push_back(makeArray(info));
    context.invoke(inputs, outputs);
    double once = time(1);
    // A sample of about a tenth of a millisecond: short enough to fit between two interruptions.
    constexpr double kSample = 1e-4;
    if (once < kSample) calls = int(kSample / std::max(once, 1e-7)) + 1;
  }

  double sample() { return time(calls) / calls; }

private:
  rt::TensorView makeArray(const rt::TensorInfo &info) {
    rt::Array &array = arrays.emplace_back(info.dtype, info.shape);
    // Ordinary numbers in every floating-point type: neither zeros nor denormals.
    std::memset(array.data(), 0x3c, array.bytes());
    return array.view();
  }
  rt::ContextOptions contextOptions() {
    rt::ContextOptions options;
    options.pool = &pool;
    return options;
  }
  double time(int count) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) context.invoke(inputs, outputs);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  rt::Package package;
  rt::Pool pool;
  rt::Context context;
  std::vector<rt::Array> arrays;
  std::vector<rt::TensorView> inputs, outputs;
  int calls = 1;
};
} // namespace

PackageTimer sprig::packageTimer(int threads) {
  return [pool = rt::Pool(threads)](std::vector<uint8_t> bytes) {
    auto timed = std::make_shared<TimedPackage>(std::move(bytes), pool);
    return [timed] { return timed->sample(); };
  };
}
