// The C ABI's functions of ranks.
#include "runtime/api/Handles.h"
#include "runtime/api/Options.h"

using namespace sprig::rt;
using namespace sprig::rt::core;

constexpr uint32_t kMostThreadRanks = 256;

sprig_rt_status *sprig_rt_groups_create(uint32_t ranks, const sprig_rt_group_options *given, sprig_rt_group **groups) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(groups, "place for the groups"));
    sprig_rt_group_options read;
    SPRIG_RETURN_IF_ERROR(readOptions(given, read));
    if (ranks < 1 || ranks > kMostThreadRanks)
      return {SPRIG_RT_INVALID_ARGUMENT, concat("expected 1 to ", kMostThreadRanks, " ranks, got ", ranks)};
    comm::ThreadRanksOptions options;
    options.ranks = int(ranks);
    if (read.timeout_ms) options.timeout = std::chrono::milliseconds(std::max<int64_t>(read.timeout_ms, 0));
    if (read.spin_us) options.spinMicroseconds = std::max(read.spin_us, 0);
    std::vector<std::shared_ptr<comm::RankGroup>> made = comm::RankGroup::ofThreads(options);
    std::vector<std::unique_ptr<sprig_rt_group>> handles;
    for (auto &group : made) handles.emplace_back(new sprig_rt_group{std::move(group)});
    for (size_t i = 0; i < handles.size(); ++i) groups[i] = handles[i].release();
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

void sprig_rt_group_release(sprig_rt_group *group) { delete group; }

sprig_rt_status *sprig_rt_context_set_group(sprig_rt_context *context, sprig_rt_group *group) {
  return guarded([&]() -> Status {
    SPRIG_RETURN_IF_ERROR(requireHandle(context, "context"));
    context->queue.waitIdle();
    return context->context->setGroup(group ? group->group : nullptr);
  });
}
