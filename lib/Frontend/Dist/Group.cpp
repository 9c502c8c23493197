// Collectives on tensors: what is refused, which buffers they are, what becomes of them.
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "sprig/create.h"
#include "sprig/grad.h"
#include <cstring>
#include <map>
#include <optional>

namespace sprig::dist {

using frontend::fail;
using frontend::Storage;
using rt::collective::Kind;
using rt::comm::Buffers;
using rt::comm::Status;
using CollectiveAlgorithm = rt::collective::Algorithm;
using Reduction = rt::comm::Reduction;

namespace {

// The numbers of both are the same, name by name.
static_assert(int(Reduce::sum) == int(Reduction::sum) && int(Reduce::mean) == int(Reduction::mean) &&
              int(Reduce::product) == int(Reduction::product) && int(Reduce::min) == int(Reduction::min) &&
              int(Reduce::max) == int(Reduction::max));
static_assert(int(DType::f64) == SPRIG_RT_F64 && int(DType::bf16) == SPRIG_RT_BF16 &&
              int(DType::boolean) == SPRIG_RT_I1);

rt::comm::GivenAlgorithm given(Algorithm algorithm) {
  switch (algorithm) {
  case Algorithm::automatic: return std::nullopt;
  case Algorithm::star: return CollectiveAlgorithm::star;
  case Algorithm::split: return CollectiveAlgorithm::split;
  case Algorithm::tree: return CollectiveAlgorithm::tree;
  case Algorithm::ring: return CollectiveAlgorithm::ring;
  case Algorithm::bidirectional: return CollectiveAlgorithm::bidirectional;
  }
  return std::nullopt;
}

/// One collective of a rank: its name, the caller's line, and the buffers.
class Operation {
public:
  Operation(Group::Impl &impl, Kind kind, Source at) : impl(impl), kind(kind), at(at), name(nameOf(kind)) {
    // It would run once, while the function is recorded, and its result would be a constant of the function.
    if (frontend::Trace::current()) refuse("compiled functions have all_reduce alone yet: call it between them");
    if (!impl.end->isHere()) refuse("is called by another thread than that of " + impl.end->text());
    impl.end->order->settle();
  }

  int rank() const { return impl.group().rank(); }
  int ranks() const { return impl.group().ranks(); }
  [[noreturn]] void refuse(const std::string &text) const { fail(at, name, text); }

  /// The tensor's bytes, when they are there.
  const void *read(const Tensor &x) const {
    frontend::requireDefined(x, name.c_str(), "x", at);
    const frontend::Value &value = *x.raw();
    if (value.tracked)
      refuse(
          "a gradient may be asked of its operand, and none goes through it, only through all_reduce: give x.detach()");
    return x.bytes(at);
  }
  void checkRoot(int root) const {
    if (root < 0 || root >= ranks())
      refuse("expected a root below " + std::to_string(ranks()) + ", found " + std::to_string(root));
  }
  int64_t rowsOf(const Tensor &x) const {
    frontend::requireDefined(x, name.c_str(), "x", at);
    if (!x.rank()) refuse("expected a tensor with a first axis, found a scalar");
    return x.shape()[0];
  }
  /// New memory with a tensor's numbers; null: not initialised.
  std::shared_ptr<Storage> memory(const TensorType &type, const void *numbers = nullptr) const {
    std::shared_ptr<Storage> storage = Storage::allocate(type.bytes());
    if (numbers) std::memcpy(storage->data, numbers, size_t(type.bytes()));
    return storage;
  }
  Tensor tensor(const TensorType &type, std::shared_ptr<Storage> storage, const Device &device) const {
    DeviceScope scope(device, at);
    return frontend::readyTensor(type, std::move(storage));
  }

