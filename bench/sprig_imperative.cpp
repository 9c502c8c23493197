// The imperative front-end in the peers' harness (bench/peers/imperative.py): operations one by one and in streams,
// training steps as they are written and compiled, calls of small compiled functions.
//   sprig_imperative --serve THREADS    protocol of serve.h: "load CASE 0", "time MS"; ns are those of one operation
//   sprig_imperative first TASK_FOLDER  ms of the first iterations of an uncompiled training loop in this process
//   sprig_imperative memory TASK_FOLDER memory after 1000 and 10000 iterations that nothing waits for
// THREADS is the harness's business: a process that is pinned to one processor compiles for one.
// Cases: record:OP, stream:OP:SIZE:TIER, latency:OP:SIZE:TIER, eager:TASK_FOLDER, compiled:TASK_FOLDER, call:WIDTHS.
#include "bench/TaskData.h"
#include "bench/peers/cpp/serve.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "sprig/rt/memory.h"
#include "sprig/sprig.h"

using namespace sprig;

namespace {

using bench::Clock;
using bench::nsSince;

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

struct Case {
  virtual ~Case() = default;
  virtual double check() { return 0; }
  /// Mean ns of one unit over at least so many ms.
  virtual double time(double ms) = 0;
};

// ------------------------------------------------------------------------------------------------- operations

/// One kind of operation on a running value, or on fixed operands where the result has another shape.
struct Operation {
  std::string name;
  Tensor x, y, bias;
  bool chains = true;

  Operation(std::string given, int64_t size) : name(std::move(given)) {
    manualSeed(1);
    if (name == "matmul")
      x = randn({size, size}), y = randn({size, size}) * (1 / std::sqrt(double(size)));
    else if (name == "linear")
      x = randn({1, size}), y = randn({size, size}) * (1 / std::sqrt(double(size))), bias = randn({size});
    else
      x = randn({size}), y = rand({size}) * 1e-3 + (name == "mul" ? 1.0 : 0.0);
    chains = name != "sum" && name != "slice";
    synchronize();
  }

  Tensor operator()(const Tensor &value) const {
    if (name == "add") return value + y;
    if (name == "mul") return value * y;
    if (name == "relu") return relu(value);
    if (name == "sum") return sum(x);
    if (name == "slice") return x.slice(0, 1, x.size(0) - 1);
    if (name == "matmul") return matmul(value, y);
    if (name == "linear") return linear(value, y, bias);
    if (name == "softmax") return softmax(value, -1);
    throw std::runtime_error("no operation " + name);
  }
};

constexpr int kStream = 1000;

/// What recording costs, without running: so few operations a time that nothing starts meanwhile.
struct Record : Case {
  static constexpr int kFew = 256;
  Operation op;
  Record(const std::string &name) : op(name, 100) {
    for (int i = 0; i < 4; ++i) {
      time(1);
      frontend::PlanCache::instance().wait();
    }
  }
  double time(double ms) override {
    double total = 0;
    int64_t count = 0;
    std::vector<Tensor> kept(kFew);
    for (auto start = Clock::now(); nsSince(start) < ms * 1e6; count += kFew) {
      Tensor value = op.x;
      auto begin = Clock::now();
      if (op.chains)
        for (int i = 0; i < kFew; ++i) value = op(value);
      else
        for (int i = 0; i < kFew; ++i) kept[size_t(i)] = op(value);
      total += nsSince(begin);
      synchronize();
      for (Tensor &each : kept) each = Tensor();
    }
    return total / double(count);
  }
};

/// 1000 operations and one wait. `isNew`: no two streams have the same structure, so that none is compiled.
struct Stream : Case {
  Operation op;
  bool isNew;
  int64_t round = 0;
  std::vector<Tensor> kept = std::vector<Tensor>(kStream);
  Stream(const std::string &name, int64_t size, bool isNew) : op(name, size), isNew(isNew) {
    for (int i = 0; i < 4; ++i) {
      run();
      frontend::PlanCache::instance().wait();
    }
  }
  void run() {
    Tensor value = isNew ? op.x + double(++round) * 1e-6 : op.x;
    if (op.chains) {
      for (int i = 0; i < kStream; ++i) value = op(value);
      value.wait();
    } else {
      for (int i = 0; i < kStream; ++i) kept[size_t(i)] = op(value);
      if (isNew) kept[0] = value;
      kept.back().wait();
    }
  }
  double time(double ms) override {
    return bench::timeCalls([&] { run(); }, ms) / kStream;
  }
};

/// One operation and the reading of its result.
struct Latency : Case {
  Operation op;
  bool isNew;
  Latency(const std::string &name, int64_t size, bool isNew) : op(name, size), isNew(isNew) {
    for (int i = 0; i < 4; ++i) {
      run();
      frontend::PlanCache::instance().wait();
    }
  }
  void run() { sink = sink + *op(op.x).data<float>(); }
  double time(double ms) override {
    frontend::PlanCache::instance().enable(!isNew);
    double ns = bench::timeCalls([&] { run(); }, ms);
    frontend::PlanCache::instance().enable(true);
    return ns;
  }
  volatile float sink = 0;
};

// ------------------------------------------------------------------------------------------------- training

struct Perceptron : nn::Module {
  std::vector<nn::Linear> layers;
  explicit Perceptron(const std::vector<int64_t> &widths) {
    for (size_t i = 0; i + 1 < widths.size(); ++i)
      layers.push_back(add(std::to_string(i), nn::Linear(widths[i], widths[i + 1])));
  }
  Tensor operator()(Tensor x) const {
    for (size_t i = 0; i < layers.size(); ++i) {
      x = layers[i](x);
      if (i + 1 < layers.size()) x = relu(x);
    }
    return x;
  }
};

nn::Sequential lenet() {
  return nn::Sequential(nn::Conv2d(1, 20, 3), nn::ReLU(), nn::AvgPool2d(2), nn::Conv2d(20, 50, 5), nn::ReLU(),
                        nn::AvgPool2d(2), nn::Flatten(), nn::Linear(800, 128), nn::ReLU(), nn::Linear(128, 10));
}

/// A task of tasks.py by its folder's name; networks of linear layers and LeNet, with SGD or Adam.
struct Training {
  std::map<std::string, bench::TaskTensor> data;
  Tensor x, y;
  std::function<Tensor(Tensor)> net;
  std::vector<Parameter> parameters;
  std::optional<optim::Optimizer> optimizer;

