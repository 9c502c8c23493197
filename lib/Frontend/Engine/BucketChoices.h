// How the sums over ranks of a compiled function go together: what is given, or what the first rank expects to be
// hidden best, which all take. For compiled functions: of one rank and one function, whose calls all ranks make in the
// same order.
#pragma once
#include "lib/Frontend/Engine/Variant.h"

namespace sprig::frontend {

class BucketChoices {
public:
  /// Of calls of a variant, so many together. `bytes`: most that go together; 0: to be chosen, at the first call of a
  /// kind on each group, where all ranks meet for it. The turn of calls that go together is always.
  RankBuckets of(const Variant &variant, int64_t bytes, int64_t times);
  /// What the newest choice was; 0: there was none yet.
  int64_t bytes() const { return newest; }

private:
  RankBuckets choose(const Variant &variant, int64_t bytes, int64_t times) const;

  /// By the calls that go together, of each group: one that some of its ranks alone call meanwhile changes nothing of
  /// the others'.
  std::map<std::weak_ptr<RankEnd>, std::map<int64_t, RankBuckets>, std::owner_less<>> groups;
  int64_t newest = 0;
};

} // namespace sprig::frontend
