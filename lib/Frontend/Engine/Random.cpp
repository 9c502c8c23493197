// One sequence of random words for the whole process: its key is the seed, and every operation takes a counter of its
// own, in the order of recording.
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/grad.h"
#include "sprig/random.h"
#include <mutex>

namespace sprig {

using namespace frontend;

namespace {
struct Sequence {
  std::mutex mutex;
  uint64_t key = 0, next = 0;
};
Sequence &sequence() {
  static auto &instance = *new Sequence;
  return instance;
}
} // namespace

void manualSeed(uint64_t seed) {
  std::lock_guard lock(sequence().mutex);
  sequence().key = seed;
  sequence().next = 0;
}

RandomState randomState() {
  std::lock_guard lock(sequence().mutex);
  return {sequence().key, sequence().next};
}

void setRandomState(const RandomState &state) {
  std::lock_guard lock(sequence().mutex);
  sequence().key = state.seed;
  sequence().next = state.draws;
}

RandomPosition frontend::takeRandom(uint64_t draws) {
  std::lock_guard lock(sequence().mutex);
  uint64_t first = sequence().next;
  sequence().next += draws;
  return {sequence().key, first};
}

HostRandom frontend::nextHostRandom() {
  RandomPosition position = takeRandom(1);
  return {position.key, position.counter};
}

RandomWords frontend::nextRandom(Source at) {
  Trace *trace = Trace::currentFunction();
  if (!trace) {
    RandomPosition position = takeRandom(1);
    return {Tensor(int64_t(position.key)), Tensor(int64_t(position.counter))};
  }
  if (!trace->randomKey.defined()) {
    trace->randomKey = trace->input({DType::i64, {}});
    trace->randomBase = trace->input({DType::i64, {}});
    trace->inputs.resize(trace->inputs.size() - 2); // they are no arguments
  }
  NoGrad quiet;
  Tensor offset = scalarInteger(int64_t(trace->randomDraws++), DType::i64, at);
  return {trace->randomKey, record(opName("nn.add"), {trace->randomBase, offset}, {}, {DType::i64, {}}, at)};
}

} // namespace sprig
