#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Engine/Trace.h"
#include "runtime/collective/Collective.h"
#include <cstdlib>
#include <cstring>

namespace sprig::frontend {

using rt::comm::Status;

namespace {

const OpName &allReduceName() {
  static const OpName &op = opName("dist.all_reduce");
  return op;
}

/// One all-reduce of a rank, out of place: whoever holds its operands keeps them.
class CollectiveTask : public Task {
public:
  std::shared_ptr<RankEnd> end;
  CollectiveOrder::Turn turn;
  GraphNode description;
  std::vector<Tensor> operands;
  std::vector<Value *> results; // a reference each

  ~CollectiveTask() override {
    for (Value *value : results) drop(value);
  }

  void run() override {
    Failure failure;
    for (const Tensor &operand : operands) {
      Engine::waitForOther(*operand.raw(), end->order->lane);
      if (!failure) failure = operand.raw()->failure;
    }
    turn.await();
    // The others wait for this rank.
    if (failure) end->group->fail({SPRIG_RT_CANCELLED, end->text() + ": " + failure->what()});
    if (!failure) try {
        ProfileSpan span("collective", [&] { return placeText(description.source, "all_reduce", nullptr); });
        if (Status status = reduce(); !status.isOk())
          failure = std::make_shared<Error>(errorOf(status, "all_reduce", description.source));
      } catch (const std::exception &error) {
        failure =
            std::make_shared<Error>(ErrorKind::runtime, placeText(description.source) + "all_reduce: " + error.what());
        end->group->fail({SPRIG_RT_CANCELLED, end->text() + ": " + failure->what()});
      }
    if (failure) Engine::of(end->order->lane).noteFailure(failure);
    for (Value *value : results) {
      if (failure) value->storage.reset();
      value->failure = failure;
      value->state.store(failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
    }
    turn.end();
  }

private:
  Status reduce() {
    std::vector<rt::comm::Buffers::Buffer> buffers;
    for (size_t i = 0; i < operands.size(); ++i) {
      const TensorType &type = results[i]->type;
      results[i]->storage = Storage::allocate(type.bytes());
      std::memcpy(results[i]->storage->data, operands[i].raw()->storage->data, size_t(type.bytes()));
      buffers.push_back({results[i]->storage->data, type.elements(), 1, {type.shape.begin(), type.shape.end()}});
    }
    rt::comm::Call call;
    call.reduction = rt::comm::Reduction(std::atoi(find(description.attrs, "reduction")->text));
    call.dtype = sprig_rt_dtype(operands[0].dtype());
    call.file = description.source.file;
    call.line = description.source.line;
    return end->group->allReduce(call, algorithm(), buffers);
  }

  rt::comm::GivenAlgorithm algorithm() const {
    const Attr *given = find(description.attrs, "algorithm");
    if (!given) return std::nullopt;
    std::string_view quoted = given->text;
    rt::collective::Algorithm algorithm{};
    rt::collective::findAlgorithm(quoted.substr(1, quoted.size() - 2), algorithm);
    return algorithm;
  }
};

/// For gradients: the results remember what they were made of.
void rememberCollective(const GraphNode &description, std::span<const Tensor> operands,
                        std::span<Value *const> values) {
  auto *node = new Node;
  node->sequence = newSequence();
  node->tracked = node->open = true;
  node->released = Node::kRan; // its operands are kept for gradients alone
  node->device = values[0]->device;
  node->description = description;
  std::vector<TensorType> types;
  node->operands.reserve(operands.size());
  for (const Tensor &operand : operands) {
    keep(operand.raw());
    node->operands.push_back(operand.raw());
    types.push_back(operand.type());
  }
  node->resultTypes.assign(types);
  node->references.store(uint32_t(values.size()), std::memory_order_relaxed);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i]->producer = node;
    values[i]->index = uint16_t(i);
    values[i]->tracked = true;
  }
}

} // namespace

bool isCollective(const OpName &op) { return &op == &allReduceName(); }

AttrList allReduceAttrs(const RankEnd &end, rt::comm::Reduction reduction, rt::comm::GivenAlgorithm algorithm) {
  AttrList attrs{Attr::other("reduction", intern(std::to_string(int(reduction)) + " : i32").c_str()),
                 Attr::other("mesh", end.mesh), Attr::other("axes", "[\"data\"]")};
  if (algorithm)
    attrs.push_back(
        Attr::other("algorithm", intern('"' + std::string(rt::collective::nameOf(*algorithm)) + '"').c_str()));
  return attrs;
}

Error errorOf(const Status &status, const std::string &op, Source at) {
  ErrorKind kind = status.code() == SPRIG_RT_INVALID_ARGUMENT ? ErrorKind::usage
                   : status.code() == SPRIG_RT_UNSUPPORTED    ? ErrorKind::unsupported
                                                              : ErrorKind::runtime;
  return Error(kind, placeText(at) + op + ": " + std::string(status.message()));
}

void noteCollective(Trace &trace, const GraphNode &collective) {
  const std::string &op = collective.op->text;
  if (trace.kind == Trace::Kind::region)
    fail(collective.source, op,
         "is in a branch, a loop or a checkpoint, which ranks do not go through together; "
         "move it outside");
  std::shared_ptr<RankEnd> end = RankEnd::of(collective);
  if (trace.ranks && trace.ranks != end)
    fail(collective.source, op,
         "is of " + end->text() + " in a function with collectives of " + trace.ranks->text() +
             " of another group; a function has those of one group");
  trace.ranks = std::move(end);
}

void queueCollective(GraphNode &&collective, std::span<const Tensor> operands, std::span<const TensorType> results,
                     Value **values, bool mayTrack) {
  auto task = std::make_unique<CollectiveTask>();
  task->end = RankEnd::of(collective);
  flushBefore(operands);
  LaneId lane = task->end->order->lane;
  bool isTracked = false, isElsewhere = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Value &operand = *operands[i].raw();
    auto *value = new Value(results[i], Value::State::queued, 1); // the caller's handle, and the task's reference
    value->device = operand.constant || operand.unplaced ? currentDevice() : operand.device;
    value->lane = lane;
    value->ofGradient = operand.ofGradient;
    isTracked |= operand.tracked;
    isElsewhere |= isOfOtherRank(computeLane(value->device));
    values[i] = value;
  }
  task->results.assign(values, values + operands.size());
  task->operands.assign(operands.begin(), operands.end());
  if (mayTrack && isTracked) rememberCollective(collective, operands, task->results);
  task->description = std::move(collective);
  task->turn = task->end->order->next(lane);
  Engine &engine = Engine::of(lane);
  Value &last = *values[operands.size() - 1];
  engine.push(std::move(task));
  Engine::makeRoom();
  // What reads it there would stand in a lane that is another rank's.
  if (isElsewhere) engine.waitFor(last);
}

} // namespace sprig::frontend
