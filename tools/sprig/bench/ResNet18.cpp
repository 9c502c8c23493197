#include "tools/sprig/bench/ResNet18.h"

namespace sprig::cli {
namespace {

constexpr int64_t kSide = 28, kClasses = 10;

std::string tensor(const std::string &shape) { return "tensor<" + shape + "xf32>"; }
std::string square(int64_t batch, int64_t channels, int64_t side) {
  return tensor(std::to_string(batch) + "x" + std::to_string(channels) + "x" + std::to_string(side) + "x" +
                std::to_string(side));
}

// Writes layers one after the other; parameters are declared once, whatever the number of functions.
class Writer {
public:
  explicit Writer(int64_t batch) : batch(batch) {}

  std::string parameters, body;
  std::vector<std::string> trained;
  std::string value = "%x";
  int64_t channels = 1, side = kSide;

  std::string type() const { return square(batch, channels, side); }

  void conv(const std::string &name, int64_t to, int64_t kernel, int64_t stride) {
    std::string k = std::to_string(kernel), s = std::to_string(stride), p = std::to_string(kernel / 2);
    std::string shape = tensor(std::to_string(to) + "x" + std::to_string(channels) + "x" + k + "x" + k), from = type();
    std::string weight = parameter(name + ".weight", shape);
    channels = to;
    side = (side + stride - 1) / stride;
    std::string made = let("nn.conv " + value + ", " + weight + " {strides = array<i64: " + s + ", " + s +
                           ">, dilations = array<i64: 1, 1>, padding = array<i64: " + p + ", " + p + ", " + p + ", " +
                           p + ">} : " + from + ", " + shape);
    std::string bias = tensor(std::to_string(to) + "x1x1");
    value = let("nn.add " + made + ", " + parameter(name + ".bias", bias) + " : " + type() + ", " + bias);
  }

  void norm(const std::string &name) {
    std::string each = tensor(std::to_string(channels)), operands = value, types = type();
    for (const char *part : {".weight", ".bias", ".running_mean", ".running_var"}) {
      operands += ", " + parameter(name + part, each, part[1] != 'r');
      types += ", " + each;
    }
    value = let("nn.batch_norm " + operands + " {epsilon = 1.0e-5 : f64} : " + types);
  }

  void relu() { value = let("nn.relu " + value + " : " + type()); }

  void residual(const std::string &name, int64_t to, int64_t stride) {
    std::string before = value;
    int64_t channelsBefore = channels, sideBefore = side;
    conv(name + ".conv1", to, 3, stride);
    norm(name + ".bn1");
    relu();
    conv(name + ".conv2", to, 3, 1);
    norm(name + ".bn2");
    std::string after = value;
    value = before;
    if (channelsBefore != to || stride != 1) {
      channels = channelsBefore;
      side = sideBefore;
      conv(name + ".conv3", to, 1, stride);
    }
    value = let("nn.add " + after + ", " + value + " : " + type() + ", " + type());
    relu();
  }

  void classify() {
    std::string rows = std::to_string(batch) + "x", c = std::to_string(channels);
    std::string pooled = let("nn.reduce_mean " + value + " axes = [2, 3] : " + type());
    std::string weight = tensor(std::to_string(kClasses) + "x" + c), bias = tensor(std::to_string(kClasses));
    std::string w = parameter("fc.weight", weight), b = parameter("fc.bias", bias);
    value = let("nn.linear " + pooled + ", " + w + ", " + b + " : " + tensor(rows + c) + ", " + weight + ", " + bias);
  }

private:
  std::string let(const std::string &operation) {
    std::string name = "%v" + std::to_string(values++);
    body += "  " + name + " = " + operation + "\n";
    return name;
  }

  std::string parameter(const std::string &name, const std::string &type, bool isTrained = true) {
    parameters += "nn.param @\"" + name + "\" = dense<0.0> : " + type + "\n";
    if (isTrained) trained.push_back(name);
    return let("nn.get_param @\"" + name + "\" : " + type);
  }

  int64_t batch;
  int values = 0;
};

Writer written(int64_t batch) {
  Writer net(batch);
  net.conv("conv", 64, 3, 1);
  net.norm("bn");
  net.relu();
  int64_t width = 64;
  for (int block = 0; block < 4; ++block, width *= 2)
    for (int i = 0; i < 2; ++i)
      net.residual("block" + std::to_string(block) + "." + std::to_string(i), width, block && i == 0 ? 2 : 1);
  net.classify();
  return net;
}

} // namespace

Model resNet18(const std::vector<int64_t> &batches) {
  Model model;
  model.path = "ResNet-18";
  model.kind = ModelKind::mlir;
  for (int64_t batch : batches) {
    Writer net = written(batch);
    if (model.text.empty()) model.text = net.parameters;
    std::string rows = std::to_string(batch);
    model.text += "func.func @net" + rows + "(%x: " + square(batch, 1, kSide) + " {nn.name = \"x\"}) -> " +
                  tensor(rows + "x" + std::to_string(kClasses)) + " {\n" + net.body + "  return " + net.value + " : " +
                  tensor(rows + "x" + std::to_string(kClasses)) + "\n}\n";
  }
  return model;
}

training::TrainConfig resNet18Config(int64_t batch) {
  training::TrainConfig config;
  config.losses = {training::LossConfig{}};
  config.optimizer.lr = 0.1;
  config.optimizer.momentum = 0.9;
  config.batch = batch;
  config.steps = 1;
  config.trainable = written(1).trained;
  return config;
}

} // namespace sprig::cli
