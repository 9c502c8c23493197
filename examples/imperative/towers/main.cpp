// Two towers that are written one after the other and do not depend on each other: the compiler runs them side by side.
// docs/parallel.md goes on from here to the picture of a call.
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

struct Towers : nn::Module {
  nn::Linear left1 = add("left1", nn::Linear(256, 512)), left2 = add("left2", nn::Linear(512, 64));
  nn::Linear right1 = add("right1", nn::Linear(256, 512)), right2 = add("right2", nn::Linear(512, 64));

  Tensor operator()(const Tensor &x) const {
    Tensor a = left2(tanh(left1(x)));
    Tensor b = right2(tanh(right1(x))); // needs nothing of a
    return a * b;
  }
};

int main(int argc, char **argv) try {
  manualSeed(1);
  Towers towers;
  Tensor x = randn({256, 256}), inTurn = towers(x);

  CompileOptions options = PackageBuilder::portable();
  options.lanes = 2;     // a lane for each tower, where that pays
  options.merge = false; // no command of several, so that each is seen by itself
  PackageBuilder builder;
  builder.add("main", towers, {{DType::f32, {256, 256}}});
  Package package = loadBytes(builder.bytes(options));
  bool same = package(x).toVector<float>() == inTurn.toVector<float>();
  std::printf("side by side: %s\n", same ? "same bits" : "different");
  if (argc > 1) builder.save(argv[1], options);
  return same ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
