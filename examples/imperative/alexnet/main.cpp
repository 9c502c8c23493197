// AlexNet on one image of 1x1x224x224, run as it is written and compiled: the same bits.
#include <cstdio>
#include <cstring>
#include <sprig/sprig.h>

using namespace sprig;

/// 46764746 parameters.
struct AlexNet : nn::Module {
  nn::Sequential features =
      add("features",
          nn::Sequential(nn::Conv2d(1, 96, 11, {.stride = 4, .padding = 1}), nn::ReLU(),
                         nn::MaxPool2d(3, {.stride = 2}), nn::Conv2d(96, 256, 5, {.padding = 2}), nn::ReLU(),
                         nn::MaxPool2d(3, {.stride = 2}), nn::Conv2d(256, 384, 3, {.padding = 1}), nn::ReLU(),
                         nn::Conv2d(384, 384, 3, {.padding = 1}), nn::ReLU(), nn::Conv2d(384, 256, 3, {.padding = 1}),
                         nn::ReLU(), nn::MaxPool2d(3, {.stride = 2}), nn::Flatten()));
  nn::Sequential classifier =
      add("classifier", nn::Sequential(nn::Linear(6400, 4096), nn::ReLU(), nn::Dropout(0.5), nn::Linear(4096, 4096),
                                       nn::ReLU(), nn::Dropout(0.5), nn::Linear(4096, 10)));
  Tensor operator()(Tensor x) const { return classifier(features(x)); }
};

int main() {
  manualSeed(1);
  AlexNet net;
  net.eval(); // a net in training mode would be timed with its dropout
  std::printf("%lld parameters\n", (long long)net.numParameters());
  Tensor x = randn({1, 1, 224, 224});
  Tensor imperative = net(x);
  auto compiled = compile(net);
  Tensor result = compiled(x);
  bool same = std::memcmp(imperative.bytes(), result.bytes(), size_t(result.type().bytes())) == 0;
  std::printf("compiled and imperative results: %s\n", same ? "same bits" : "different");
  Timer timer;
  for (int i = 0; i < 10; ++i) result = compiled(x);
  std::printf("%.2f ms a run\n", timer.stop() * 100);
  return same ? 0 : 1;
}