  explicit Training(const std::string &folder) : data(bench::readTask(folder)) {
    x = tensor("x.bin");
    y = tensor("y.bin");
    std::string name = std::filesystem::path(folder).filename();
    if (name.starts_with("lenet"))
      take(lenet());
    else {
      std::vector<int64_t> widths{x.size(1)};
      for (int i = 0; data.contains("p" + std::to_string(i) + ".bin"); i += 2)
        widths.push_back(data["p" + std::to_string(i) + ".bin"].shape[0]);
      take(Perceptron(widths));
    }
    for (size_t i = 0; i < parameters.size(); ++i) parameters[i].set(tensor("p" + std::to_string(i) + ".bin"));
    if (name.find("_adam_") != std::string::npos)
      optimizer = optim::adam(parameters, {.lr = 1e-3});
    else if (name.find("_sgd_") != std::string::npos)
      optimizer = optim::sgd(parameters, {.lr = 0.05});
    else
      throw std::runtime_error("no optimizer for " + name);
  }

  Tensor step(const Tensor &input, const Tensor &labels) const {
    Tensor loss = crossEntropy(net(input), labels);
    optimizer->update(grad(loss, parameters));
    return loss;
  }

private:
  template <typename Net> void take(Net given) {
    parameters = given.parameters();
    net = [given](Tensor input) { return given(input); };
  }
  Tensor tensor(const std::string &file) {
    bench::TaskTensor &given = data.at(file);
    return Tensor::copyOf(given.bytes.data(), {given.isInt64 ? DType::i64 : DType::f32, given.shape});
  }
};

/// Steps back to back, one wait at the end of a round.
struct Steps : Case {
  Training training;
  std::function<Tensor()> step;
  double loss = 0;
  Steps(const std::string &folder, bool isCompiled) : training(folder) {
    if (isCompiled)
      step = [this, f = compile([this](Tensor x, Tensor y) { return training.step(x, y); })] {
        return f(training.x, training.y);
      };
    else
      step = [this] { return training.step(training.x, training.y); };
    for (int i = 0; i < 10; ++i) loss = step().item<double>();
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 4; ++k) step();
      synchronize();
      frontend::PlanCache::instance().wait();
    }
  }
  double check() override { return loss; }
  double time(double ms) override {
    int64_t chunk = 1, count = 0;
    for (auto start = Clock::now();;) {
      for (int64_t i = 0; i < chunk; ++i) step();
      synchronize();
      count += chunk;
      double ns = nsSince(start);
      if (ns >= ms * 1e6) return ns / double(count);
      chunk = std::clamp<int64_t>(int64_t(double(count) * (ms * 1e6 / ns - 1) / 4), 1, count);
    }
  }
};

