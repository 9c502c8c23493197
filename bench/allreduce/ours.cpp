// All-reduces of Sprig's runtime between processes, as its C interface has them: by what SPRIG_TRANSPORT says.
#include "Timing.h"
#include <cstdlib>
#include <sprig/rt/sprig_rt.h>

static void check(sprig_rt_status *status) {
  if (!status) return;
  std::fprintf(stderr, "ours: %s\n", sprig_rt_status_message(status));
  std::exit(1);
}

int main() {
  sprig_rt_group *group = nullptr;
  check(sprig_rt_group_join(nullptr, &group));
  timeSums(
      int(sprig_rt_group_rank(group)),
      [&](float *numbers, size_t count) {
        check(sprig_rt_group_all_reduce(group, SPRIG_RT_F32, SPRIG_RT_SUM, numbers, count, "numbers"));
      },
      [&] {
        float none = 0;
        check(sprig_rt_group_all_reduce(group, SPRIG_RT_F32, SPRIG_RT_SUM, &none, 1, "meet"));
      });
  sprig_rt_group_release(group);
}
