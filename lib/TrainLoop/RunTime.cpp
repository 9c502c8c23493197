#include "lib/TrainLoop/RunTime.h"

namespace sprig::training {

void RunTime::add(int64_t epoch, const StepResult &step) {
  if (last.empty() || last.back().number != epoch) {
    if (!last.empty()) endEpoch(step.begin);
    if (last.size() == kMostEpochs) last.erase(last.begin());
    last.emplace_back().number = epoch;
    epochBegan = step.begin;
  }
  double waiting = secondsOf(step.ready - step.begin), computing = secondsOf(step.end - step.ready);
  for (TimeSplit *split : {static_cast<TimeSplit *>(&last.back()), &all}) {
    ++split->steps;
    split->waiting += waiting;
    split->computing += computing;
  }
}

void RunTime::endEpoch(Clock::time_point now) {
  last.back().seconds = secondsOf(now - epochBegan);
  all.seconds += last.back().seconds;
}

void RunTime::end(Clock::time_point now) {
  if (!last.empty()) endEpoch(now);
}

} // namespace sprig::training
