// saveCheckpoint and loadCheckpoint: the parts of a program's own loop as the arrays of a checkpoint.
#include "lib/Checkpoint/Writer.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/CheckpointSlots.h"
#include "lib/Training/StateNames.h"
#include "sprig/checkpoint.h"
#include "sprig/random.h"
#include <algorithm>
#include <optional>
#include <utility>

namespace sprig {

using frontend::CheckpointSlots;

namespace {

std::string below(const std::string &part, const std::string &name) { return part.empty() ? name : part + "/" + name; }

void addAll(CheckpointSlots &slots, const std::string &part,
            const std::vector<std::pair<std::string, Parameter>> &named) {
  for (auto &[name, parameter] : named) slots.add(below(part, name), parameter);
}

/// `loaded`: what they are to be set to.
CheckpointSlots slotsOf(const std::vector<CheckpointPart> &parts, const char *what, Source at,
                        const std::vector<data::Array> &loaded = {}) {
  CheckpointSlots slots(at, loaded);
  for (const CheckpointPart &part : parts) part.collect(slots);
  slots.addRandomState();
  if (std::string name = slots.twice(); !name.empty())
    frontend::fail(at, what, "two parts have '" + name + "'; give them names: {\"generator\", net}");
  return slots;
}

/// The steps of the optimizer that has done most; nothing without one.
std::optional<int64_t> stepsIn(const std::vector<data::Array> &arrays) {
  std::optional<int64_t> most;
  for (const data::Array &array : arrays)
    if ((array.name == training::kStep || array.name.ends_with(std::string("/") + training::kStep)) &&
        array.elements() == 1)
      most = std::max(most.value_or(0), array.integerAt(0));
  return most;
}

/// While it lives, the seed is the checkpoint's: the order of a loader without a seed of its own follows from it.
class SeedOf {
public:
  explicit SeedOf(const std::vector<data::Array> &arrays) : before(randomState()) {
    for (const data::Array &array : arrays)
      if (array.name == training::kSeed && array.elements() == 1)
        setRandomState({uint64_t(array.integerAt(0)), before.draws});
  }
  ~SeedOf() { setRandomState(before); }
  SeedOf(const SeedOf &) = delete;
  SeedOf &operator=(const SeedOf &) = delete;

private:
  RandomState before;
};

} // namespace

CheckpointPart::CheckpointPart(std::string name, const nn::Module &module)
    : add([name = std::move(name), &module](CheckpointSlots &slots) {
        addAll(slots, name, module.namedParameters());
        addAll(slots, name, module.namedBuffers());
      }) {}

CheckpointPart::CheckpointPart(std::string name, const optim::Optimizer &optimizer)
    : add([name = std::move(name), &optimizer](CheckpointSlots &slots) {
        optimizer.expect(slots.namesOf(name));
        addAll(slots, name, optimizer.namedState());
      }) {}

CheckpointPart::CheckpointPart(std::string name, const optim::Lbfgs &optimizer)
    : add([name = std::move(name), &optimizer](CheckpointSlots &slots) {
        addAll(slots, name, optimizer.namedState());
      }) {}

CheckpointPart::CheckpointPart(std::string name, const optim::Average &average)
    : add([name = std::move(name), &average](CheckpointSlots &slots) { addAll(slots, name, average.namedState()); }) {}

CheckpointPart::CheckpointPart(std::string name, const optim::ReduceOnPlateau &plateau)
    : add([name = std::move(name), &plateau](CheckpointSlots &slots) { addAll(slots, name, plateau.namedState()); }) {}

CheckpointPart::CheckpointPart(std::string name, data::Loader &loader)
    : add([name = std::move(name), &loader](CheckpointSlots &slots) {
        const data::LoaderOptions &options = loader.options();
        auto fixed = [&](const char *what, int64_t value) {
          slots.addFixed(below(name, std::string("loader/") + what), Tensor(value));
        };
        fixed("batch", options.batch);
        fixed("samples", loader.dataset().size());
        fixed("drop_last", options.dropLast);
        fixed("shuffled", bool(options.shuffle));
        fixed("shuffle", options.shuffle ? int64_t(loader.seed()) : 0);
        fixed("seed", int64_t(options.seed.value_or(0)));
        data::Loader::Position position = loader.position();
        slots.add(below(name, "loader/position"), Tensor({position.epoch, position.batch}),
                  [&loader, at = slots.at](const Tensor &value) {
                    const auto *numbers = static_cast<const int64_t *>(value.bytes(at));
                    loader.seek(numbers[0], numbers[1], at);
                  });
      }) {}

CheckpointPart::CheckpointPart(std::string name, std::function<int64_t()> get, std::function<void(int64_t)> set,
                               bool (*holds)(int64_t))
    : add([name = std::move(name), get = std::move(get), set = std::move(set), holds](CheckpointSlots &slots) {
        slots.add(
            "value/" + name, Tensor(get()),
            [set, at = slots.at](const Tensor &loaded) { set(loaded.item<int64_t>(at)); },
            [holds, at = slots.at](const Tensor &loaded) { return holds(loaded.item<int64_t>(at)); });
      }) {}

CheckpointPart::CheckpointPart(std::string name, double &number)
    : add([name = std::move(name), &number](CheckpointSlots &slots) {
        slots.add("value/" + name, Tensor(number),
                  [&number, at = slots.at](const Tensor &loaded) { number = loaded.item<double>(at); });
      }) {}

CheckpointPart::CheckpointPart(std::string name, Tensor &tensor)
    : add([name = std::move(name), &tensor](CheckpointSlots &slots) {
        slots.add("value/" + name, tensor.detach(slots.at), [&tensor](const Tensor &loaded) { tensor = loaded; });
      }) {}

CheckpointPart::CheckpointPart(std::string name, const Parameter &state)
    : add([name = std::move(name), &state](CheckpointSlots &slots) { slots.add("value/" + name, state); }) {}

void saveCheckpoint(const std::filesystem::path &folder, const std::vector<CheckpointPart> &parts,
                    const CheckpointOptions &options, Source at) {
  if (options.keep < 1)
    frontend::fail(at, "saveCheckpoint", "keep is " + std::to_string(options.keep) + ", expected at least 1");
  CheckpointSlots slots = slotsOf(parts, "saveCheckpoint", at);
  std::vector<data::Array> arrays = slots.arrays();
  checkpoints::Writer writer(folder, options.keep);
  checkpoints::Manifest manifest;
  std::vector<int64_t> steps = checkpoints::listSteps(folder);
  manifest.step = stepsIn(arrays).value_or(steps.empty() ? 0 : steps.front() + 1);
  manifest.modelDigest = checkpoints::digest(slots.types());
  std::vector<checkpoints::ArrayView> views;
  for (const data::Array &array : arrays) views.push_back({array.name, array.dtype, array.shape, array.bytes});
  writer.save(manifest, views);
  writer.wait();
}

int64_t loadCheckpoint(const std::filesystem::path &folder, const std::vector<CheckpointPart> &parts, Source at) {
  checkpoints::Checkpoint found = checkpoints::loadForResume(folder);
  std::optional<SeedOf> seed(std::in_place, found.arrays);
  CheckpointSlots slots = slotsOf(parts, "loadCheckpoint", at, found.arrays);
  std::string misfits = slots.misfits(found.arrays);
  seed.reset();
  if (!misfits.empty())
    badInput(frontend::placeText(at) + "loadCheckpoint: " + folder.string() + ": the checkpoint of step " +
             std::to_string(found.manifest.step) + " does not fit" + misfits);
  slots.set(found.arrays);
  return found.manifest.step;
}

void saveCheckpoint(const std::filesystem::path &folder, std::initializer_list<CheckpointPart> parts,
                    const CheckpointOptions &options, Source at) {
  saveCheckpoint(folder, std::vector<CheckpointPart>(parts), options, at);
}
int64_t loadCheckpoint(const std::filesystem::path &folder, std::initializer_list<CheckpointPart> parts, Source at) {
  return loadCheckpoint(folder, std::vector<CheckpointPart>(parts), at);
}

bool hasCheckpoint(const std::filesystem::path &folder) {
  // A step-N that is named itself is one, too.
  std::error_code ignored;
  return !checkpoints::listSteps(folder).empty() || std::filesystem::exists(folder / "manifest.json", ignored);
}

} // namespace sprig
