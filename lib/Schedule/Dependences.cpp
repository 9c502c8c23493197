#include "lib/Schedule/Order.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace sprig;
namespace order = sprig::rt::order;

SmallVector<SmallVector<unsigned>> sprig::dependences(const order::Schedule &schedule, ArrayRef<uint32_t> order) {
  struct Use {
    unsigned command;
    order::Region region;
  };
  struct Uses {
    SmallVector<Use> all, writes; // what is only read, as constants are, is looked at by writes alone
  };
  SmallVector<SmallVector<unsigned>> before(order.size());
  DenseMap<uint32_t, Uses> uses; // by space
  for (auto [place, command] : enumerate(order)) {
    unsigned index = place;
    const order::Command &work = schedule.commands[command];
    for (const order::Access &access : ArrayRef(schedule.accesses).slice(work.firstAccess, work.accessCount)) {
      const order::Region &region = schedule.regions[access.region];
      Uses &earlier = uses[region.space];
      for (const Use &use : access.writes ? earlier.all : earlier.writes)
        if (use.command != index && use.region.begin < region.end && region.begin < use.region.end &&
            !is_contained(before[index], use.command))
          before[index].push_back(use.command);
      // Who waits for this write waits for all before it on the same bytes.
      if (access.writes)
        for (SmallVector<Use> *list : {&earlier.all, &earlier.writes})
          erase_if(*list, [&](const Use &use) {
            return use.command != index && region.begin <= use.region.begin && use.region.end <= region.end;
          });
      earlier.all.push_back({index, region});
      if (access.writes) earlier.writes.push_back({index, region});
    }
  }
  return before;
}
