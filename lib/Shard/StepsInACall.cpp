#include "lib/Shard/StepsInACall.h"
#include "dialects/Dist/CollectiveOrder.h"
#include "dialects/NN/NNState.h"
#include "lib/Shard/Buckets.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sprig {
namespace {

namespace dist = ir::dist;

/// One step as it stands: seconds of its own, of computing and of sums that are waited for at once, at which buckets
/// are made and parameters first read.
class StepTimes {
public:
  StepTimes(func::FuncOp step, int64_t bytes, CollectiveSeconds collective, OperationSeconds operation)
      : StepTimes(step, planBuckets(step.getBody().front(), bytes, step->hasAttr(dist::kRankAttr)), collective,
                  operation) {}

  StepTimes(func::FuncOp step, BucketPlan plan, CollectiveSeconds collective, OperationSeconds operation)
      : buckets(std::move(plan.late)), made(buckets.size(), 0),
        needs(buckets.size(), llvm::BitVector(unsigned(buckets.size()))) {
    for (auto [number, bucket] : llvm::enumerate(buckets)) {
      for (Operation *member : bucket.members) bucketOf[member] = number;
      seconds.push_back(collective(dist::kindOf(bucket.members.front()), bucket.bytes));
    }
    for (const Bucket &bucket : plan.prompt)
      promptSeconds[bucket.members.back()] = collective(dist::kindOf(bucket.members.front()), bucket.bytes);
    for (Operation &op : step.getBody().front()) visit(op, operation);
    for (auto &[param, at] : readAt)
      if (auto waits = setBy.find(param); waits != setBy.end()) reads.push_back({at, waits->second});
    llvm::stable_sort(reads, [](const Read &a, const Read &b) { return a.at < b.at; });
    for (unsigned bucket = 0; bucket < buckets.size(); ++bucket) asMade.push_back(bucket);
    llvm::stable_sort(asMade, [&](unsigned a, unsigned b) { return made[a] < made[b]; });
  }

  /// Seconds of so many steps in a call, with this turn.
  double play(int64_t times, int64_t turn) const {
    SmallVector<double> back(buckets.size(), 0); // of the step before
    double start = 0, laneFree = 0;
    for (int64_t step = 0; step < times; ++step) {
      double waited = 0; // so far in this step
      size_t next = 0;
      auto at = [&](double done) { // when so much of the step's own is
        for (; next < reads.size() && reads[next].at <= done; ++next)
          for (unsigned bucket : reads[next].waitsFor.set_bits())
            waited = std::max(waited, back[bucket] - start - reads[next].at);
        return start + done + waited;
      };
      SmallVector<double> madeAt(made.size());
      for (unsigned bucket : asMade) madeAt[bucket] = at(made[bucket]);
      double end = at(own);
      bool isLast = step + 1 == times;
      for (unsigned bucket : dist::turnedOrder(
               unsigned(buckets.size()), [&](unsigned b) { return !isLast && mayTurn(b); }, uint64_t(turn))) {
        for (unsigned other : needs[bucket].set_bits()) madeAt[bucket] = std::max(madeAt[bucket], back[other]);
        laneFree = std::max(laneFree, madeAt[bucket]) + seconds[bucket];
        back[bucket] = laneFree;
      }
      start = end;
    }
    return std::max(start, laneFree);
  }

  /// How many buckets may turn.
  int64_t count() const {
    return llvm::count_if(llvm::seq<unsigned>(0, unsigned(buckets.size())), [&](unsigned b) { return mayTurn(b); });
  }
  /// Of a step that waits for no late collective: computing, and what is waited for at once, as batch norms' sums are.
  double own = 0;

private:
  struct Read {
    double at = 0;
    llvm::BitVector waitsFor = {};
  };

