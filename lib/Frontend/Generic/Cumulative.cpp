// nn.cumulative: one chain along the axis; half types are rounded where they are stored, not in the chain.
#include "lib/Frontend/Generic/Axis.h"
#include "lib/Frontend/Generic/Scratch.h"
#include "lib/Frontend/Generic/Types.h"

namespace sprig::frontend::generic {

namespace {
template <typename T, typename Step> void accumulate(const Call &call, T start, Step step) {
  AxisView view(call.shape(), int(call.integer("axis")));
  bool reverse = call.has("reverse"), exclusive = call.has("exclusive");
  const T *from = reinterpret_cast<const T *>(call.in());
  T *to = reinterpret_cast<T *>(call.out());
  view.forLines([&](int64_t base) {
    T sum = start;
    for (int64_t i = 0; i < view.length; ++i) {
      int64_t place = base + (reverse ? view.length - 1 - i : i) * view.inner;
      T next = step(sum, from[place]);
      to[place] = exclusive ? sum : next;
      sum = next;
    }
  });
}
} // namespace

bool runCumulative(const Call &call, int) {
  std::string_view kind = call.word("kind");
  if (kind != "sum" && kind != "prod") return false;
  if (isHalf(call.type().dtype)) return throughF32(call, [](const Call &wide) { return runCumulative(wide, 0); });
  return withNumber(call.type().dtype, [&](auto number) {
    using T = decltype(number);
    if (kind == "sum")
      accumulate<T>(call, 0, plus<T>);
    else
      accumulate<T>(call, 1, times<T>);
  });
}

} // namespace sprig::frontend::generic
