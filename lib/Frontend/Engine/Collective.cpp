#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/NonFinite.h"
#include "lib/Frontend/Engine/ProfileSpan.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Recording.h"
#include "lib/Frontend/Engine/Trace.h"
#include "runtime/collective/Collective.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace sprig::frontend {

using rt::collective::Form;
using rt::collective::Kind;
using rt::comm::Buffers;
using rt::comm::Status;

namespace {

constexpr Kind kRecorded[] = {Kind::allReduce, Kind::reduceScatter, Kind::allGather, Kind::broadcast,
                              Kind::reduce,    Kind::gather,        Kind::scatter,   Kind::allToAll};

/// By Kind.
const std::array<const OpName *, std::size(kRecorded)> &names() {
  static const auto all = [] {
    std::array<const OpName *, std::size(kRecorded)> made;
    for (Kind kind : kRecorded) made[size_t(kind)] = &opName("dist." + std::string(nameOf(kind)));
    return made;
  }();
  return all;
}

Kind kindOf(const OpName &op) { return Kind(std::find(names().begin(), names().end(), &op) - names().begin()); }

/// One collective of a rank, out of place: whoever holds its operands keeps them.
class CollectiveTask : public Task {
public:
  std::shared_ptr<RankEnd> end;
  CollectiveOrder::Turn turn;
  GraphNode description;
  std::vector<Tensor> operands;
  std::vector<Value *> results; // a reference each
  Kind kind;
  std::unique_ptr<const NodeWatch> watch;

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
        ProfileSpan span("collective", [&] { return placeText(description.source, description.op->text, nullptr); });
        if (Status status = meet(); !status.isOk())
          failure = std::make_shared<Error>(errorOf(status, std::string(nameOf(kind)), description.source));
      } catch (const std::exception &error) {
        failure = std::make_shared<Error>(
            ErrorKind::runtime, placeText(description.source, description.op->text, nullptr) + ": " + error.what());
        end->group->fail({SPRIG_RT_CANCELLED, end->text() + ": " + failure->what()});
      }
    if (failure) Engine::of(end->order->lane).noteFailure(failure);
    if (!failure && watch) {
      std::vector<Value *> read;
      for (const Tensor &operand : operands) read.push_back(operand.raw());
      noteOrigins(description, *watch, read, results, std::nullopt);
    }
    for (Value *value : results) {
      if (failure) value->storage.reset();
      value->failure = failure;
      value->state.store(failure ? Value::State::failed : Value::State::ready, std::memory_order_release);
    }
    turn.end();
  }

private:
  Status meet() {
    std::vector<rt::comm::GroupTensor> tensors;
    for (size_t i = 0; i < operands.size(); ++i) tensors.push_back(tensorOf(i));
    rt::comm::Call call;
    call.kind = kind;
    if (const Attr *reduction = find(description.attrs, "reduction"))
      call.reduction = rt::comm::Reduction(std::atoi(reduction->text));
    if (const Attr *root = find(description.attrs, "root")) call.root = int32_t(root->integer);
    call.dtype = sprig_rt_dtype(operands[0].dtype());
    call.file = description.source.file;
    call.line = description.source.line;
    return end->group->run(call, algorithm(), tensors);
  }

  /// Of the operand and of new memory for the result: a whole that does not stay what it was is a copy.
  rt::comm::GroupTensor tensorOf(size_t i) {
    const TensorType &from = operands[i].type(), &to = results[i]->type;
    void *read = operands[i].raw()->storage->data;
    results[i]->storage = Storage::allocate(to.bytes());
    void *written = results[i]->storage->data;
    bool isOfRoot = kind == Kind::broadcast || kind == Kind::scatter;
    bool isRead = !isOfRoot || find(description.attrs, "root")->integer == end->group->rank();
    switch (formOf(kind)) {
    case Form::inPlace:
      if (isRead) std::memcpy(written, read, size_t(to.bytes()));
      return {bufferOf(to, written)};
    case Form::toPart:
      wholes.push_back(Storage::allocate(from.bytes()));
      if (isRead) std::memcpy(wholes.back()->data, read, size_t(from.bytes()));
      return {bufferOf(from, wholes.back()->data), bufferOf(to, written)};
    case Form::fromPart:
    case Form::apart: break;
    }
    return {bufferOf(to, written), bufferOf(from, read)};
  }

  /// Pieces are of rows, but where all is in place.
  Buffers::Buffer bufferOf(const TensorType &type, void *data) const {
    int64_t unit = 1;
    if (formOf(kind) != Form::inPlace)
      for (int axis = 1; axis < type.shape.rank(); ++axis) unit *= type.shape[axis];
    return {data, type.elements(), unit, {type.shape.begin(), type.shape.end()}};
  }

  rt::comm::GivenAlgorithm algorithm() const {
    const Attr *given = find(description.attrs, "algorithm");
    if (!given) return std::nullopt;
    std::string_view quoted = given->text;
    rt::collective::Algorithm algorithm{};
    rt::collective::findAlgorithm(quoted.substr(1, quoted.size() - 2), algorithm);
    return algorithm;
  }

  std::vector<std::shared_ptr<Storage>> wholes;
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
  }
  for (const Value *value : values) types.push_back(value->type);
  node->resultTypes.assign(types);
  node->references.store(uint32_t(values.size()), std::memory_order_relaxed);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i]->producer = node;
    values[i]->index = uint16_t(i);
    values[i]->tracked = true;
  }
}

} // namespace

bool isCollective(const OpName &op) {
  // Each operation is asked: most are of another dialect.
  return op.text.front() == 'd' && std::find(names().begin(), names().end(), &op) != names().end();
}

const OpName &collectiveName(Kind kind) { return *names()[size_t(kind)]; }

AttrList collectiveAttrs(const RankEnd &end, Kind kind, rt::comm::Reduction reduction,
                         rt::comm::GivenAlgorithm algorithm, int root) {
  AttrList attrs{Attr::other("mesh", end.mesh), Attr::other("axes", "[\"data\"]")};
  if (rt::comm::reduces(kind))
    attrs.push_back(Attr::other("reduction", intern(std::to_string(int(reduction)) + " : i32").c_str()));
  if (rt::collective::isRooted(kind)) attrs.push_back(Attr::of("root", root));
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
         "is in a branch, a loop or a checkpoint, which ranks do not go through together; move it outside");
  if (GlobalStep::current())
    fail(collective.source, op,
         "is in a step that is written for the samples of all ranks, which the compiler divides among them");
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
  task->kind = kindOf(*collective.op);
  task->description = std::move(collective);
  task->watch = watchFor(operands);
  task->turn = task->end->order->next(lane);
  Engine &engine = Engine::of(lane);
  Value &last = *values[operands.size() - 1];
  engine.push(std::move(task));
  Engine::makeRoom();
  // What reads it there would stand in a lane that is another rank's.
  if (isElsewhere) engine.waitFor(last);
}

} // namespace sprig::frontend