  void visit(Operation &op, OperationSeconds operation) {
    llvm::BitVector waits(unsigned(buckets.size()));
    auto bucket = bucketOf.find(&op);
    const bool isLate = bucket != bucketOf.end();
    dist::visitRead(&op, [&](Operation *def) {
      if (auto found = waitsFor.find(def); found != waitsFor.end()) waits |= found->second;
      if (auto get = dyn_cast<ir::GetParamOp>(def); get && waits.none()) readAt.try_emplace(get.getParam(), own);
      if (isLate) made[bucket->second] = std::max(made[bucket->second], ends.lookup(def));
    });
    if (isLate) {
      needs[bucket->second] |= waits;
      waits.set(unsigned(bucket->second));
    }
    if (auto set = dyn_cast<ir::SetParamOp>(op)) setBy[set.getParam()] = waits;
    auto cost = dyn_cast<CostOpInterface>(op);
    if (auto prompt = promptSeconds.find(&op); prompt != promptSeconds.end())
      own += prompt->second;
    else if (cost && !isLate && !dist::meetsRanks(&op))
      own += operation(double(cost.getFlops()), double(cost.getBytes()));
    if (waits.any())
      waitsFor[&op] = std::move(waits);
    else
      ends[&op] = own;
  }

  // As the pass that repeats programs has it: sums that no other collective needs.
  bool mayTurn(unsigned bucket) const {
    return isa<dist::AllReduceOp>(buckets[bucket].members.front()) &&
           llvm::none_of(needs, [&](const llvm::BitVector &others) { return others.test(bucket); });
  }

  SmallVector<Bucket> buckets;
  SmallVector<double> made, seconds;
  SmallVector<llvm::BitVector> needs; // other buckets
  SmallVector<unsigned> asMade;       // buckets by that time
  llvm::DenseMap<Operation *, size_t> bucketOf;
  llvm::DenseMap<Operation *, double> promptSeconds; // by the last of those that go together
  llvm::DenseMap<Operation *, double> ends;
  llvm::DenseMap<Operation *, llvm::BitVector> waitsFor; // buckets that an operation needs
  llvm::MapVector<StringRef, double> readAt;
  llvm::DenseMap<StringRef, llvm::BitVector> setBy;
  SmallVector<Read> reads;
};

/// Of a step in buckets of one size.
class Choice {
public:
  Choice(func::FuncOp step, int64_t bytes, int64_t times, CollectiveSeconds collective, OperationSeconds operation)
      : times(times), own(step, bytes, collective, operation),
        plain(expectBuckets(step, bytes, collective, operation)) {}

  StepsExpectation with(int64_t turn) const {
    StepsExpectation found{plain, turn};
    found.step.exposed = std::max(own.play(times, turn) / double(times) - own.own, 0.0);
    return found;
  }
  StepsExpectation best() const {
    StepsExpectation best = with(own.count());
    for (int64_t turn = 1; turn < own.count(); turn *= 2)
      if (StepsExpectation found = with(turn); isBetter(found, best)) best = found;
    return best;
  }
  bool isBetter(const StepsExpectation &found, const StepsExpectation &than) const {
    return (own.own + found.step.exposed) * kSame < own.own + than.step.exposed;
  }

private:
  int64_t times;
  StepTimes own;
  BucketExpectation plain;
};

} // namespace

StepsExpectation expectSteps(func::FuncOp step, int64_t bytes, int64_t times, CollectiveSeconds collective,
                             OperationSeconds operation) {
  return Choice(step, bytes, times, collective, operation).best();
}

StepsExpectation expectSteps(func::FuncOp step, int64_t bytes, int64_t times, int64_t turn,
                             CollectiveSeconds collective, OperationSeconds operation) {
  return Choice(step, bytes, times, collective, operation).with(turn);
}

StepsExpectation chooseForSteps(func::FuncOp step, int64_t times, CollectiveSeconds collective,
                                OperationSeconds operation) {
  StepsExpectation chosen = expectSteps(step, INT64_MAX, times, collective, operation);
  int64_t largest = chosen.step.largest(), size = kLeastBytes;
  chosen.step.bytes = std::max(largest, kLeastBytes);
  while (size <= largest / 2) size *= 2;
  for (; size >= kLeastBytes && largest > 0; size /= 2) {
    Choice choice(step, size, times, collective, operation);
    if (StepsExpectation found = choice.best(); choice.isBetter(found, chosen)) chosen = found;
  }
  return chosen;
}

} // namespace sprig