  void run(DType dtype, const Buffers &buffers, CollectiveAlgorithm algorithm, Reduce reduce = Reduce::sum,
           int root = 0, std::optional<Kind> announces = {}) {
    rt::comm::Call call{kind, algorithm, Reduction(reduce), sprig_rt_dtype(dtype), root};
    call.announces = announces;
    call.file = at.file;
    call.line = at.line;
    if (Status status = impl.group().run(call, buffers); !status.isOk()) throw frontend::errorOf(status, name, at);
  }
  void runOn(const TensorType &type, const std::shared_ptr<Storage> &storage, CollectiveAlgorithm algorithm,
             Reduce reduce = Reduce::sum, int root = 0) {
    Buffers::Buffer buffer{storage->data, type.elements(), rowElements(type), shapeOf(type)};
    run(type.dtype, {{&buffer, 1}}, algorithm, reduce, root);
  }
  static std::span<const int64_t> shapeOf(const TensorType &type) { return {type.shape.begin(), type.shape.end()}; }
  /// Elements of a row where pieces are rows, else 1.
  int64_t rowElements(const TensorType &type) const {
    bool isOfRows = kind == Kind::reduceScatter || kind == Kind::allGather || kind == Kind::gather ||
                    kind == Kind::scatter || kind == Kind::allToAll;
    if (!isOfRows) return 1;
    int64_t elements = 1;
    for (int axis = 1; axis < type.shape.rank(); ++axis) elements *= type.shape[axis];
    return elements;
  }
  /// The first axis as this rank has it.
  Tensor rowsAt(const TensorType &whole, const std::shared_ptr<Storage> &storage, const Device &device) const {
    rt::collective::Range rows = rt::collective::pieceOf(whole.shape[0], uint32_t(ranks()), uint32_t(rank()));
    TensorType type = whole;
    type.shape[0] = rows.size();
    const char *begin = static_cast<const char *>(storage->data) + rows.begin * rowElements(whole) * size(type.dtype);
    return tensor(type, memory(type, begin), device);
  }
  /// The type of all ranks' rows together, with this rank's in their place in new memory.
  TensorType together(const Tensor &x, std::optional<int64_t> given, std::shared_ptr<Storage> &storage) const {
    int64_t own = rowsOf(x), all = given.value_or(own * ranks());
    const void *numbers = read(x);
    rt::collective::Range rows = rt::collective::pieceOf(all, uint32_t(ranks()), uint32_t(rank()));
    if (all < 0 || rows.size() != own)
      refuse("of " + std::to_string(all) + " rows rank " + std::to_string(rank()) + " has " +
             std::to_string(all < 0 ? 0 : rows.size()) + ", found " + std::to_string(own));
    TensorType type = x.type();
    type.shape[0] = all;
    storage = memory(type);
    std::memcpy(static_cast<char *>(storage->data) + rows.begin * rowElements(type) * size(type.dtype), numbers,
                size_t(x.type().bytes()));
    return type;
  }
  /// The root's type, on every rank: what broadcast and scatter need to know first.
  TensorType typeOfRoot(const Tensor &x, int root) {
    checkRoot(root);
    int64_t words[Shape::kMaxRank + 2] = {};
    if (rank() == root) {
      read(x);
      words[0] = int64_t(x.dtype());
      words[1] = x.rank();
      for (int axis = 0; axis < x.rank(); ++axis) words[axis + 2] = x.shape()[axis];
    }
    Buffers::Buffer buffer{words, int64_t(std::size(words))};
    Operation(impl, Kind::broadcast, at)
        .run(DType::i64, {{&buffer, 1}}, CollectiveAlgorithm::tree, Reduce::sum, root, kind);
    return {DType(words[0]), Shape(words + 2, size_t(words[1]))};
  }

private:
  Group::Impl &impl;
  Kind kind;
  Source at;
  std::string name;
};

/// As errors call it.
std::string textOf(Kind kind) { return std::string(nameOf(kind)); }

Device deviceOf(const Tensor &x) { return x.defined() ? x.device() : defaultDevice(); }

} // namespace

int Group::rank() const { return impl ? impl->group().rank() : -1; }
int Group::size() const { return impl ? impl->group().ranks() : 0; }

Group::Impl &Group::own(const std::string &op, Source at) const {
  if (!impl) frontend::fail(at, op, "this rank is not in the part that it is of");
  return *impl;
}

std::pair<int64_t, int64_t> Group::rowsOf(int64_t rows) const {
  (void)own("rowsOf", {});
  rt::collective::Range range = rt::collective::pieceOf(rows, uint32_t(size()), uint32_t(rank()));
  return {range.begin, range.end};
}

// Tensors of one type go together, but in a program, whose compiler knows what does. An algorithm is chosen for each by
// itself, so what else is there changes no bit.
std::vector<Tensor> Group::allReduceAsync(const std::vector<Tensor> &tensors, Reduce reduce, Algorithm algorithm,
                                          Source at) {
  static const frontend::OpName &op = frontend::opName("dist.all_reduce");
  const bool isTraced = frontend::Trace::current();
  std::map<std::pair<DType, size_t>, std::vector<size_t>> together;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) continue;
    DType type = tensors[i].dtype();
    if (std::string why = rt::comm::whyNot(sprig_rt_dtype(type), Reduction(reduce)); !why.empty())
      frontend::fail(at, op.text, why);
    together[{type, isTraced ? i : 0}].push_back(i);
  }
  frontend::RankEnd &end = *own("all_reduce", at).end;
  if (isTraced && size() == 1) return tensors; // they are the sums
  std::vector<Tensor> results(tensors.size());
  for (const auto &[kind, members] : together) {
    std::vector<Tensor> operands;
    std::vector<TensorType> types;
    for (size_t i : members) {
      operands.push_back(tensors[i]);
      types.push_back(tensors[i].type());
    }
    frontend::AttrList attrs = frontend::allReduceAttrs(end, Reduction(reduce), given(algorithm));
    std::vector<Tensor> reduced = frontend::recordAll(op, operands, std::move(attrs), types, at);
    for (size_t m = 0; m < members.size(); ++m) results[members[m]] = std::move(reduced[m]);
  }
  return results;
}

