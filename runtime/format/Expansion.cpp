#include "runtime/format/Expansion.h"

#include "runtime/base/Text.h"
#include "runtime/format/Compression.h"
#include "runtime/format/ShortFilter.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sprig::rt::format {

using core::concat;

namespace {

constexpr uint64_t kMost = uint64_t(1) << 48;

// The product, or nothing where it is zero or no memory holds it.
bool multiplied(std::span<const uint64_t> factors, uint64_t &product) {
  product = 1;
  for (uint64_t factor : factors) {
    if (factor == 0 || factor > kMost / product) return false;
    product *= factor;
  }
  return true;
}

uint64_t roundedUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

std::string checkScaled(const Expansion &e, uint64_t bytes) {
  uint64_t elements = 0, last = 0;
  if (e.dtype != SPRIG_RT_F32 && e.dtype != SPRIG_RT_I32) return concat("scales to element type ", int(e.dtype));
  if (e.shape.empty() || e.shape.size() > 64 || e.strides.size() != e.shape.size() || !multiplied(e.shape, elements) ||
      elements * 4 != bytes)
    return concat("scales a tensor of other than ", bytes, " bytes");
  for (size_t i = 0; i < e.shape.size(); ++i) {
    if (e.shape[i] > 1 && e.strides[i] > (elements - 1 - last) / (e.shape[i] - 1))
      return concat("has more channels than ", elements, " elements");
    last += (e.shape[i] - 1) * e.strides[i];
  }
  if (uint64_t size = scaledLayout(e).size; size != e.size)
    return concat("expected ", size, " bytes to scale, found ", e.size);
  return {};
}

std::string checkFilter(const Expansion &e, uint64_t bytes) {
  if (e.shape.size() != 7) return concat("expected 7 sizes of a filter, found ", e.shape.size());
  std::span<const uint64_t> shape = e.shape;
  uint64_t taps = 0, panels[5] = {(shape[0] + shape[6] - 1) / std::max<uint64_t>(shape[6], 1), shape[4], shape[5],
                                  shape[1], shape[6]};
  uint64_t made = 0;
  for (uint64_t side : {shape[2], shape[3], shape[4], shape[5], shape[6]})
    if (side == 0 || side > 64) return concat("has a filter with a side of ", side);
  if (shape[0] > kMost || !multiplied(shape.first(4), taps) || taps * 4 != e.size)
    return concat("expected ", taps * 4, " bytes of a filter, found ", e.size);
  if (!multiplied(panels, made) || made * 4 != bytes)
    return concat("expected ", made * 4, " bytes of a filter in frequencies, found ", bytes);
  if (e.down.size() != shape[4] * shape[2] || e.across.size() != shape[5] * shape[3])
    return concat("has matrices of ", e.down.size(), " and ", e.across.size(), " numbers");
  return {};
}

// Calls each(first, channel) for every run along the last dimension.
template <typename Each> void forRows(const Expansion &e, uint64_t elements, Each each) {
  uint64_t row = e.shape.back(), channel = 0;
  std::vector<uint64_t> index(e.shape.size(), 0);
  for (uint64_t first = 0; first < elements; first += row) {
    each(first, channel);
    for (size_t d = e.shape.size() - 1; d-- > 0;) {
      channel += e.strides[d];
      if (++index[d] < e.shape[d]) break;
      channel -= e.shape[d] * e.strides[d];
      index[d] = 0;
    }
  }
}

void scale(const Expansion &e, const uint8_t *from, uint8_t *to) {
  ScaledLayout layout = scaledLayout(e);
  std::vector<int32_t> lowest(layout.channels);
  std::vector<float> scales(e.dtype == SPRIG_RT_F32 ? layout.channels : 0);
  for (uint64_t i = 0; i < layout.channels; ++i) {
    int16_t value;
    std::memcpy(&value, from + layout.lowest + 2 * i, 2);
    lowest[i] = value;
  }
  if (!scales.empty()) std::memcpy(scales.data(), from + layout.scales, 4 * scales.size());
  uint64_t step = e.strides.back();
  forRows(e, layout.elements, [&](uint64_t first, uint64_t channel) {
    uint8_t *row = to + 4 * first;
    for (uint64_t i = 0; i < e.shape.back(); ++i, channel += step) {
      int32_t whole = lowest[channel] + from[first + i];
      float scaled = scales.empty() ? 0 : float(whole) * scales[channel];
      std::memcpy(row + 4 * i, scales.empty() ? static_cast<const void *>(&whole) : &scaled, 4);
    }
  });
}

template <typename Integer> void sum(std::span<uint8_t> bytes) {
  Integer before = 0;
  for (size_t i = 0; i + sizeof(Integer) <= bytes.size(); i += sizeof(Integer)) {
    Integer value;
    std::memcpy(&value, bytes.data() + i, sizeof value);
    before = Integer(before + value);
    std::memcpy(bytes.data() + i, &before, sizeof value);
  }
}

void sumUp(unsigned width, std::span<uint8_t> bytes) {
  switch (width) {
  case 1: return sum<uint8_t>(bytes);
  case 2: return sum<uint16_t>(bytes);
  case 4: return sum<uint32_t>(bytes);
  default: return sum<uint64_t>(bytes);
  }
}

bool decompressElements(const Expansion &e, std::span<const uint8_t> from, std::span<uint8_t> to) {
  if (e.arrangement != Arrangement::SignsApart) {
    if (!decompress(from, e.width, to)) return false;
    if (e.arrangement == Arrangement::Differences) sumUp(e.width, to);
    return true;
  }
  std::vector<uint8_t> apart(arrangedBytes(e, to.size()));
  if (!decompress(from, e.width, apart)) return false;
  std::memcpy(to.data(), apart.data(), to.size());
  const uint8_t *signs = apart.data() + to.size();
  for (size_t i = 0; i < to.size() / e.width; ++i)
    to[(i + 1) * e.width - 1] |= uint8_t((signs[i / 8] >> (i % 8) & 1) << 7);
  return true;
}

} // namespace

