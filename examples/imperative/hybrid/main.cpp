// One network in three ways: as it is written, compiled, and exported to a package. The same bits, at other speeds.
#include <cstdio>
#include <cstring>
#include <sprig/sprig.h>

using namespace sprig;

static bool same(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() && std::memcmp(a.bytes(), b.bytes(), size_t(a.type().bytes())) == 0;
}

int main() try {
  manualSeed(1);
  nn::Sequential net(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(), nn::Linear(128, 10));
  net.eval();
  Tensor x = randn({1000, 784});
  PackageBuilder builder;
  builder.add("main", net, {{DType::f32, {1000, 784}}});
  Package package = loadBytes(builder.bytes());
  auto compiled = compile(net);

  Tensor reference = net(x);
  std::printf("compiled: %s, exported: %s\n", same(reference, compiled(x)) ? "same bits" : "different",
              same(reference, package(x)) ? "same bits" : "different");
  auto time = [&](const char *name, auto f) {
    for (int i = 0; i < 10; ++i) f(x).wait();
    Timer timer;
    for (int i = 0; i < 100; ++i) f(x);
    double seconds = timer.stop();
    std::printf("%-10s %.4f sec\n", name, seconds);
    return seconds;
  };
  double imperative = time("as written", net), once = time("compiled", compiled);
  time("exported", package);
  std::printf("Speedup %.2fx\n", imperative / once);
  compiled.enable(false); // back to debugging, in one call
  return same(reference, compiled(x)) ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
