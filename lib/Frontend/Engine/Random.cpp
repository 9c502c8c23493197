// Random words of operations: each takes a counter of its own of the thread's sequence, in the order of recording.
#include "lib/Frontend/Base/RandomSequence.h"
#include "lib/Frontend/Engine/Variant.h"
#include "sprig/grad.h"
#include "sprig/random.h"

namespace sprig {

using namespace frontend;

void manualSeed(uint64_t seed) {
  requireNotRecording("manualSeed", {});
  RandomSequence::current().seed(seed);
}

RandomState randomState() {
  requireNotRecording("randomState", {});
  return RandomSequence::current().state();
}

void setRandomState(const RandomState &state) {
  requireNotRecording("setRandomState", {});
  RandomSequence::current().setState(state);
}

RandomPosition frontend::takeRandom(uint64_t draws) {
  RandomState first = RandomSequence::current().take(draws);
  return {first.seed, first.draws};
}

HostRandom frontend::nextHostRandom() {
  requireNotRecording("drawing initial values", {});
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
    trace->randomKey.raw()->unplaced = trace->randomBase.raw()->unplaced = true;
  }
  NoGrad quiet;
  Tensor offset = scalarInteger(int64_t(trace->randomDraws++), DType::i64, at);
  return {trace->randomKey, record(opName("nn.add"), {trace->randomBase, offset}, {}, {DType::i64, {}}, at)};
}

} // namespace sprig
