#include "lib/Frontend/Trainer/Checkpoints.h"
#include "lib/Frontend/Record.h"
#include "runtime/base/Decimal.h"

namespace sprig::frontend {

namespace {

std::string where(Source at) { return frontend::placeText(at) + "Trainer: "; }

} // namespace

Checkpoints::Checkpoints(const TrainerOptions &options, const Training &training, const RatePlateau *plateau,
                         const data::Loader &train, Source at)
    : options(options), training(training), plateau(plateau), at(at) {
  if (options.checkpoint.empty()) {
    if (options.resume) badUse(where(at) + "resume: from where? checkpoint names no folder");
    return;
  }
  identity.modelDigest = checkpoints::digest(state().types());
  const data::LoaderOptions &loader = train.options();
  identity.seed = loader.shuffle ? train.seed() : 0;
  identity.configDigest =
      checkpoints::digest("trainer, batch " + std::to_string(loader.batch) + (loader.shuffle ? ", shuffled" : "") +
                          (loader.dropLast ? ", whole batches" : "") + ", " + std::to_string(train.dataset().size()) +
                          " samples, clip " + decimal::fixed(options.clipNorm, 6) + " " +
                          decimal::fixed(options.clipValue, 6) + (plateau ? plateau->settings() : ""));
}

CheckpointSlots Checkpoints::state() const {
  CheckpointSlots slots(at);
  for (const auto &named :
       {training.module->namedParameters(), training.module->namedBuffers(), training.optimizer.namedState()})
    for (auto &[name, parameter] : named) slots.add(name, parameter);
  if (plateau)
    for (auto &[name, parameter] : plateau->namedState()) slots.add(name, parameter);
  return slots;
}

std::optional<checkpoints::Manifest> Checkpoints::resume() {
  if (options.checkpoint.empty()) return std::nullopt;
  std::string folder = options.checkpoint.string();
  std::vector<int64_t> steps = checkpoints::listSteps(folder);
  if (!options.resume && !steps.empty())
    badUse(where(at) + folder + " holds the checkpoint of step " + std::to_string(steps.front()) +
           " of another run\nnote: resume = true goes on with it; or give another folder");
  std::optional<checkpoints::Manifest> from;
  if (!steps.empty()) {
    checkpoints::Checkpoint found = checkpoints::loadForResume(folder);
    auto refuse = [&](const std::string &what) {
      badInput(where(at) + folder + ": the checkpoint of step " + std::to_string(found.manifest.step) +
               " is of another " + what + ", so the run would not be the same");
    };
    if (found.manifest.modelDigest != identity.modelDigest) refuse("module or optimizer");
    if (found.manifest.configDigest != identity.configDigest || found.manifest.seed != identity.seed)
      refuse("order, number or batch of samples, or clips or lowers rates otherwise");
    std::vector<std::string> names;
    for (const data::Array &array : found.arrays) names.push_back(array.name);
    training.optimizer.expect(names);
    CheckpointSlots slots = state();
    slots.addRandomState();
    if (std::string misfits = slots.misfits(found.arrays); !misfits.empty())
      badInput(where(at) + folder + ": the checkpoint does not fit" + misfits);
    slots.set(found.arrays);
    lastSaved = found.manifest.step;
    from = found.manifest;
  }
  writer = std::make_unique<checkpoints::Writer>(options.checkpoint, std::max(options.checkpointsKept, 1));
  return from;
}

void Checkpoints::save(int64_t step, int64_t epoch, int64_t batch) {
  if (!writer || step == lastSaved) return;
  CheckpointSlots slots = state();
  slots.addRandomState();
  std::vector<data::Array> copies = slots.arrays();
  std::vector<checkpoints::ArrayView> views;
  for (const data::Array &array : copies) views.push_back({array.name, array.dtype, array.shape, array.bytes});
  checkpoints::Manifest manifest = identity;
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
