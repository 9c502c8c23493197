#include "lib/Pipeline/RankBuckets.h"
#include "lib/Pipeline/Pipeline.h"

using namespace mlir;

namespace sprig {
BucketChoice chooseRankBuckets(func::FuncOp step, const BucketRequest &request, const CompileOptions &options) {
  auto collective = [&](rt::collective::Kind kind, int64_t bytes) {
    return machine::collectiveSeconds(request.link.rate(), kind, request.ranks, double(bytes));
  };
  machine::MachineModel model = targetOf(options).machine(options);
  auto seconds = [&](double flops, double bytes) { return model.kernelSeconds(flops, bytes); };
  BucketChoice choice;
  choice.bytes = request.bytes;
  choice.isChosen = request.bytes == 0;
  if (choice.isChosen && !request.link.isApart) choice.bytes = kPlainBucket;
  const int64_t times = request.stepsPerCall;
  auto expect = [&](int64_t bytes) {
    if (times == 1) return StepsExpectation{expectBuckets(step, bytes, collective, seconds), 0};
    if (request.turn) return expectSteps(step, bytes, times, *request.turn, collective, seconds);
    return expectSteps(step, bytes, times, collective, seconds);
  };
  StepsExpectation &found = choice.expected;
  found = choice.bytes != 0 ? expect(choice.bytes)
          : times > 1       ? chooseForSteps(step, times, collective, seconds)
                            : StepsExpectation{chooseBuckets(step, collective, seconds), 0};
  auto agree = [](const std::function<int64_t(int64_t)> &with, int64_t own) { return with ? with(own) : own; };
  if (choice.isChosen) {
    int64_t agreed = agree(request.agreeOnBucket, found.step.bytes);
    if (agreed != found.step.bytes) found = expect(agreed);
    choice.bytes = agreed;
  }
  if (times > 1) {
    int64_t agreed = agree(request.agreeOnTurn, found.turn);
    if (agreed != found.turn) found = expectSteps(step, choice.bytes, times, agreed, collective, seconds);
    choice.turn = agreed;
  }
  return choice;
}

} // namespace sprig
