#include "tools/sprig/train/TrainRanks.h"
#include "lib/TrainLoop/ConfigDifference.h"
#include "runtime/collective/Piece.h"
#include "sprig/error.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <utility>

namespace sprig::cli {

TrainRanks::TrainRanks(Runner runner) { programs.push_back(std::make_unique<TrainProgram>(std::move(runner))); }

TrainRanks::TrainRanks(std::vector<Runner> runners, const RankShare &first) : failures(runners.size()) {
  int ranks = int(runners.size());
  for (RankShare share = first; share.rank < ranks; ++share.rank)
    programs.push_back(std::make_unique<TrainProgram>(std::move(runners[size_t(share.rank)]), share));
  try {
    for (int rank = 1; rank < ranks; ++rank) threads.emplace_back([this, rank] { serve(rank); });
  } catch (const std::system_error &error) {
    size_t started = threads.size();
    endThreads();
    runtimeError("no thread for rank " + std::to_string(started + 1) + " of " + std::to_string(ranks) + ": " +
                 error.what());
  }
}

TrainRanks::TrainRanks(Runner runner, RankShare share) : isProcess(true) {
  programs.push_back(std::make_unique<TrainProgram>(std::move(runner), share));
  others = first().package().groupTimes();
}

TrainRanks::~TrainRanks() { endThreads(); }

int TrainRanks::threadCount() const {
  int sum = 0;
  for (const auto &program : programs) sum += program->threads();
  return sum;
}

void TrainRanks::endThreads() {
  work = nullptr;
  ++number;
  number.notify_all();
  for (std::thread &thread : threads) thread.join();
}

namespace {

// Steps of small networks follow one another sooner than a thread that sleeps is woken.
void waitWhile(std::atomic<uint32_t> &word, uint32_t value) {
  using namespace std::chrono;
  for (auto end = steady_clock::now() + microseconds(50); word == value && steady_clock::now() < end;)
    std::this_thread::yield();
  word.wait(value);
}

} // namespace

void TrainRanks::serve(int rank) {
  for (uint32_t seen = 0;; ++seen) {
    waitWhile(number, seen);
    if (!work) return;
    doPart(rank);
    if (--busy == 0) busy.notify_one();
  }
}

// The others may be waiting for this rank in a step already: they are told what it failed with.
void TrainRanks::doPart(int rank) {
  TrainProgram &program = *programs[size_t(rank)];
  try {
    (*work)(program);
  } catch (const std::exception &error) {
    failures[size_t(rank)] = std::current_exception();
    int none = -1;
    firstFailed.compare_exchange_strong(none, rank);
    program.package().failGroup(error.what());
  }
}

// Returns when all ranks have done it; throws what failed first.
void TrainRanks::onAll(const Work &body) {
  if (threads.empty()) return body(*programs.front());
  work = &body;
  busy = uint32_t(threads.size());
  ++number;
  number.notify_all();
  doPart(0);
  for (uint32_t left; (left = busy) != 0;) waitWhile(busy, left);
  if (int rank = firstFailed.exchange(-1); rank >= 0)
    std::rethrow_exception(std::exchange(failures[size_t(rank)], nullptr));
}

void TrainRanks::submit(const TrainData &data, std::span<const int64_t> indices, int64_t steps) {
  onAll([&](TrainProgram &program) {
    program.load(data, indices, steps);
    program.handOver();
  });
}

void TrainRanks::submit(std::span<const data::Batch> batches, training::Clock::time_point begin) {
  onAll([&](TrainProgram &program) {
    program.load(batches, begin);
    program.handOver();
  });
}

std::span<const StepResult> TrainRanks::finish() {
  std::span<const StepResult> results = programs.front()->finish();
  for (size_t rank = 1; rank < programs.size(); ++rank) programs[rank]->finish();
  return results;
}

void TrainRanks::cancel() {
  for (auto &program : programs) program->cancel();
}

static sprig_rt_group_times differenceOfRanks(const sprig_rt_group_times &a, const sprig_rt_group_times &b) {
  return {a.size, a.collectives - b.collectives, a.ns - b.ns, a.exposed_ns - b.exposed_ns};
}

sprig_rt_group_times TrainRanks::communication() const {
  return differenceOfRanks(first().package().groupTimes(), others);
}

training::Evaluation TrainRanks::evaluate(const TrainData &data) {
  sprig_rt_group_times ofSteps = communication();
  EvaluationSums result;
  // Each rank has the sums of all.
  auto take = [&] {
    for (size_t rank = programs.size(); rank-- > 0;) {
      EvaluationSums same;
      programs[rank]->finishEvaluation(rank ? same : result);
    }
  };
  size_t underWay = 0;
  for (int64_t first = 0; first < data.count();) {
    int64_t samples = 0;
    onAll([&](TrainProgram &program) {
      int64_t taken = program.loadEvaluation(data, first);
      if (&program == programs.front().get()) samples = taken;
      program.handOver();
    });
    first += samples;
    if (++underWay < this->first().callsAhead()) continue;
    take();
    --underWay;
  }
  for (; underWay; --underWay) take();
  others = differenceOfRanks(first().package().groupTimes(), ofSteps);
  return result.scores();
}

WholeState TrainRanks::state() const {
  WholeState whole{first().state()};
  if (!sharesState()) return whole;
  std::vector<checkpoints::ArrayView> &views = whole.arrays;
  std::vector<std::vector<checkpoints::ArrayView>> all;
  for (auto &program : programs) all.push_back(program->state());
  for (size_t i = 0; i < views.size(); ++i) {
    const std::vector<int64_t> *shape = first().wholeOf(i);
    if (!shape) continue;
    std::vector<char> pieces;
    if (isProcess) {
      size_t own = views[i].bytes.size();
      pieces.resize(own * size_t(first().rankShare().ranks));
      std::memcpy(pieces.data() + own * size_t(first().rankShare().rank), views[i].bytes.data(), own);
      first().package().allGather(pieces, views[i].name.c_str());
    } else {
      for (const auto &state : all) pieces.insert(pieces.end(), state[i].bytes.begin(), state[i].bytes.end());
    }
    views[i].shape = *shape;
    views[i].bytes = rt::collective::joinFlat(pieces, size_t(*data::byteSize(views[i].dtype, *shape)));
    whole.made.push_back(std::move(pieces)); // the bytes stay where they are
  }
  return whole;
}

void TrainRanks::restore(std::span<const data::Array> arrays) {
  for (auto &program : programs) program->restore(arrays);
}

void TrainRanks::start(double lr, uint64_t seed) {
  for (auto &program : programs) program->start(lr, seed);
}

void TrainRanks::setParameters(std::span<const data::Array> arrays) {
  for (auto &program : programs) program->setParameters(arrays);
}

void TrainRanks::tellOthers(const std::string &why) const {
  if (isProcess) first().package().failGroup(why);
}

void TrainRanks::agree(int &signal, int64_t &steps) const {
  std::vector<uint64_t> largest = {uint64_t(signal), ~uint64_t(steps)};
  first().package().allReduce(largest, SPRIG_RT_MAX, "signals");
  signal = int(largest[0]);
  steps = int64_t(~largest[1]);
}

training::ReduceNumbers TrainRanks::reduceAs(const char *name) const {
  return [this, name](std::span<uint64_t> numbers) { first().package().allReduce(numbers, SPRIG_RT_MAX, name); };
}

// By a hash of each array; "" where all are the same.
std::string TrainRanks::differingState() const {
  std::vector<checkpoints::ArrayView> views = first().state();
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < views.size(); ++i)
    hashes.push_back(
        first().wholeOf(i) ? 0 : std::hash<std::string_view>()({views[i].bytes.data(), views[i].bytes.size()}));
  int at = training::firstDifference(hashes, reduceAs("states"));
  return at < 0 ? "" : views[size_t(at)].name;
}

