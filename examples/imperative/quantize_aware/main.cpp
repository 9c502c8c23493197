// Trains a small convolutional network on images of digits, then once more with weights and activations of few bits,
// and compares with rounding alone; the last form runs on integers from an ONNX file in memory.
//   quantize_aware examples/train_digits/data
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sprig/compile.h>
#include <sprig/onnx.h>
#include <sprig/sprig.h>

using namespace sprig;

struct Net : nn::Module {
  nn::Conv2d a = add("a", nn::Conv2d(1, 4, 3, {.padding = 1})), b = add("b", nn::Conv2d(4, 8, 3, {.padding = 1}));
  nn::Linear head = add("head", nn::Linear(32, 10));
  Tensor operator()(Tensor x) const {
    Tensor first = maxPool2d(relu(a(reshape(x, {-1, 1, 8, 8}))), 2);
    return head(flatten(maxPool2d(relu(b(first)), 2), 1));
  }
};

struct Digits {
  data::Dataset train, test;
};

void fit(Net &net, const Digits &digits, int epochs, double rate) {
  net.train();
  auto optimizer = optim::adam(net.parameters(), {.lr = rate});
  auto step = compile([&](Tensor x, Tensor y) {
    Tensor loss = crossEntropy(net(x), y);
    optimizer.update(grad(loss, net.parameters()));
    return loss;
  });
  data::Loader batches(digits.train, {.batch = 64, .shuffle = 7, .dropLast = true});
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (auto [x, y] : batches) step(x, y);
}

double accuracyOf(Net &net, const Digits &digits) {
  net.eval();
  metrics::Accuracy accuracy;
  auto predict = compile(net);
  for (auto [x, y] : data::Loader(digits.test, {.batch = 120})) accuracy.add(predict(x), y);
  return accuracy.value();
}

/// Ranges of activations alone, over the training set once.
void observe(Net &net, const Digits &digits) {
  NoGrad quiet;
  net.train();
  auto see = compile(net);
  for (auto [x, y] : data::Loader(digits.train, {.batch = 64, .dropLast = true})) see(x);
}

/// How far integers are from the network's own forward pass, as a share of the largest output.
double distanceOnIntegers(Net &net, const Digits &digits) {
  net.eval();
  Program program = compile(Model::bytes(exportOnnxBytes(net, {{DType::f32, {120, 8, 8}}}), "digits.onnx"));
  double largest = 0, distance = 0;
  for (auto [x, y] : data::Loader(digits.test, {.batch = 120})) {
    std::vector<float> wanted = net(x).toVector<float>(), pixels = x.toVector<float>();
    std::vector<rt::Array> got = program({rt::TensorView(pixels.data(), {120, 8, 8})});
    std::vector<float> numbers(wanted.size());
    std::memcpy(numbers.data(), got[0].data(), got[0].bytes());
    for (size_t i = 0; i < wanted.size(); ++i) {
      largest = std::max(largest, double(std::abs(wanted[i])));
      distance = std::max(distance, double(std::abs(wanted[i] - numbers[i])));
    }
  }
  return distance / largest;
}

int main(int count, char **arguments) try {
  std::string folder = count > 1 ? arguments[1] : "examples/train_digits/data";
  auto labelled = [&](const std::string &part) {
    auto images = data::idx(folder + "/" + part + "-images-idx3-ubyte").as(0, DType::f32, /*scaleBytes=*/true);
    auto labels = data::idx(folder + "/" + part + "-labels-idx1-ubyte").as(0, DType::i64);
    return data::zip({images, labels});
  };
  Digits digits{labelled("train"), labelled("t10k")};
  manualSeed(7);
  Net net;
  fit(net, digits, 20, 3e-3);
  std::printf("f32: accuracy %.4f\n", accuracyOf(net, digits));
  Net longer = nn::clone(net);
  fit(longer, digits, 10, 1e-3);
  std::printf("f32, 10 epochs more: accuracy %.4f\n", accuracyOf(longer, digits));
  for (int bits : {8, 4, 3}) {
    nn::QuantizeAwareOptions few{.weightBits = bits, .activations = {.bits = bits}};
    Net rounded = nn::clone(longer), aware = nn::clone(net);
    nn::quantizeAware(rounded, few);
    observe(rounded, digits);
    nn::quantizeAware(aware, few);
    fit(aware, digits, 10, 1e-3);
    std::printf("%d bits: rounded %.4f, trained for it %.4f; on integers within %.1e\n", bits,
                accuracyOf(rounded, digits), accuracyOf(aware, digits), distanceOnIntegers(aware, digits));
  }
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return int(error.kind());
}
