// Collectives on tensors: what is refused, and what is recorded of them.
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Collective.h"
#include "lib/Frontend/Engine/Recorder.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "sprig/create.h"
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

/// One collective that a rank asks for: its name, the caller's line, and what is to be known of its operand.
class Asked {
public:
  Asked(Group::Impl &impl, Kind kind, Source at) : impl(impl), kind(kind), at(at), name(nameOf(kind)) {
    isTraced = frontend::Trace::current();
    if (!impl.end->isHere()) refuse("is called by another thread than that of " + impl.end->text());
  }

  int rank() const { return impl.group().rank(); }
  int ranks() const { return impl.group().ranks(); }
  [[noreturn]] void refuse(const std::string &text) const { fail(at, name, text); }

  void checkRoot(int root) const {
    if (root < 0 || root >= ranks())
      refuse("expected a root below " + std::to_string(ranks()) + ", found " + std::to_string(root));
  }
  int64_t rowsOf(const Tensor &x) const {
    frontend::requireDefined(x, name.c_str(), "x", at);
    return rowsOf(x.type(at));
  }
  int64_t rowsOf(const TensorType &type) const {
    if (!type.shape.rank()) refuse("expected a tensor with a first axis, found a scalar");
    return type.shape[0];
  }
  static TensorType withRows(TensorType type, int64_t rows) {
    type.shape[0] = rows;
    return type;
  }
  /// The rows of a whole that are this rank's.
  int64_t partOf(int64_t rows) const {
    return rt::collective::pieceOf(rows, uint32_t(ranks()), uint32_t(rank())).size();
  }
  /// The type of all ranks' rows together.
  TensorType together(const Tensor &x, std::optional<int64_t> given) const {
    int64_t own = rowsOf(x), all = given.value_or(own * ranks()), expected = all < 0 ? 0 : partOf(all);
    if (all < 0 || expected != own)
      refuse("of " + std::to_string(all) + " rows rank " + std::to_string(rank()) + " has " + std::to_string(expected) +
             ", found " + std::to_string(own));
    return withRows(x.type(), all);
  }
  Tensor likeRoot(const Tensor &x, int root);

  /// Its result, which is there when this returns; in a function that is being recorded a part of that.
  Tensor record(const Tensor &x, const TensorType &result, Reduce reduce = Reduce::sum, int root = 0) const {
    frontend::requireDefined(x, name.c_str(), "x", at);
    if (rt::comm::reduces(kind))
      if (std::string why = rt::comm::whyNot(sprig_rt_dtype(x.dtype()), Reduction(reduce)); !why.empty()) refuse(why);
    if (isTraced && ranks() == 1) return x; // which nobody else has a part of
    // What cannot be read is this rank's error before anything is sent.
    if (!isTraced) (void)x.wait(at);
    Tensor made = frontend::record(frontend::collectiveName(kind), {x},
                                   frontend::collectiveAttrs(*impl.end, kind, Reduction(reduce), {}, root), result, at);
    if (!isTraced) made.wait(at);
    return made;
  }

  /// Without an operand that anything is recorded of.
  void run(DType dtype, const Buffers &buffers, CollectiveAlgorithm algorithm, int root = 0,
           std::optional<Kind> announces = {}) {
    impl.end->order->settle();
    rt::comm::Call call{announces ? Kind::broadcast : kind, algorithm, Reduction::sum, sprig_rt_dtype(dtype), root};
    call.announces = announces;
    call.file = at.file;
    call.line = at.line;
    if (Status status = impl.group().run(call, buffers); !status.isOk()) throw frontend::errorOf(status, name, at);
  }

private:
  /// All are told, who would wait for this rank.
  [[noreturn]] void refuseToAll(const std::string &text) const {
    impl.group().fail(Status(SPRIG_RT_INVALID_ARGUMENT, text));
    refuse(text);
  }

  Group::Impl &impl;
  Kind kind;
  Source at;
  std::string name;
  bool isTraced;
};

