#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/bench/RandomData.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace sprig::cli {
namespace {

constexpr int64_t kClasses = 10;

std::string tensor(const std::string &shape) { return "tensor<" + shape + "xf32>"; }
std::string square(int64_t batch, int64_t channels, int64_t side) {
  return tensor(std::to_string(batch) + "x" + std::to_string(channels) + "x" + std::to_string(side) + "x" +
                std::to_string(side));
}

// Writes layers one after the other; parameters are declared once, whatever the number of functions.
class Writer {
public:
  Writer(int64_t batch, int64_t side) : side(side), batch(batch), sideOfInput(side) {}

  std::string parameters, body;
  std::string layer; ///< that operations are of; empty: none
  std::vector<std::string> trained;
  std::string value = "%x";
  int64_t channels = 1, side;

  std::string type() const { return square(batch, channels, side); }

  void conv(const std::string &name, int64_t to, int64_t kernel, int64_t stride) {
    conv(name, to, kernel, stride, kernel / 2);
  }
  void conv(const std::string &name, int64_t to, int64_t kernel, int64_t stride, int64_t padding) {
    std::string k = std::to_string(kernel), s = std::to_string(stride), p = std::to_string(padding);
    std::string shape = tensor(std::to_string(to) + "x" + std::to_string(channels) + "x" + k + "x" + k), from = type();
    std::string weight = parameter(name + ".weight", shape);
    channels = to;
    side = (side + 2 * padding - kernel) / stride + 1;
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
    layer = name;
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
    layer.clear();
  }

  void poolOfThree() { pool("nn.pool max", 3, ""); }
  void meanPool() { pool("nn.avg_pool", 2, ", counted_padding = array<i64: 0, 0, 0, 0>"); }

  /// Rows of numbers from here on.
  void mean() { becomeRows(channels, let("nn.reduce_mean " + value + " axes = [2, 3] : " + type())); }
  void flatten() {
    int64_t columns = channels * side * side;
    becomeRows(columns, let("nn.reshape " + value + " : " + type() + " to " + rows(columns)));
  }
  void linear(const std::string &name, int64_t to) {
    std::string from = rows(channels), bias = tensor(std::to_string(to)),
                weight = tensor(std::to_string(to) + "x" + std::to_string(channels));
    std::string w = parameter(name + ".weight", weight), b = parameter(name + ".bias", bias);
    becomeRows(to, let("nn.linear " + value + ", " + w + ", " + b + " : " + from + ", " + weight + ", " + bias));
  }
  void reluOfRows() { value = let("nn.relu " + value + " : " + rows(channels)); }

  std::string function() const {
    std::string result = tensor(std::to_string(batch) + "x" + std::to_string(kClasses));
    return "func.func @net" + std::to_string(batch) + "(%x: " + square(batch, 1, sideOfInput) +
           " {nn.name = \"x\"}) -> " + result + " {\n" + body + "  return " + value + " : " + result + "\n}\n";
  }

private:
  // By steps of two.
  void pool(const std::string &operation, int64_t window, const std::string &more) {
    std::string from = type(), w = std::to_string(window);
    side = (side - window) / 2 + 1;
    value = let(operation + " " + value + " {window = array<i64: " + w + ", " + w +
                ">, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>" + more +
                "} : " + from);
  }

  std::string rows(int64_t columns) const { return tensor(std::to_string(batch) + "x" + std::to_string(columns)); }
  void becomeRows(int64_t columns, const std::string &made) {
    channels = columns;
    side = 0;
    value = made;
  }

  std::string let(const std::string &operation) {
    std::string name = "%v" + std::to_string(values++);
    body += "  " + name + " = " + operation + (layer.empty() ? "" : " loc(\"" + layer + "\")") + "\n";
    return name;
  }

  std::string parameter(const std::string &name, const std::string &type, bool isTrained = true) {
    parameters += "nn.param @\"" + name + "\" = dense<0.0> : " + type + "\n";
    if (isTrained) trained.push_back(name);
    return let("nn.get_param @\"" + name + "\" : " + type);
  }

