#include "runtime/comm/RankGroup.h"
#include "runtime/comm/PartTransport.h"
#include "runtime/format/Types.h"

#include <cstring>

namespace sprig::rt::comm {

using collective::Algorithm;
using collective::Kind;

std::vector<std::shared_ptr<RankGroup>> RankGroup::ofThreads(const ThreadRanksOptions &options) {
  std::vector<std::shared_ptr<RankGroup>> groups;
  auto ranks = std::make_shared<ThreadRanks>(options);
  for (int rank = 0; rank < options.ranks; ++rank)
    groups.push_back(std::shared_ptr<RankGroup>(new RankGroup(ranks, ranks->transport(rank))));
  return groups;
}

std::shared_ptr<RankGroup> RankGroup::over(std::shared_ptr<void> owner, Transport &transport) {
  return std::shared_ptr<RankGroup>(new RankGroup(std::move(owner), transport));
}

std::shared_ptr<RankGroup> RankGroup::part(std::shared_ptr<RankGroup> whole, std::vector<int> members,
                                           uint64_t number) {
  struct Owner {
    std::shared_ptr<RankGroup> whole;
    PartTransport transport;
  };
  Transport &transport = whole->transport;
  auto owner = std::make_shared<Owner>(Owner{std::move(whole), {transport, std::move(members), number}});
  return over(owner, owner->transport);
}

Status RankGroup::ofProcess(const ProcessRanksOptions &options, std::shared_ptr<RankGroup> &group) {
  std::unique_ptr<Transport> made;
  SPRIG_RETURN_IF_ERROR(joinProcesses(options, made));
  std::shared_ptr<Transport> transport = std::move(made);
  group.reset(new RankGroup(transport, *transport));
  return {};
}

RankGroup::RankGroup(std::shared_ptr<void> owner, Transport &transport)
    : owner(std::move(owner)), transport(transport), communicator(transport) {}

RankGroup::~RankGroup() { transport.leave(); }

Status RankGroup::isTaken() const {
  return Status(SPRIG_RT_INVALID_ARGUMENT,
                core::concat("rank ", rank(), " is in a collective of another thread already"));
}

RankGroup::Presence::~Presence() {
  group.isInside = false;
  auto took = Clock::now() - begin;
  ++group.collectives;
  group.totalNs += uint64_t(took / std::chrono::nanoseconds(1));
  if (isAwaited) group.hasWaited(took);
}

// This rank's parts: into the wholes that they make up, or out of those that give them.
void RankGroup::copyParts(collective::Kind kind, sprig_rt_dtype dtype, std::span<const GroupTensor> tensors) const {
  uint64_t size = core::dtypeSize(dtype);
  bool isInto = collective::formOf(kind) == collective::Form::fromPart;
  for (const auto &[whole, other] : tensors) {
    void *part = other.data;
    if (!whole.unit || !whole.elements) continue;
    collective::Range units = collective::pieceOf(whole.elements / whole.unit, uint32_t(ranks()), uint32_t(rank()));
    void *own = static_cast<std::byte *>(whole.data) + uint64_t(units.begin * whole.unit) * size;
    if (!units.size() || own == part) continue;
    std::memcpy(isInto ? own : part, isInto ? part : own, uint64_t(units.size() * whole.unit) * size);
  }
}

// Those of one algorithm at a time.
Status RankGroup::meet(Call call, GivenAlgorithm algorithm, std::span<const GroupTensor> tensors) {
  auto chosen = [&](int64_t elements) {
    int64_t bytes = elements * int64_t(core::dtypeSize(call.dtype));
    return algorithm ? *algorithm : collective::chooseAlgorithm(call.kind, ranks(), bytes);
  };
  for (Algorithm each :
       {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional}) {
    together.clear();
    inputs.clear();
    for (const GroupTensor &tensor : tensors) {
      if (chosen(tensor.whole.elements) != each) continue;
      together.push_back(tensor.whole);
      if (collective::formOf(call.kind) == collective::Form::apart) inputs.push_back(tensor.other);
    }
    bool isBarrier = tensors.empty() && call.kind == Kind::barrier && chosen(0) == each;
    if (!isBarrier && together.empty()) continue;
    call.algorithm = each;
    SPRIG_RETURN_IF_ERROR(communicator.run(call, {together, inputs}));
  }
  return {};
}

Status RankGroup::run(Call call, GivenAlgorithm algorithm, std::span<const GroupTensor> tensors) {
  Turn turn(*this);
  if (!turn.isTaken) return isTaken();
  collective::Form form = collective::formOf(call.kind);
  if (form == collective::Form::fromPart) copyParts(call.kind, call.dtype, tensors);
  isInside = true;
  Status status = meet(call, algorithm, tensors);
  isInside = false;
  if (!status.isOk()) return status;
  if (form == collective::Form::toPart) copyParts(call.kind, call.dtype, tensors);
  bool isOfRoot = call.kind == Kind::reduce || call.kind == Kind::gather;
  if (isOfRoot && rank() != call.root)
    for (const GroupTensor &tensor : tensors)
      if (tensor.whole.elements)
        std::memset(tensor.whole.data, 0, uint64_t(tensor.whole.elements) * core::dtypeSize(call.dtype));
  return {};
}

Status RankGroup::run(const GroupCall &asked, std::span<const GroupTensor> tensors, std::string_view name) {
  if (!collective::meets(asked.kind)) {
    copyParts(asked.kind, asked.dtype, tensors);
    return {};
  }
  Call call;
  call.kind = asked.kind;
  call.reduction = asked.reduction;
  call.dtype = asked.dtype;
  call.root = asked.root;
  // Ranks whose programs differ may not add up one tensor with another of its size.
  call.name = std::hash<std::string_view>()(name) | 1;
  Status status = run(call, asked.algorithm, tensors);
  if (status.isOk()) return status;
  return Status(status.code(), core::concat("'", name, "': ", status.message()));
}

Status RankGroup::run(const Call &call, const Buffers &buffers) {
  Turn turn(*this);
  if (!turn.isTaken) return isTaken();
  isInside = true;
  Status status = communicator.run(call, buffers);
  isInside = false;
  return status;
}

void RankGroup::fail(const Status &why) { transport.fail(why); }

void RankGroup::interrupt(const Status &why) {
  if (isInside) transport.fail(why);
}

} // namespace sprig::rt::comm
