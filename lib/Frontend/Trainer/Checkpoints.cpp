#include "lib/Frontend/Trainer/Checkpoints.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/random.h"
#include <map>

namespace sprig::frontend {

namespace {

/// Counter of random numbers; the key is training::kSeed.
constexpr const char *kRandomCounter = "random/counter";

std::string where(Source at) { return frontend::placeText(at) + "Trainer: "; }

data::Array toArray(const std::string &name, const Tensor &value, Source at) {
  const auto *bytes = static_cast<const char *>(value.bytes(at));
  return {name, data::DType(value.dtype()), value.shape().vector(), {bytes, bytes + value.type().bytes()}};
}

} // namespace

Checkpoints::Checkpoints(const TrainerOptions &options, const Training &training, const data::Loader &train, Source at)
    : options(options), training(training), at(at) {
  if (options.checkpoint.empty()) {
    if (options.resume) throw Error(ErrorKind::usage, where(at) + "resume: from where? checkpoint names no folder");
    return;
  }
  std::string model;
  for (const auto &[name, parameter] : state()) model += name + " " + describe(parameter.type()) + "\n";
  identity.modelDigest = checkpoint::digest(model);
  const data::LoaderOptions &loader = train.options();
  identity.seed = loader.shuffle ? train.seed() : 0;
  identity.configDigest = checkpoint::digest(
      "trainer, batch " + std::to_string(loader.batch) + (loader.shuffle ? ", shuffled" : "") +
      (loader.dropLast ? ", whole batches" : "") + ", " + std::to_string(train.dataset().size()) + " samples, clip " +
      std::to_string(options.clipNorm) + " " + std::to_string(options.clipValue));
}

std::vector<std::pair<std::string, Parameter>> Checkpoints::state() const {
  auto all = training.module->namedParameters();
  for (auto &row : training.module->namedBuffers()) all.push_back(row);
  for (auto &row : training.optimizer.namedState()) all.push_back(row);
  return all;
}

std::optional<checkpoint::Manifest> Checkpoints::resume() {
  if (options.checkpoint.empty()) return std::nullopt;
  std::string folder = options.checkpoint.string();
  std::vector<int64_t> steps = checkpoint::listSteps(folder);
  if (!options.resume && !steps.empty())
    throw Error(ErrorKind::usage, where(at) + folder + " holds the checkpoint of step " +
                                      std::to_string(steps.front()) +
                                      " of another run\nnote: resume = true goes on with it; or give another folder");
  std::optional<checkpoint::Manifest> from;
  if (!steps.empty()) {
    checkpoint::Checkpoint found = checkpoint::loadForResume(folder);
    auto refuse = [&](const std::string &what) {
      throw Error(ErrorKind::badInput, where(at) + folder + ": the checkpoint of step " +
                                           std::to_string(found.manifest.step) + " is of another " + what +
                                           ", so the run would not be the same");
    };
    if (found.manifest.modelDigest != identity.modelDigest) refuse("module or optimizer");
    if (found.manifest.configDigest != identity.configDigest || found.manifest.seed != identity.seed)
      refuse("order, number or batch of samples, or clips otherwise");
    std::map<std::string, const data::Array *> arrays;
    for (const data::Array &array : found.arrays) arrays[array.name] = &array;
    for (auto &[name, parameter] : state()) {
      auto row = arrays.find(name);
      if (row == arrays.end())
        throw Error(ErrorKind::badInput, where(at) + folder + ": the checkpoint has no array '" + name + "'");
      TensorType type{DType(row->second->dtype), row->second->shape};
      if (!(type == parameter.type()))
        throw Error(ErrorKind::badInput, where(at) + folder + ": array '" + name + "' is " + describe(type) +
                                             ", the module has " + describe(parameter.type()));
      parameter.set(Tensor::copyOf(row->second->bytes.data(), type), at);
    }
    auto seed = arrays.find(training::kSeed), counter = arrays.find(kRandomCounter);
    if (seed != arrays.end() && counter != arrays.end() && seed->second->elements() == 1 &&
        counter->second->elements() == 1)
      setRandomState({uint64_t(seed->second->integerAt(0)), uint64_t(counter->second->integerAt(0))});
    lastSaved = found.manifest.step;
    from = found.manifest;
  }
  writer = std::make_unique<checkpoint::Writer>(options.checkpoint, std::max(options.checkpointsKept, 1));
  return from;
}

void Checkpoints::save(int64_t step, int64_t epoch, int64_t batch) {
  if (!writer || step == lastSaved) return;
  std::vector<data::Array> copies;
  for (const auto &[name, parameter] : state()) copies.push_back(toArray(name, parameter.value(), at));
  RandomState random = randomState();
  copies.push_back(toArray(training::kSeed, Tensor(int64_t(random.seed)), at));
  copies.push_back(toArray(kRandomCounter, Tensor(int64_t(random.draws)), at));
  std::vector<checkpoint::ArrayView> views;
  for (const data::Array &array : copies) views.push_back({array.name, array.dtype, array.shape, array.bytes});
  checkpoint::Manifest manifest = identity;
  manifest.step = step;
  manifest.epoch = epoch;
  manifest.index = batch;
  writer->save(manifest, views);
  lastSaved = step;
}

void Checkpoints::finish() {
  if (writer) writer->wait();
}

} // namespace sprig::frontend