  int64_t batch, sideOfInput;
  int values = 0;
};

Writer writtenResNet18(int64_t batch, int64_t width) {
  Writer net(batch, 28);
  net.conv("conv", width, 3, 1);
  net.norm("bn");
  net.relu();
  for (int block = 0; block < 4; ++block, width *= 2)
    for (int i = 0; i < 2; ++i)
      net.residual("block" + std::to_string(block) + "." + std::to_string(i), width, block && i == 0 ? 2 : 1);
  net.mean();
  net.linear("fc", kClasses);
  return net;
}

Writer writtenLeNet(int64_t batch) {
  Writer net(batch, 28);
  net.conv("conv1", 20, 3, 1, 0);
  net.relu();
  net.meanPool();
  net.conv("conv2", 50, 5, 1, 0);
  net.relu();
  net.meanPool();
  net.flatten();
  net.linear("fc1", 128);
  net.reluOfRows();
  net.linear("fc2", kClasses);
  return net;
}

Writer writtenAlexNet(int64_t batch) {
  Writer net(batch, 224);
  struct {
    int64_t to, kernel, stride, padding;
    bool isPooled;
  } layers[] = {
      {96, 11, 4, 1, true}, {256, 5, 1, 2, true}, {384, 3, 1, 1, false}, {384, 3, 1, 1, false}, {256, 3, 1, 1, true}};
  int number = 0;
  for (auto &layer : layers) {
    net.conv("conv" + std::to_string(++number), layer.to, layer.kernel, layer.stride, layer.padding);
    net.relu();
    if (layer.isPooled) net.poolOfThree();
  }
  net.flatten();
  for (int i = 1; i <= 2; ++i) {
    net.linear("fc" + std::to_string(i), 4096);
    net.reluOfRows();
  }
  net.linear("fc3", kClasses);
  return net;
}

// One for each size.
TrainedNetwork networkOf(const std::string &name, const std::vector<Writer> &nets, int64_t batch) {
  TrainedNetwork network;
  network.model.path = name;
  network.model.kind = ModelKind::mlir;
  network.model.text = nets.front().parameters;
  for (const Writer &net : nets) network.model.text += net.function();
  network.config.losses = {training::LossConfig{}};
  network.config.optimizer.lr = 0.1;
  network.config.optimizer.momentum = 0.9;
  network.config.batch = batch;
  network.config.steps = 1;
  network.config.trainable = nets.front().trained;
  return network;
}

} // namespace

std::vector<int> doubledTo(int last) {
  std::vector<int> counts;
  for (int count = 1; count < last; count *= 2) counts.push_back(count);
  counts.push_back(last);
  return counts;
}

std::vector<int64_t> batchesOf(int64_t each, const std::vector<int> &ranks) {
  std::vector<int64_t> sizes{each};
  for (int count : ranks)
    if (count > 1) sizes.push_back(each * count);
  return sizes;
}

TrainedNetwork resNet18(const std::vector<int64_t> &sizes, int64_t width) {
  std::vector<Writer> nets;
  for (int64_t size : sizes) nets.push_back(writtenResNet18(size, width));
  return networkOf("ResNet-18", nets, sizes.front());
}

TrainedNetwork leNet(const std::vector<int64_t> &sizes) {
  std::vector<Writer> nets;
  for (int64_t size : sizes) nets.push_back(writtenLeNet(size));
  return networkOf("LeNet", nets, sizes.front());
}

TrainedNetwork alexNet(const std::vector<int64_t> &sizes) {
  std::vector<Writer> nets;
  for (int64_t size : sizes) nets.push_back(writtenAlexNet(size));
  return networkOf("AlexNet", nets, sizes.front());
}

std::vector<data::Array> randomState(const std::vector<checkpoints::ArrayView> &state,
                                     const std::vector<std::string> &trained, uint64_t seed) {
  std::vector<data::Array> arrays;
  for (const checkpoints::ArrayView &view : state) {
    bool isTrained = std::find(trained.begin(), trained.end(), view.name) != trained.end();
    bool isScale = isTrained && view.name.ends_with(".weight") && view.shape.size() == 1;
    ++seed;
    if (isTrained && view.shape.size() > 1 && view.name.ends_with(".weight")) {
      int64_t inputs = 1;
      for (size_t i = 1; i < view.shape.size(); ++i) inputs *= view.shape[i];
      arrays.push_back(randomArray(view.name, view.shape, seed, std::sqrt(2.0 / double(inputs))));
      continue;
    }
    data::Array &array =
        arrays.emplace_back(data::Array{view.name, view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
    if (!isScale && !view.name.ends_with(".running_var")) continue;
    std::vector<float> ones(size_t(array.elements()), 1.0f);
    std::memcpy(array.bytes.data(), ones.data(), array.bytes.size());
  }
  return arrays;
}

} // namespace sprig::cli