Tensor Group::allReduceAsync(const Tensor &x, Reduce reduce, Algorithm algorithm, Source at) {
  frontend::requireDefined(x, "all_reduce", "x", at);
  return allReduceAsync(std::vector<Tensor>{x}, reduce, algorithm, at)[0];
}

Tensor Group::allReduce(const Tensor &x, Reduce reduce, Algorithm algorithm, Source at) {
  frontend::requireDefined(x, "all_reduce", "x", at);
  return allReduce(std::vector<Tensor>{x}, reduce, algorithm, at)[0];
}

std::vector<Tensor> Group::allReduce(const std::vector<Tensor> &tensors, Reduce reduce, Algorithm algorithm,
                                     Source at) {
  // What cannot be read is this rank's error before anything is sent.
  if (!frontend::Trace::current())
    for (const Tensor &tensor : tensors)
      if (tensor.defined()) (void)tensor.wait(at);
  std::vector<Tensor> results = allReduceAsync(tensors, reduce, algorithm, at);
  if (!frontend::Trace::current())
    for (const Tensor &result : results)
      if (result.defined()) result.wait(at);
  return results;
}

Tensor Group::reduceScatter(const Tensor &x, Reduce reduce, Source at) {
  Operation operation(own(textOf(Kind::reduceScatter), at), Kind::reduceScatter, at);
  operation.rowsOf(x);
  std::shared_ptr<Storage> storage = operation.memory(x.type(), operation.read(x));
  operation.runOn(x.type(), storage, CollectiveAlgorithm::ring, reduce);
  return operation.rowsAt(x.type(), storage, x.device());
}