uint64_t arrangedBytes(const Expansion &e, uint64_t bytes) {
  return e.arrangement == Arrangement::SignsApart ? bytes + (bytes / e.width + 7) / 8 : bytes;
}

ScaledLayout scaledLayout(const Expansion &e) {
  ScaledLayout layout;
  layout.elements = 1, layout.channels = 1;
  for (size_t i = 0; i < e.shape.size(); ++i) {
    layout.elements *= e.shape[i];
    layout.channels += (e.shape[i] - 1) * e.strides[i];
  }
  layout.scales = roundedUp(layout.elements, 4);
  layout.lowest = layout.scales + (e.dtype == SPRIG_RT_F32 ? 4 * layout.channels : 0);
  layout.size = layout.lowest + 2 * layout.channels;
  return layout;
}

std::string checkExpansion(const Expansion &e, uint64_t bytes) {
  switch (e.form) {
  case ExpansionForm::Compressed:
    if (e.width > 8 || !std::has_single_bit(unsigned(e.width)) || bytes % e.width)
      return concat("compresses ", bytes, " bytes as elements of ", int(e.width));
    if (e.arrangement > Arrangement::SignsApart)
      return concat("has elements in arrangement ", int(e.arrangement), ", which this runtime does not know");
    return {};
  case ExpansionForm::Scaled: return checkScaled(e, bytes);
  case ExpansionForm::Filter: return checkFilter(e, bytes);
  }
  return concat("is made in form ", int(e.form), ", which this runtime does not know");
}

bool expand(const Expansion &e, std::span<const uint8_t> from, std::span<uint8_t> to) {
  switch (e.form) {
  case ExpansionForm::Compressed: return decompressElements(e, from, to);
  case ExpansionForm::Scaled: scale(e, from.data(), to.data()); return true;
  case ExpansionForm::Filter:
    transformFilter(
        {e.shape[0], e.shape[1], e.shape[2], e.shape[3], e.shape[4], e.shape[5], e.shape[6], e.down, e.across},
        reinterpret_cast<const float *>(from.data()), reinterpret_cast<float *>(to.data()));
    return true;
  }
  return false;
}

} // namespace sprig::rt::format