/// What a rank gives where the root's tensor counts: one of the root's type, which others need not have. The root says
/// what it has, and whether a gradient may be asked of it: that goes through on all ranks, or on none.
Tensor Asked::likeRoot(const Tensor &x, int root) {
  checkRoot(root);
  if (isTraced) {
    if (!x.defined())
      refuse("in a function that is being compiled every rank gives a tensor of the root's type, rank " +
             std::to_string(rank()) + " gives none");
    return x;
  }
  const bool isRoot = rank() == root, isTracked = x.defined() && x.raw()->tracked && frontend::lineageIsOn();
  int64_t words[Shape::kMaxRank + 3] = {};
  if (isRoot) {
    frontend::requireDefined(x, name.c_str(), "x", at);
    if (kind == Kind::scatter) (void)rowsOf(x);
    (void)x.wait(at);
    words[0] = int64_t(x.dtype());
    words[1] = x.rank();
    words[2] = isTracked;
    for (int axis = 0; axis < x.rank(); ++axis) words[axis + 3] = x.shape()[axis];
  }
  Buffers::Buffer buffer{words, int64_t(std::size(words))};
  run(DType::i64, {{&buffer, 1}}, CollectiveAlgorithm::tree, root, kind);
  if (isRoot) return x;
  TensorType type{DType(words[0]), Shape(words + 3, size_t(words[1]))};
  const std::string rootText = "rank " + std::to_string(root), ownText = "rank " + std::to_string(rank());
  if (bool(words[2]) != isTracked)
    refuseToAll("a gradient may be asked of the tensor of " + (isTracked ? ownText : rootText) +
                ", and not of that of " + (isTracked ? rootText : ownText) +
                ": give x.detach(), or one that requires a gradient on all ranks");
  const bool isAlike = x.defined() && x.type() == type;
  if (x.defined() && !isAlike && (kind == Kind::broadcast || isTracked))
    refuseToAll(rootText + " has a tensor " + describe(type) + ", " + ownText + " one of " + describe(x.type()));
  if (isAlike) return x;
  DeviceScope scope(x.defined() ? x.device() : defaultDevice(), at);
  return frontend::readyTensor(type, Storage::allocate(type.bytes())); // nobody reads what is in it
}

/// As errors call it.
std::string textOf(Kind kind) { return std::string(nameOf(kind)); }

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
  const frontend::OpName &op = frontend::collectiveName(Kind::allReduce);
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
    frontend::AttrList attrs = frontend::collectiveAttrs(end, Kind::allReduce, Reduction(reduce), given(algorithm));
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
  Asked asked(own(textOf(Kind::reduceScatter), at), Kind::reduceScatter, at);
  int64_t rows = asked.rowsOf(x);
  return asked.record(x, Asked::withRows(x.type(), asked.partOf(rows)), reduce);
}

Tensor Group::allGather(const Tensor &x, std::optional<int64_t> rows, Source at) {
  Asked asked(own(textOf(Kind::allGather), at), Kind::allGather, at);
  return asked.record(x, asked.together(x, rows));
}

Tensor Group::broadcast(const Tensor &x, int root, Source at) {
  Asked asked(own(textOf(Kind::broadcast), at), Kind::broadcast, at);
  Tensor given = asked.likeRoot(x, root);
  return asked.record(given, given.type(), Reduce::sum, root);
}

Tensor Group::reduce(const Tensor &x, Reduce reduce, int root, Source at) {
  Asked asked(own(textOf(Kind::reduce), at), Kind::reduce, at);
  asked.checkRoot(root);
  return asked.record(x, x.type(at), reduce, root);
}

Tensor Group::gather(const Tensor &x, int root, std::optional<int64_t> rows, Source at) {
  Asked asked(own(textOf(Kind::gather), at), Kind::gather, at);
  asked.checkRoot(root);
  return asked.record(x, asked.together(x, rows), Reduce::sum, root);
}

Tensor Group::scatter(const Tensor &x, int root, Source at) {
  Asked asked(own(textOf(Kind::scatter), at), Kind::scatter, at);
  Tensor given = asked.likeRoot(x, root);
  return asked.record(given, Asked::withRows(given.type(), asked.partOf(asked.rowsOf(given))), Reduce::sum, root);
}

Tensor Group::allToAll(const Tensor &x, Source at) {
  Asked asked(own(textOf(Kind::allToAll), at), Kind::allToAll, at);
  int64_t rows = rt::collective::exchangedRows(asked.rowsOf(x), uint32_t(asked.ranks()), uint32_t(asked.rank()));
  return asked.record(x, Asked::withRows(x.type(), rows));
}

void Group::barrier(Source at) {
  Asked asked(own(textOf(Kind::barrier), at), Kind::barrier, at);
  if (frontend::Trace::current())
    asked.refuse("is in a function that is being compiled, which waits for others only in collectives whose results it "
                 "needs; call it between functions");
  asked.run(DType::f32, {}, CollectiveAlgorithm::tree);
}

} // namespace sprig::dist
