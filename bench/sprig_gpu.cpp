// Sprig on a GPU in the peers' harness (bench/peers/gpu.py), with packages that `sprig compile` has made beforehand:
// DIR/BATCH.PRECISION.sprig of a network, DIR/step.PRECISION.sprig of a training task. Many stay loaded under a key.
//
//   sprig_gpu [DEVICE]                    cuda:0 by default; commands on stdin, one answer line each:
//     load KEY net DIR BATCH PRECISION     ->  ready LOAD_NS MAX_ERROR   (as in peers/cpp/serve.h)
//     load KEY step DIR 0 PRECISION        ->  ready LOAD_NS LOSS        (of step 10)
//     time KEY host MIN_MS                 ->  ns PER_CALL   (arrays of the host, each call waited for)
//     time KEY device MIN_MS               ->  ns PER_CALL   (arrays on the GPU, calls back to back, by its events)
#include "bench/GpuCalls.h"
#include "bench/TaskData.h"
#include "bench/peers/cpp/serve.h"
#include <map>

namespace {

using sprig::rt::TensorView;

/// A package with the arrays of its calls, on the host.
struct Loaded {
  std::vector<bench::Tensor> inputs, outputs;
  std::unique_ptr<bench::GpuCalls> calls;
};

TensorView view(bench::Tensor &tensor) {
  return {tensor.bytes.data(), tensor.isInt64 ? SPRIG_RT_I64 : SPRIG_RT_F32, tensor.shape};
}

std::vector<TensorView> views(std::vector<bench::Tensor> &tensors) {
  std::vector<TensorView> result;
  for (bench::Tensor &tensor : tensors) result.push_back(view(tensor));
  return result;
}

double checkOfNet(Loaded &loaded, const std::vector<bench::Tensor> &wanted) {
  struct Outputs : bench::Model {
    explicit Outputs(std::vector<bench::Tensor> &given) : tensors(given) {}
    void run() override {}
    const float *output(size_t index) override { return tensors[index].data<float>(); }
    std::vector<bench::Tensor> &tensors;
  } outputs(loaded.outputs);
  bench::Case reference{{}, wanted};
  return bench::maxError(outputs, reference);
}

double checkOfStep(Loaded &loaded) {
  for (int i = 0; i < 9; ++i) loaded.calls->onHost();
  return *loaded.outputs.at(0).data<float>();
}

std::string load(Loaded &loaded, std::istream &words, const std::string &device) {
  std::string kind, folder, batch, precision;
  words >> kind >> folder >> batch >> precision;
  std::filesystem::path path(folder);
  bool step = kind == "step";
  std::vector<bench::Tensor> wanted;
  if (step) {
    auto data = bench::readTask(path);
    for (const char *name : {"x.bin", "y.bin"})
      loaded.inputs.push_back({true, data[name].isInt64, data[name].shape, data[name].bytes});
    loaded.outputs.push_back({false, false, {}, std::vector<char>(sizeof(float))});
  } else {
    bench::Case data = bench::readCase(path, std::stoi(batch));
    loaded.inputs = std::move(data.inputs);
    wanted = loaded.outputs = std::move(data.outputs);
    for (bench::Tensor &tensor : loaded.outputs) std::fill(tensor.bytes.begin(), tensor.bytes.end(), char(-1)); // NaN
  }
  auto start = bench::Clock::now();
  loaded.calls =
      std::make_unique<bench::GpuCalls>((path / ((step ? "step." : batch + ".") + precision + ".sprig")).string(),
                                        step ? "train_step" : "", device, views(loaded.inputs), views(loaded.outputs));
  loaded.calls->onHost();
  double ns = bench::nsSince(start);
  std::ostringstream answer;
  answer << "ready " << ns << ' ' << (step ? checkOfStep(loaded) : checkOfNet(loaded, wanted));
  return answer.str();
}

std::string time(Loaded &loaded, std::istream &words) {
  std::string mode;
  double ms;
  words >> mode >> ms;
  if (!loaded.calls) throw std::runtime_error("nothing is loaded under this key");
  double ns = mode == "device" ? loaded.calls->nsOnDevice(ms) : bench::timeCalls([&] { loaded.calls->onHost(); }, ms);
  return "ns " + std::to_string(ns);
}

} // namespace

int main(int argc, char **argv) {
  std::string device = argc > 1 ? argv[1] : "cuda:0";
  std::map<std::string, Loaded> all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, key;
    words >> command >> key;
    try {
      if (command == "load") all.erase(key);
      std::cout << (command == "load" ? load(all[key], words, device) : time(all[key], words)) << std::endl;
    } catch (const std::exception &e) {
      if (command == "load") all.erase(key);
      std::string what = e.what();
      std::replace(what.begin(), what.end(), '\n', ' ');
      std::cout << "error " << what.substr(0, 300) << std::endl;
    }
  }
}
