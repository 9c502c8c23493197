#include "lib/Import/ONNX/Window.h"
#include "lib/Import/ONNX/Tensor.h"

namespace sprig::onnximport {

Ints Window::padding() const {
  Ints both(low);
  both.append(high.begin(), high.end());
  return both;
}

/// Sizes above this are no window of any image, and products of two stay far from overflow.
static constexpr int64_t kLargest = int64_t(1) << 30;

static Ints listAttr(Node &n, const char *name, size_t count, int64_t fill, int64_t least) {
  Ints list = n.intsAttr(name).value_or(Ints(count, fill));
  if (list.empty() && count > 0) list.assign(count, fill);
  n.require(list.size() == count, std::string("has ") + std::to_string(list.size()) + " values in '" + name +
                                      "'; expected " + std::to_string(count));
  for (int64_t value : list)
    n.require(value >= least && value <= kLargest, std::string("has ") + std::to_string(value) + " in '" + name +
                                                       "'; expected " + std::to_string(least) + " to " +
                                                       std::to_string(kLargest));
  return list;
}

Window readWindow(Node &n, IntsRef spatial, std::optional<Ints> size) {
  size_t count = spatial.size();
  Window w;
  std::optional<Ints> given = n.intsAttr("kernel_shape");
  if (size && given && !given->empty())
    n.require(*given == *size, "has kernel_shape " + shapeText(*given) + ", but a filter of " + shapeText(*size));
  w.size = size ? *size : listAttr(n, "kernel_shape", count, 0, 1);
  for (size_t i = 0; i < count; ++i)
    n.require(w.size[i] >= 1 && w.size[i] <= kLargest, "has a window of shape " + shapeText(w.size));
  w.strides = listAttr(n, "strides", count, 1, 1);
  w.dilations = listAttr(n, "dilations", count, 1, 1);
  std::string autoPad = n.stringAttr("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  n.require(same || autoPad == "NOTSET" || autoPad == "VALID" || autoPad.empty(),
            "has auto_pad '" + autoPad + "'; known are NOTSET, VALID, SAME_UPPER and SAME_LOWER");
  Ints pads(2 * count, 0);
  if (!same && autoPad != "VALID") pads = listAttr(n, "pads", 2 * count, 0, 0);
  w.low.assign(pads.begin(), pads.begin() + count);
  w.high.assign(pads.begin() + count, pads.end());
  for (size_t i = 0; i < count && same; ++i) {
    int64_t out = (spatial[i] + w.strides[i] - 1) / w.strides[i];
    int64_t total = std::max<int64_t>((out - 1) * w.strides[i] + w.extent(i) - spatial[i], 0);
    w.low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.high[i] = total - w.low[i];
  }
  return w;
}

} // namespace sprig::onnximport