Tensor Group::allGather(const Tensor &x, std::optional<int64_t> rows, Source at) {
  Operation operation(own(textOf(Kind::allGather), at), Kind::allGather, at);
  std::shared_ptr<Storage> storage;
  TensorType type = operation.together(x, rows, storage);
  operation.runOn(type, storage, CollectiveAlgorithm::ring);
  return operation.tensor(type, storage, x.device());
}

Tensor Group::broadcast(const Tensor &x, int root, Source at) {
  Operation operation(own(textOf(Kind::broadcast), at), Kind::broadcast, at);
  TensorType type = operation.typeOfRoot(x, root);
  if (x.defined() && !(x.type() == type)) {
    // Said to all, who would wait for this rank.
    std::string text = "rank " + std::to_string(root) + " has a tensor " + describe(type) + ", rank " +
                       std::to_string(rank()) + " one of " + describe(x.type());
    own("broadcast", at).group().fail(Status(SPRIG_RT_INVALID_ARGUMENT, text));
    operation.refuse(text);
  }
  std::shared_ptr<Storage> storage = operation.memory(type, rank() == root ? operation.read(x) : nullptr);
  operation.runOn(type, storage, CollectiveAlgorithm::tree, Reduce::sum, root);
  return operation.tensor(type, storage, deviceOf(x));
}

Tensor Group::reduce(const Tensor &x, Reduce reduce, int root, Source at) {
  Operation operation(own(textOf(Kind::reduce), at), Kind::reduce, at);
  operation.checkRoot(root);
  std::shared_ptr<Storage> storage = operation.memory(x.type(at), operation.read(x));
  operation.runOn(x.type(), storage, CollectiveAlgorithm::tree, reduce, root);
  return rank() == root ? operation.tensor(x.type(), storage, x.device()) : Tensor();
}

Tensor Group::gather(const Tensor &x, int root, std::optional<int64_t> rows, Source at) {
  Operation operation(own(textOf(Kind::gather), at), Kind::gather, at);
  operation.checkRoot(root);
  std::shared_ptr<Storage> storage;
  TensorType type = operation.together(x, rows, storage);
  operation.runOn(type, storage, CollectiveAlgorithm::star, Reduce::sum, root);
  return rank() == root ? operation.tensor(type, storage, x.device()) : Tensor();
}

Tensor Group::scatter(const Tensor &x, int root, Source at) {
  Operation operation(own(textOf(Kind::scatter), at), Kind::scatter, at);
  operation.checkRoot(root);
  if (rank() == root) operation.rowsOf(x);
  TensorType type = operation.typeOfRoot(x, root);
  std::shared_ptr<Storage> storage = operation.memory(type, rank() == root ? operation.read(x) : nullptr);
  operation.runOn(type, storage, CollectiveAlgorithm::star, Reduce::sum, root);
  return operation.rowsAt(type, storage, deviceOf(x));
}

Tensor Group::allToAll(const Tensor &x, Source at) {
  Operation operation(own(textOf(Kind::allToAll), at), Kind::allToAll, at);
  int64_t rows = operation.rowsOf(x);
  if (rows % size())
    operation.refuse("expected a first axis that is a multiple of " + std::to_string(size()) + " ranks, found " +
                     std::to_string(rows));
  const TensorType &type = x.type();
  std::shared_ptr<Storage> storage = operation.memory(type);
  int64_t unit = operation.rowElements(type);
  Buffers::Buffer from{const_cast<void *>(operation.read(x)), type.elements(), unit};
  Buffers::Buffer to{storage->data, type.elements(), unit, Operation::shapeOf(type)};
  operation.run(type.dtype, {{&to, 1}, {&from, 1}}, CollectiveAlgorithm::split);
  return operation.tensor(type, storage, x.device());
}

void Group::barrier(Source at) {
  Operation(own(textOf(Kind::barrier), at), Kind::barrier, at).run(DType::f32, {}, CollectiveAlgorithm::tree);
}

} // namespace sprig::dist