std::string TrainRanks::textOfRank(int rank, const std::string &own) const {
  const training::ReduceNumbers reduce = reduceAs("beginning");
  bool isOwn = first().rankShare().rank == rank;
  uint64_t length[] = {isOwn ? own.size() : 0};
  reduce(length);
  std::vector<uint64_t> bytes(length[0]);
  if (isOwn) std::copy(own.begin(), own.end(), bytes.begin());
  for (uint64_t &byte : bytes) byte &= 0xff;
  reduce(bytes);
  return std::string(bytes.begin(), bytes.end());
}

std::string TrainRanks::differingField(const std::string &json) const {
  std::string ofFirst = textOfRank(0, json);
  // The first that differs: the largest complement.
  uint64_t other[] = {
      ~(json == ofFirst ? uint64_t(first().rankShare().ranks) - 1 : uint64_t(first().rankShare().rank))};
  reduceAs("beginning")(other);
  const auto rank = int(~other[0]);
  return training::firstDifference(Json::parse(ofFirst), Json::parse(textOfRank(rank, json)), "", "on rank 0",
                                   "on rank " + std::to_string(rank));
}

void TrainRanks::checkBeginning(std::span<const training::Fact> facts) const {
  if (!isProcess) return;
  auto refuse = [](const std::string &what) { badInput(training::notAlikeText(what)); };
  if (const training::Fact *other = training::firstDifference(facts, reduceAs("beginning")))
    refuse(std::string(other->what) + " differ" +
           (other->isJson ? ": " + differingField(other->value) : ", here " + other->value));
  if (std::string name = differingState(); !name.empty()) refuse("'" + name + "' of the states differs");
}

void TrainRanks::checkReplicas() const {
  if (isProcess) {
    if (std::string name = differingState(); !name.empty()) internalError("'" + name + "' differs between ranks");
    return;
  }
  std::vector<checkpoints::ArrayView> expected = first().state();
  for (size_t rank = 1; rank < programs.size(); ++rank) {
    std::vector<checkpoints::ArrayView> views = programs[rank]->state();
    for (size_t i = 0; i < views.size(); ++i)
      if (!first().wholeOf(i) &&
          std::memcmp(views[i].bytes.data(), expected[i].bytes.data(), expected[i].bytes.size()) != 0)
        internalError("'" + views[i].name + "' of rank " + std::to_string(rank) + " differs from that of rank 0");
  }
}

} // namespace sprig::cli
