// The C ABI's functions of ranks.
#include "runtime/api/Handles.h"
#include "runtime/api/Options.h"
#include "runtime/comm/RankLimits.h"
#include "runtime/format/Types.h"

#include <cstring>
#include <limits>

using namespace sprig::rt;
using namespace sprig::rt::core;

sprig_rt_status *sprig_rt_groups_create(uint32_t ranks, const sprig_rt_group_options *given, sprig_rt_group **groups) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(groups, "place for the groups"));
    sprig_rt_group_options read;
    SPRIG_RETURN_IF_ERROR(readOptions(given, read));
    if (ranks < 1 || ranks > uint32_t(comm::kMostThreadRanks))
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected 1 to ", comm::kMostThreadRanks, " ranks, got ", ranks)};
    comm::ThreadRanksOptions options;
    options.ranks = int(ranks);
    if (read.timeout_ms) options.timeout = comm::boundedTimeout(std::chrono::milliseconds(read.timeout_ms));
    if (read.spin_us) options.spinMicroseconds = std::max(read.spin_us, 0);
    options.collectiveThreads = read.collective_threads;
    std::vector<std::shared_ptr<comm::RankGroup>> made = comm::RankGroup::ofThreads(options);
    std::vector<std::unique_ptr<sprig_rt_group>> handles;
    for (auto &group : made) handles.emplace_back(new sprig_rt_group{std::move(group)});
    for (size_t i = 0; i < handles.size(); ++i) groups[i] = handles[i].release();
    return {};
  });
}

int32_t sprig_rt_is_rank_process(void) { return comm::isRankProcess(); }

sprig_rt_status *sprig_rt_group_join(const sprig_rt_join_options *given, sprig_rt_group **group) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(group, "place for the group"));
    sprig_rt_join_options read;
    SPRIG_RETURN_IF_ERROR(readOptions(given, read));
    comm::ProcessRanksOptions options;
    if (read.timeout_ms) options.timeout = comm::boundedTimeout(std::chrono::milliseconds(read.timeout_ms));
    SPRIG_RETURN_IF_ERROR(comm::readEnvironment(options));
    std::shared_ptr<comm::RankGroup> made;
    SPRIG_RETURN_IF_ERROR(comm::RankGroup::ofProcess(options, made));
    *group = new sprig_rt_group{std::move(made)};
    return {};
  });
}

uint32_t sprig_rt_group_rank(const sprig_rt_group *group) { return group ? uint32_t(group->group->rank()) : 0; }
uint32_t sprig_rt_group_ranks(const sprig_rt_group *group) { return group ? uint32_t(group->group->ranks()) : 0; }

void sprig_rt_group_fail(sprig_rt_group *group, sprig_rt_code code, const char *text) {
  if (!group) return;
  sprig_rt_status_free(guarded([&]() -> Status {
    group->group->fail({code == SPRIG_RT_OK ? SPRIG_RT_INTERNAL : code,
                        concat("rank ", group->group->rank(), ": ", text ? text : "failed")});
    return {};
  }));
}

static_assert(int(comm::Reduction::sum) == SPRIG_RT_SUM && int(comm::Reduction::mean) == SPRIG_RT_MEAN &&
              int(comm::Reduction::product) == SPRIG_RT_PRODUCT && int(comm::Reduction::min) == SPRIG_RT_MIN &&
              int(comm::Reduction::max) == SPRIG_RT_MAX);

namespace {

// A collective between runs, in place.
Status runBetween(sprig_rt_group *group, const comm::GroupCall &call, void *elements, uint64_t count,
                  const char *name) {
  SPRIG_RETURN_IF_ERROR(requireHandle(group, "group"));
  if (count) SPRIG_RETURN_IF_ERROR(requireHandle(elements, "elements"));
  if (uint32_t(call.dtype) > SPRIG_RT_I1)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("no element type ", int(call.dtype))};
  if (uint32_t(call.reduction) > SPRIG_RT_MAX)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("no reduction ", int(call.reduction))};
  if (count > uint64_t(std::numeric_limits<int64_t>::max()) / 16)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("there is no memory of ", count, " elements")};
  comm::GroupTensor tensor{{elements, int64_t(count)}};
  if (collective::formOf(call.kind) == collective::Form::fromPart) {
    int64_t begin =
        collective::pieceOf(int64_t(count), uint32_t(group->group->ranks()), uint32_t(group->group->rank())).begin;
    tensor.other.data = static_cast<char *>(elements) + begin * int64_t(dtypeSize(call.dtype));
  }
  return group->group->run(call, {&tensor, 1}, name ? std::string_view(name) : nameOf(call.kind));
}

} // namespace

sprig_rt_status *sprig_rt_group_all_reduce(sprig_rt_group *group, sprig_rt_dtype dtype, sprig_rt_reduction reduction,
                                           void *elements, uint64_t count, const char *name) {
  return guarded([&] {
    return runBetween(group, {collective::Kind::allReduce, dtype, comm::Reduction(reduction)}, elements, count, name);
  });
}

sprig_rt_status *sprig_rt_group_all_gather(sprig_rt_group *group, sprig_rt_dtype dtype, void *elements, uint64_t count,
                                           const char *name) {
  return guarded([&] { return runBetween(group, {collective::Kind::allGather, dtype}, elements, count, name); });
}

int32_t sprig_rt_group_has_core_beside(const sprig_rt_group *group, uint32_t threads) {
  return group && group->group->hasCoreBeside(threads);
}

sprig_rt_status *sprig_rt_group_get_times(const sprig_rt_group *group, sprig_rt_group_times *times) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(group, "group"));
    SPRIG_RETURN_IF_ERROR(requireHandle(times, "place for the times"));
    comm::RankGroup::Times counted = group->group->times();
    sprig_rt_group_times found = {times->size, counted.collectives, counted.nanoseconds, counted.exposedNanoseconds};
    if (found.size == 0 || found.size > 4096)
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected a size of ", sizeof found, ", got ", found.size)};
    std::memcpy(times, &found, std::min(found.size, sizeof found));
    return {};
  });
}

void sprig_rt_group_release(sprig_rt_group *group) { delete group; }

sprig_rt_status *sprig_rt_context_set_group(sprig_rt_context *context, sprig_rt_group *group) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    context->queue.waitIdle();
    return context->context->setGroup(group ? group->group : nullptr);
  });
}
