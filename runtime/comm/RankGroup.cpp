#include "runtime/comm/RankGroup.h"
#include "runtime/comm/PartTransport.h"
#include "runtime/format/Types.h"

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

Status RankGroup::allReduce(sprig_rt_dtype dtype, Reduction reduction, GivenAlgorithm algorithm,
                            std::span<const Buffers::Buffer> buffers, std::string_view name) {
  Call call;
  call.reduction = reduction;
  call.dtype = dtype;
  // Ranks whose programs differ may not add up one tensor with another of its size.
  call.name = std::hash<std::string_view>()(name) | 1;
  Status status = allReduce(call, algorithm, buffers);
  if (status.isOk()) return status;
  return Status(status.code(), core::concat("'", name, "': ", status.message()));
}

Status RankGroup::allReduce(Call call, GivenAlgorithm algorithm, std::span<const Buffers::Buffer> buffers) {
  constexpr collective::Kind kind = collective::Kind::allReduce;
  call.kind = kind;
  Turn turn(*this);
  if (!turn.isTaken) return isTaken();
  isInside = true;
  Status status;
  auto chosen = [&](const Buffers::Buffer &buffer) {
    int64_t bytes = buffer.elements * int64_t(core::dtypeSize(call.dtype));
    return algorithm ? *algorithm : collective::chooseAlgorithm(kind, ranks(), bytes);
  };
  for (Algorithm each :
       {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional}) {
    together.clear();
    for (const Buffers::Buffer &buffer : buffers)
      if (chosen(buffer) == each) together.push_back(buffer);
    if (together.empty() || !status.isOk()) continue;
    call.algorithm = each;
    status = communicator.run(call, {together});
  }
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
