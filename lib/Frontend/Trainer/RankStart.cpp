#include "lib/Frontend/Trainer/RankStart.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/SamplesHash.h"
#include "lib/Frontend/Generic.h"
#include "lib/Frontend/Record.h"
#include "lib/TrainLoop/SameFacts.h"
#include "sprig/create.h"
#include "sprig/random.h"
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>

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

/// The bytes of arrays, which are read at once.
void addArrays(const data::Dataset &set, const std::vector<TensorType> &types, data::SamplesHash &hash) {
  constexpr int64_t kMostAtOnce = int64_t(4) << 20; // bytes
  int64_t each = 0;
  for (const TensorType &type : types) each += type.bytes();
  const int64_t most = std::max<int64_t>(kMostAtOnce / std::max<int64_t>(each, 1), 1);
  std::vector<std::vector<char>> arrays;
  std::vector<void *> memory;
  for (const TensorType &type : types) {
    hash.add(describe(type));
    memory.push_back(arrays.emplace_back(size_t(std::min(most, set.size()) * type.bytes())).data());
  }
  hash.addSamples(set.size(), each, [&](int64_t begin, int64_t end) {
    for (int64_t next; begin < end; begin = next) {
      next = std::min(begin + most, end);
      std::vector<int64_t> indices(size_t(next - begin));
      std::iota(indices.begin(), indices.end(), begin);
      set.raw()->gather(indices, memory);
      for (size_t i = 0; i < types.size(); ++i)
        hash.add({static_cast<const char *>(memory[i]), indices.size() * size_t(types[i].bytes())});
    }
  });
}

/// What a set of the program's own gives at some places. False where it gives something else each time, or nothing:
/// then there is nothing to compare.
bool addSome(const data::Dataset &set, data::SamplesHash &hash) try {
  constexpr int64_t kMost = 16;
  const int64_t taken = std::min(kMost, set.size());
  auto bytesOf = [](const data::Field &field) {
    return std::string_view(static_cast<const char *>(field.bytes()), size_t(field.type().bytes()));
  };
  for (int64_t i = 0; i < taken; ++i) {
    const int64_t index = i * (set.size() - 1) / std::max<int64_t>(taken - 1, 1);
    data::Sample sample = set.get(index, Source()), again = set.get(index, Source());
    if (sample.size() != again.size()) return false;
    for (size_t f = 0; f < sample.size(); ++f) {
      if (sample[f].type() != again[f].type() || bytesOf(sample[f]) != bytesOf(again[f])) return false;
      hash.add(describe(sample[f].type()));
      hash.add(bytesOf(sample[f]));
    }
  }
  return true;
} catch (...) {
  return false; // what it throws is told where it is read to be trained with
}

std::string hashText(const data::Dataset &set) {
  data::SamplesHash hash;
  if (std::vector<TensorType> types = set.raw()->types(); !types.empty())
    addArrays(set, types, hash);
  else if (!addSome(set, hash))
    return "";
  return hash.text();
}

} // namespace

void checkBeginning(dist::Group &group, const data::Loader &train, const data::Loader *evaluation, Source at) {
  if (group.size() == 1 || !dist::isLaunched()) return;
  const training::Fact facts[] = {
      {"kinds of code", codeKind()},
      {"numbers of samples", std::to_string(train.dataset().size())},
      {"numbers of samples to evaluate", std::to_string(evaluation ? evaluation->dataset().size() : 0)},
      {"samples of a batch", std::to_string(train.options().batch)},
      {"seeds of the samples' order", train.options().shuffle ? std::to_string(train.seed()) : "none"},
      {"hashes of the samples", hashText(train.dataset())},
      {"hashes of the samples to evaluate", evaluation ? hashText(evaluation->dataset()) : ""}};
  const training::Fact *other = training::firstDifference(facts, [&](std::span<uint64_t> numbers) {
    std::vector<int64_t> own(numbers.begin(), numbers.end());
    Tensor largest = group.allReduce(Tensor(own), dist::Reduce::max, dist::Algorithm::automatic, at);
    std::copy_n(largest.data<int64_t>(at), numbers.size(), numbers.begin());
  });
  if (other)
    badInput(placeText(at) + "Trainer: " +
             training::notAlikeText(std::string(other->what) + " differ, here " +
                                    (other->value.empty() ? "unknown" : other->value)));
}

void beginAlike(dist::Group &group, const Training &training, const ModuleRunner &runner, training::Loop &loop,
                const std::optional<checkpoints::Manifest> &from, Source at) {
  group.broadcast(*training.module, 0, at);
  training.optimizer.expect(namesOfFirst(group, training.optimizer, at));
  std::vector<std::pair<std::string, Parameter>> states = training.optimizer.namedState();
  if (training.average)
    for (auto &named : training.average->namedState()) states.push_back(named);
  for (auto &[name, parameter] : states) parameter.set(group.broadcast(parameter.value(at).detach(at), 0, at), at);
  RandomState random = randomState();
  checkpoints::Manifest place = from.value_or(checkpoints::Manifest());
  Tensor first = group.broadcast(Tensor({int64_t(random.seed), int64_t(random.draws), int64_t(from.has_value()),
                                         place.step, place.epoch, place.index}),
                                 0, at);
  const auto *numbers = first.data<int64_t>(at);
  setRandomState({uint64_t(numbers[0]), uint64_t(numbers[1])});
  if (!numbers[2]) return;
  place.step = numbers[3], place.epoch = numbers[4], place.index = numbers[5];
  std::vector<char> own;
  if (from) own = data::formatSafetensors(loop.ownArrays());
  Tensor image = group.broadcast(group.rank() ? Tensor() : Tensor(std::vector<uint8_t>(own.begin(), own.end())), 0, at);
  if (from) return;
  const auto *bytes = reinterpret_cast<const char *>(image.data<uint8_t>(at));
  std::vector<data::Array> arrays = data::parseSafetensors({bytes, bytes + image.numel()}, "the first rank's state");
  loop.goOn(place, arrays);
}

} // namespace sprig::frontend
