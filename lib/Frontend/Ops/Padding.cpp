// Elements around a tensor.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/shape_ops.h"
#include <algorithm>

namespace sprig {

using frontend::Emitter;

Tensor pad(const Operand &x, const std::vector<int64_t> &amounts, Padding mode, double value) {
  Emitter r("pad", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType type = operand.type(r.at);
  int rank = type.shape.rank();
  if (amounts.size() % 2 || int(amounts.size() / 2) > rank)
    r.fail("has " + std::to_string(amounts.size()) + " amounts for " + describe(type) +
           "; there are two for each padded axis, from the last one on");
  Shape low = type.shape, high = type.shape;
  for (int i = 0; i < rank; ++i) low[i] = high[i] = 0;
  bool pads = false, cuts = false;
  for (size_t i = 0; i < amounts.size(); ++i) {
    int axis = rank - 1 - int(i / 2);
    int64_t amount = amounts[i];
    if (amount > int64_t(1) << 30 || amount < -(int64_t(1) << 30))
      r.fail("pads axis " + std::to_string(axis) + " of " + describe(type) + " by " + std::to_string(amount));
    (i % 2 ? high : low)[axis] = amount;
    pads |= amount > 0;
    cuts |= amount < 0;
  }
  if (cuts && mode != Padding::constant) r.fail("has a negative amount, which only mode constant takes");
  for (int i = 0; i < rank; ++i) {
    int64_t size = type.shape[i], most = std::max(low[i], high[i]);
    // What a mode needs to take the padding from; a reflection does not repeat the edge.
    int64_t needed = mode == Padding::constant || most == 0 ? 0
                     : mode == Padding::reflect             ? most + 1
                     : mode == Padding::circular            ? most
                                                            : 1;
    if (needed > size)
      r.fail("pads axis " + std::to_string(i) + " of " + describe(type) + " by " + std::to_string(most) +
             ", which takes " + std::to_string(needed) + " elements in this mode");
    int64_t cut = std::max<int64_t>(-low[i], 0) + std::max<int64_t>(-high[i], 0);
    if (cut > size) r.fail("cuts " + std::to_string(cut) + " off axis " + std::to_string(i) + " of " + describe(type));
    if (low[i] < 0 || high[i] < 0) {
      operand = r.part(operand, i, size == cut ? 0 : std::max<int64_t>(-low[i], 0), size - cut);
      low[i] = std::max<int64_t>(low[i], 0);
      high[i] = std::max<int64_t>(high[i], 0);
    }
  }
  if (!pads) return operand;
  static constexpr const char *kWords[] = {"pad_mode constant", "pad_mode reflect", "pad_mode edge", "pad_mode wrap"};
  return r.pad(kWords[int(mode)], operand, value, low, high);
}

} // namespace sprig
