#include "lib/Target/Package/ScaledForm.h"
#include "runtime/format/Types.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace sprig;
using namespace sprig::rt::format;

namespace {

/// Elements where the model has them, aligned or not.
template <typename T> struct Elements32 {
  const char *first;
  T operator[](uint64_t i) const {
    T value;
    std::memcpy(&value, first + 4 * i, 4);
    return value;
  }
};

/// What an element of a channel is: (lowest + byte) * scale.
struct Channel {
  float scale = 0;
  int16_t lowest = 0;
};

/// The elements of a channel, one after the other.
using Elements = std::vector<float>;

/// Whether each element is a whole number times the scale, to the bit, and those numbers are 256 or fewer in a row.
std::optional<Channel> channelOf(const Elements &elements, float scale) {
  int low = 0, high = 0;
  for (float element : elements) {
    float number = std::nearbyint(element / scale);
    if (!(std::fabs(number) < 1024) ||
        std::bit_cast<uint32_t>(number * scale + 0.0f) != std::bit_cast<uint32_t>(element))
      return std::nullopt;
    low = std::min(low, int(number));
    high = std::max(high, int(number));
  }
  if (high - low > 255) return std::nullopt;
  return Channel{scale, int16_t(low)};
}

/// The largest element is some whole number times the scale, which decides it but for its last bits.
std::optional<Channel> channelOf(const Elements &elements) {
  float largest = 0;
  for (float element : elements) largest = std::max(largest, std::fabs(element));
  if (largest == 0) return channelOf(elements, 1);
  if (!std::isfinite(largest)) return std::nullopt;
  for (int number = 1; number <= 255; ++number) {
    float about = largest / float(number);
    // Far from whole: neither is any neighbour.
    bool isNear = std::all_of(elements.begin(), elements.end(), [&](float element) {
      double times = double(element) / about;
      return std::fabs(times - std::nearbyint(times)) < 1e-3;
    });
    if (!isNear) continue;
    for (int step : {0, 1, -1, 2, -2}) {
      float scale = std::bit_cast<float>(std::bit_cast<uint32_t>(about) + uint32_t(step));
      if (scale > 0 && std::isfinite(scale))
        if (auto channel = channelOf(elements, scale)) return channel;
    }
  }
  return std::nullopt;
}

/// One way to number channels: by the given dimensions.
class Channels {
public:
  Channels(ArrayRef<int64_t> shape, ArrayRef<unsigned> dims) : strides(shape.size(), 0) {
    for (unsigned dim : llvm::reverse(dims)) {
      strides[dim] = uint64_t(count);
      count *= shape[dim];
    }
    for (int64_t size : shape) sizes.push_back(uint64_t(size));
  }

  template <typename Each> void forEach(Each each) const {
    std::vector<uint64_t> index(sizes.size(), 0);
    uint64_t channel = 0, elements = 1;
    for (uint64_t size : sizes) elements *= size;
    for (uint64_t i = 0; i < elements; ++i) {
      if (!each(i, channel)) return;
      for (size_t d = sizes.size(); d-- > 0;) {
        channel += strides[d];
        if (++index[d] < sizes[d]) break;
        channel -= sizes[d] * strides[d];
        index[d] = 0;
      }
    }
  }

  int64_t count = 1;
  std::vector<uint64_t> sizes, strides;
};

std::optional<std::vector<Channel>> findChannels(const Channels &channels, Elements32<float> values) {
  std::vector<Elements> of(size_t(channels.count));
  // One channel tells of most tensors that they are none of these.
  channels.forEach([&](uint64_t i, uint64_t channel) {
    if (channel == 0) of[0].push_back(values[i]);
    return of[0].size() < 512;
  });
  Elements some(of[0].begin(), of[0].begin() + ptrdiff_t(std::min<size_t>(of[0].size(), 512)));
  if (!channelOf(some)) return std::nullopt;
  of[0].clear();
  channels.forEach([&](uint64_t i, uint64_t channel) { return of[channel].push_back(values[i]), true; });
  std::vector<Channel> found;
  for (const Elements &each : of) {
    auto channel = channelOf(each);
    if (!channel) return std::nullopt;
    found.push_back(*channel);
  }
  return found;
}

/// Whole numbers, which have no scale.
std::optional<std::vector<Channel>> findLowest(Elements32<int32_t> values, uint64_t elements) {
  int32_t low = values[0], high = values[0];
  for (uint64_t i = 0; i < elements; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    if (low < -1024 || high > 1024 || high - low > 255) return std::nullopt;
  }
  return std::vector<Channel>{{1, int16_t(low)}};
}

/// The dimensions that scales may differ along: of a tensor as models have it, and in panels.
SmallVector<SmallVector<unsigned>> numberings(unsigned rank) {
  SmallVector<SmallVector<unsigned>> all{{}};
  auto add = [&](SmallVector<unsigned> dims) {
    if (dims.back() < rank && !llvm::is_contained(all, dims)) all.push_back(dims);
  };
  if (rank == 0) return all;
  add({rank - 1});
  add({0});
  if (rank > 1) add({0, rank - 1});
  if (rank > 1) add({1});
  if (rank > 2) add({0, 1});
  if (rank > 2) add({0, 1, rank - 1});
  return all;
}

} // namespace

std::optional<std::pair<Expansion, std::vector<char>>> sprig::scaledForm(RankedTensorType type, ArrayRef<char> bytes) {
  bool isFloat = type.getElementType().isF32();
  if ((!isFloat && !type.getElementType().isInteger(32)) || type.getElementType().isUnsignedInteger() ||
      type.getRank() == 0)
    return std::nullopt;
  uint64_t elements = uint64_t(type.getNumElements());
  Elements32<float> reals{bytes.data()};
  Elements32<int32_t> wholes{bytes.data()};
  for (ArrayRef<unsigned> dims : numberings(unsigned(type.getRank()))) {
    Channels channels(type.getShape(), dims);
    if (uint64_t(channels.count) * 6 > elements / 2) continue;
    if (!isFloat && !dims.empty()) break;
    auto found = isFloat ? findChannels(channels, reals) : findLowest(wholes, elements);
    if (!found) continue;
    Expansion e;
    e.form = ExpansionForm::Scaled;
    e.dtype = isFloat ? SPRIG_RT_F32 : SPRIG_RT_I32;
    e.shape = channels.sizes;
    e.strides = channels.strides;
    ScaledLayout layout = scaledLayout(e);
    e.size = layout.size;
    std::vector<char> from(layout.size, 0);
    channels.forEach([&](uint64_t i, uint64_t channel) {
      const Channel &of = (*found)[channel];
      int number = isFloat ? int(std::nearbyint(reals[i] / of.scale)) : wholes[i];
      from[i] = char(number - of.lowest);
      return true;
    });
    for (auto [i, channel] : llvm::enumerate(*found)) {
      if (isFloat) std::memcpy(from.data() + layout.scales + 4 * i, &channel.scale, 4);
      std::memcpy(from.data() + layout.lowest + 2 * i, &channel.lowest, 2);
    }
    return std::pair(std::move(e), std::move(from));
  }
  return std::nullopt;
}
