// A conditional variational autoencoder (arXiv:1312.6114): two optimizers, gradients of four batches a step, classes
// as bytes, a weight and a rate that follow schedules of the program's own, evaluations within the loop.
#include "Program.h"

namespace programs {
namespace {

constexpr int64_t kPixels = 64, kClasses = 4, kLatent = 4, kAccumulate = 4;

struct Encoder : nn::Module {
  nn::Linear a = add("a", nn::Linear(kPixels + kClasses, 48, {.bias = false})),
             mean = add("mean", nn::Linear(48, kLatent)), logVariance = add("log_variance", nn::Linear(48, kLatent));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(48));
  std::pair<Tensor, Tensor> operator()(Tensor x, Tensor classes) const {
    Tensor h = relu(norm(a(cat({x, classes}, 1))));
    return {mean(h), logVariance(h)};
  }
};

struct Decoder : nn::Module {
  nn::Linear a = add("a", nn::Linear(kLatent + kClasses, 48)), b = add("b", nn::Linear(48, kPixels));
  Tensor operator()(Tensor z, Tensor classes) const { return b(relu(a(cat({z, classes}, 1)))); }
};

} // namespace

Curve vae(const Files &files, const Settings &) {
  Encoder encoder;
  Decoder decoder;
  encoder.load(files.weights("encoder"));
  decoder.load(files.weights("decoder"));
  auto forEncoder = optim::adam(encoder, {.lr = 2e-3});
  auto forDecoder = optim::sgd(decoder, {.lr = 0.05, .momentum = 0.9, .nesterov = true});
  // Pixels and classes are u8.
  auto elbo = [&](Tensor image, Tensor label, Tensor noise, Tensor beta) {
    Tensor x = image.to(DType::f32) / 255, classes = oneHot(label.to(DType::i64), kClasses);
    auto [mean, logVariance] = encoder(x, classes);
    Tensor logits = decoder(mean + exp(0.5 * logVariance) * noise, classes);
    Tensor reconstruction = bceWithLogitsLoss(logits, x, {.reduction = Reduction::sum}) / x.size(0);
    Tensor divergence = -0.5 * sum(1 + logVariance - square(mean) - exp(logVariance)) / x.size(0);
    return reconstruction + beta * divergence;
  };
  auto accumulate = compile([&](Tensor image, Tensor label, Tensor noise, Tensor beta) {
    Tensor loss = elbo(image, label, noise, beta) / kAccumulate;
    loss.backward();
    return loss;
  });
  auto evaluate = compile([&](Tensor image, Tensor label, Tensor noise) {
    NoGrad scope;
    return elbo(image, label, noise, Tensor(1.f));
  });
  Tensor images = files.data("images"), labels = files.data("labels"), noise = files.data("noise");
  Curve curve;
  int64_t steps = images.size(0) / kAccumulate;
  for (int64_t step = 0; step < steps; ++step) {
    Tensor beta(float(std::min(1.0, double(step) / 20)));
    forEncoder.setLr(step < steps / 2 ? 2e-3 : 5e-4);
    std::vector<Tensor> x = images.narrow(0, step * kAccumulate, kAccumulate).unbind(),
                        y = labels.narrow(0, step * kAccumulate, kAccumulate).unbind(),
                        e = noise.narrow(0, step * kAccumulate, kAccumulate).unbind();
    curve.step([&] {
      Tensor loss = accumulate(x[0], y[0], e[0], beta);
      for (size_t i = 1; i < x.size(); ++i) loss += accumulate(x[i], y[i], e[i], beta);
      forEncoder.step();
      forDecoder.step();
      forEncoder.zeroGrad();
      forDecoder.zeroGrad();
      return loss;
    });
    if (step % 10 == 9) {
      encoder.eval();
      curve.result(evaluate(images[0], labels[0], noise[0]));
      encoder.train();
    }
  }
  return curve;
}

} // namespace programs
