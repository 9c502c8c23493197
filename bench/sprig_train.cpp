// Sprig's training steps in the peers' harness (bench/peers/README.md), compiled in this process. Protocol of serve.h,
// with "load TASK_FOLDER 0"; the check of "ready" is the loss of step 10, its time that of reading, compiling and
// running the first step.
#include "bench/TaskData.h"
#include "bench/peers/cpp/serve.h"
#include "sprig/train.h"

namespace {

struct Trainer {
  sprig::rt::Pool pool;
  sprig::rt::Package package;
  sprig::rt::State state;
  sprig::rt::Context context;
  std::vector<sprig::rt::TensorView> inputs, outputs;
  float loss = 0;

  Trainer(std::vector<uint8_t> bytes, std::vector<sprig::rt::TensorView> given, int threads)
      : pool(threads), package(sprig::rt::Package::fromMemory(std::move(bytes))), state(package),
        context(package, {.pool = &pool, .state = &state}), inputs(std::move(given)),
        outputs{sprig::rt::TensorView(&loss, {})} {}
  void step() { context.invoke(inputs, outputs); }
};

} // namespace

int main(int, char **argv) {
  int threads = std::atoi(argv[2]);
  std::map<std::string, bench::TaskTensor> data;
  std::unique_ptr<Trainer> trainer;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, folder;
    words >> command;
    try {
      if (command == "load") {
        words >> folder;
        std::filesystem::path path(folder);
        trainer.reset();
        data = bench::readTask(path);
        auto start = bench::Clock::now();
        sprig::CompileOptions options;
        options.threads = threads;
        auto package = sprig::compileTraining(sprig::Model::file((path / "model.onnx").string()),
                                              bench::readText(path / "config.json"),
                                              {.steps = {data["x.bin"].shape.at(0)}}, options);
        trainer = std::make_unique<Trainer>(std::move(package), std::vector{data["x.bin"].view(), data["y.bin"].view()},
                                            threads);
        trainer->step();
        double ns = bench::nsSince(start);
        for (int i = 0; i < 9; ++i) trainer->step();
        std::cout << "ready " << ns << ' ' << trainer->loss << std::endl;
      } else {
        if (!trainer) throw std::runtime_error("nothing loaded");
        double ms;
        words >> ms;
        std::cout << "ns " << bench::timeCalls([&] { trainer->step(); }, ms) << std::endl;
      }
    } catch (const std::exception &e) {
      std::string what = e.what();
      std::replace(what.begin(), what.end(), '\n', ' ');
      std::cout << "error " << what.substr(0, 300) << std::endl;
    }
  }
}
