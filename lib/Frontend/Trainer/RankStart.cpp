#include "lib/Frontend/Trainer/RankStart.h"
#include "sprig/create.h"
#include "sprig/random.h"

namespace sprig::frontend {

namespace {

/// The names of an optimizer's state on the first rank: some are there only where a checkpoint has them.
std::vector<std::string> namesOfFirst(dist::Group &group, const optim::Optimizer &optimizer, Source at) {
  std::vector<uint8_t> bytes;
  for (auto &[name, parameter] : optimizer.namedState()) {
    bytes.insert(bytes.end(), name.begin(), name.end());
    bytes.push_back(0);
  }
  Tensor text = group.broadcast(group.rank() ? Tensor() : Tensor(bytes), 0, at);
  std::vector<std::string> names;
  const auto *next = text.data<uint8_t>(at), *end = next + text.numel();
  for (; next < end; next += names.back().size() + 1) names.emplace_back(reinterpret_cast<const char *>(next));
  return names;
}

} // namespace

std::optional<checkpoints::Manifest> beginAlike(dist::Group &group, const Training &training,
                                                const RatePlateau *plateau, std::optional<checkpoints::Manifest> from,
                                                Source at) {
  group.broadcast(*training.module, 0, at);
  training.optimizer.expect(namesOfFirst(group, training.optimizer, at));
  std::vector<std::pair<std::string, Parameter>> states = training.optimizer.namedState();
  if (plateau)
    for (auto &named : plateau->namedState()) states.push_back(named);
  for (auto &[name, parameter] : states) parameter.set(group.broadcast(parameter.value(at).detach(at), 0, at), at);
  RandomState random = randomState();
  checkpoints::Manifest place = from.value_or(checkpoints::Manifest());
  Tensor first = group.broadcast(Tensor({int64_t(random.seed), int64_t(random.draws), int64_t(from.has_value()),
                                         place.step, place.epoch, place.index}),
                                 0, at);
  const auto *numbers = first.data<int64_t>(at);
  setRandomState({uint64_t(numbers[0]), uint64_t(numbers[1])});
  if (!numbers[2]) return std::nullopt;
  place.step = numbers[3], place.epoch = numbers[4], place.index = numbers[5];
  return place;
}

} // namespace sprig::frontend
