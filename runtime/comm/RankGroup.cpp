#include "runtime/comm/RankGroup.h"
#include "runtime/comm/PartTransport.h"
#include "runtime/format/Types.h"

#include <cstring>

namespace sprig::rt::comm {

using collective::Algorithm;

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
void RankGroup::copyParts(const GroupCall &call, std::span<const GroupTensor> tensors) const {
  uint64_t size = core::dtypeSize(call.dtype);
  bool isInto = collective::formOf(call.kind) == collective::Form::fromPart;
  for (const auto &[whole, part] : tensors) {
    if (!whole.unit || !whole.elements) continue;
    collective::Range units = collective::pieceOf(whole.elements / whole.unit, uint32_t(ranks()), uint32_t(rank()));
    void *own = static_cast<std::byte *>(whole.data) + uint64_t(units.begin * whole.unit) * size;
    if (!units.size() || own == part) continue;
    std::memcpy(isInto ? own : part, isInto ? part : own, uint64_t(units.size() * whole.unit) * size);
  }
}

// Of `count` tensors those of one algorithm at a time.
template <typename TensorAt>
Status RankGroup::meet(Call call, GivenAlgorithm algorithm, size_t count, TensorAt tensorAt) {
  auto chosen = [&](int64_t elements) {
    int64_t bytes = elements * int64_t(core::dtypeSize(call.dtype));
    return algorithm ? *algorithm : collective::chooseAlgorithm(call.kind, ranks(), bytes);
  };
  for (Algorithm each :
       {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional}) {
    together.clear();
    inputs.clear();
    for (size_t i = 0; i < count; ++i) {
      GroupTensor tensor = tensorAt(i);
      if (chosen(tensor.whole.elements) != each) continue;
      together.push_back(tensor.whole);
      if (collective::formOf(call.kind) == collective::Form::apart)
        inputs.push_back({tensor.other, tensor.whole.elements, tensor.whole.unit});
    }
    bool isBarrier = count == 0 && call.kind == collective::Kind::barrier && chosen(0) == each;
    if (!isBarrier && together.empty()) continue;
    call.algorithm = each;
    SPRIG_RETURN_IF_ERROR(communicator.run(call, {together, inputs}));
  }
  return {};
}

Status RankGroup::run(const GroupCall &asked, std::span<const GroupTensor> tensors, std::string_view name) {
  if (!collective::meets(asked.kind)) {
    copyParts(asked, tensors);
    return {};
  }
  auto named = [&](const Status &status) {
    return Status(status.code(), core::concat("'", name, "': ", status.message()));
  };
  Turn turn(*this);
  if (!turn.isTaken) return named(isTaken());
  collective::Form form = collective::formOf(asked.kind);
  if (form == collective::Form::fromPart) copyParts(asked, tensors);
  Call call;
  call.kind = asked.kind;
  call.reduction = asked.reduction;
  call.dtype = asked.dtype;
  call.root = asked.root;
  // Ranks whose programs differ may not add up one tensor with another of its size.
  call.name = std::hash<std::string_view>()(name) | 1;
  isInside = true;
  Status status = meet(call, asked.algorithm, tensors.size(), [&](size_t i) { return tensors[i]; });
  isInside = false;
  if (!status.isOk()) return named(status);
  if (form == collective::Form::toPart) copyParts(asked, tensors);
  return {};
}

Status RankGroup::allReduce(Call call, GivenAlgorithm algorithm, std::span<const Buffers::Buffer> buffers) {
  call.kind = collective::Kind::allReduce;
  Turn turn(*this);
  if (!turn.isTaken) return isTaken();
  isInside = true;
  Status status = meet(call, algorithm, buffers.size(), [&](size_t i) { return GroupTensor{buffers[i]}; });
  isInside = false;
  return status;
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
