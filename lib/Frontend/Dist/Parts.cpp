// Parts of a group: some of its ranks as a group of their own.
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Engine/Trace.h"
#include "lib/Frontend/Record.h"
#include "sprig/create.h"
#include <algorithm>

namespace sprig::dist {

Group Group::split(int color, int key, Source at) {
  Impl &whole = own("split", at);
  if (frontend::Trace::current()) frontend::fail(at, "split", "is in a function that is being compiled: split before");
  Tensor all = allGather(Tensor(std::vector<int32_t>{color, key}), {}, at);
  const auto *said = all.data<int32_t>(at);
  std::vector<int> members;
  for (int rank = 0; rank < size(); ++rank)
    if (said[2 * rank] == color) members.push_back(rank);
  std::stable_sort(members.begin(), members.end(), [&](int a, int b) { return said[2 * a + 1] < said[2 * b + 1]; });
  uint64_t number = whole.number * 0x94d049bb133111eb + ++whole.splits; // as all ranks count it
  if (color < 0) return Group(nullptr);
  number = number * 0xbf58476d1ce4e5b9 + uint64_t(color) + 1;
  auto part =
      std::make_shared<Impl>(rt::comm::RankGroup::part(whole.end->group, std::move(members), number), whole.end->order);
  part->number = number;
  return Group(std::move(part));
}

Group Group::sub(const std::vector<int> &ranks, Source at) {
  own("sub", at);
  if (ranks.empty()) frontend::fail(at, "sub", "expected ranks, found none");
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= size())
      frontend::fail(at, "sub",
                     "expected ranks below " + std::to_string(size()) + ", found " + std::to_string(ranks[i]));
    if (std::find(ranks.begin(), ranks.begin() + int64_t(i), ranks[i]) != ranks.begin() + int64_t(i))
      frontend::fail(at, "sub", "rank " + std::to_string(ranks[i]) + " is there twice");
  }
  auto place = std::find(ranks.begin(), ranks.end(), rank());
  return split(place == ranks.end() ? -1 : 0, int(place - ranks.begin()), at);
}

} // namespace sprig::dist