/// A loop that needs each result before the next input is known: numbers of the host in, numbers of the host out.
struct Call : Case {
  std::vector<float> state;
  std::function<Tensor(Tensor)> policy;
  explicit Call(const std::string &widths) {
    std::vector<int64_t> sizes;
    for (const std::string &width : split(widths, '_')) sizes.push_back(std::stoll(width));
    state.resize(size_t(sizes[0]), 0.1f);
    manualSeed(1);
    policy = compile([net = Perceptron(sizes)](Tensor x) { return net(x); });
    for (int i = 0; i < 10; ++i) run();
  }
  void run() {
    NoGrad scope;
    Tensor action = policy(Tensor::from(state, {1, int64_t(state.size())}));
    state[0] = action.data<float>()[0] * 0.1f;
  }
  double time(double ms) override {
    return bench::timeCalls([&] { run(); }, ms);
  }
};

std::unique_ptr<Case> make(const std::string &text) {
  std::vector<std::string> parts = split(text, ':');
  const std::string &kind = parts.at(0);
  if (kind == "record") return std::make_unique<Record>(parts.at(1));
  if (kind == "stream") return std::make_unique<Stream>(parts.at(1), std::stoll(parts.at(2)), parts.at(3) == "new");
  if (kind == "latency") return std::make_unique<Latency>(parts.at(1), std::stoll(parts.at(2)), parts.at(3) == "new");
  if (kind == "eager" || kind == "compiled") return std::make_unique<Steps>(parts.at(1), kind == "compiled");
  if (kind == "call") return std::make_unique<Call>(parts.at(1));
  throw std::runtime_error("no case " + text);
}

// ------------------------------------------------------------------------------------------------- whole processes

void first(const std::string &folder) {
  auto start = Clock::now();
  Training training(folder);
  double built = nsSince(start);
  std::vector<double> ms;
  for (int i = 0; i < 5; ++i) {
    auto begin = Clock::now();
    training.step(training.x, training.y).wait();
    synchronize();
    ms.push_back(nsSince(begin) / 1e6);
  }
  std::cout << "first " << built / 1e6;
  for (double each : ms) std::cout << ' ' << each;
  std::cout << std::endl;
}

double residentMB() {
  std::ifstream status("/proc/self/statm");
  double size = 0, resident = 0;
  status >> size >> resident;
  return resident * 4096 / 1e6;
}

void memory(const std::string &folder) {
  Training training(folder);
  auto run = [&](int steps) {
    for (int i = 0; i < steps; ++i) training.step(training.x, training.y);
  };
  run(20);
  synchronize();
  frontend::PlanCache::instance().wait();
  std::cout << "memory";
  rt::memory::resetPeak();
  for (int steps : {1000, 9000}) {
    run(steps);
    std::cout << ' ' << residentMB() << ' ' << double(rt::memory::peak()) / 1e6;
  }
  std::cout << std::endl;
}

} // namespace

int main(int count, char **arguments) {
  if (count != 3) {
    std::cerr << "usage: sprig_imperative --serve THREADS | first FOLDER | memory FOLDER\n";
    return 2;
  }
  std::string mode = arguments[1];
  if (mode == "first") return first(arguments[2]), 0;
  if (mode == "memory") return memory(arguments[2]), 0;
  std::unique_ptr<Case> current;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, what;
    words >> command >> what;
    try {
      if (command == "load") {
        current.reset();
        auto start = Clock::now();
        current = make(what);
        std::cout << "ready " << nsSince(start) << ' ' << current->check() << std::endl;
      } else {
        if (!current) throw std::runtime_error("nothing loaded");
        std::cout << "ns " << current->time(std::stod(what)) << std::endl;
      }
    } catch (const std::exception &error) {
      std::string text = error.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::cout << "error " << text.substr(0, 300) << std::endl;
    }
  }
}
