// Sampling of images at computed positions, as plain operations of whoever makes them.
// For the front-end and the importer of ONNX models. `Maker` has a type Value and the operations that are called below;
// it makes them, each in its own way.
#pragma once
#include <cstdint>
#include <vector>

namespace sprig::graph {

enum class GridMode : uint8_t { linear, nearest, cubic };
enum class GridPadding : uint8_t {
  zeros,
  border,    ///< the nearest element of the image
  reflection ///< as between two mirrors
};

/// Interpolates images between the elements that surround each position.
template <typename Maker> class GridSampler {
public:
  using Value = typename Maker::Value;

  /// `aligned`: -1 and 1 are the centres of the first and the last element, not their outer edges.
  GridSampler(Maker &m, GridMode mode, GridPadding padding, bool aligned)
      : m(m), mode(mode), padding(padding), aligned(aligned) {}

  /// `image` [batch, channels, pixels] of the spatial `sizes`, `positions` [batch, points, axes], whose last axis
  /// counts from the innermost axis of the image: [batch, channels, points].
  Value run(Value image, Value positions, int64_t batch, int64_t channels, int64_t points,
            const std::vector<int64_t> &sizes) {
    std::vector<std::vector<Tap>> taps;
    int64_t axes = int64_t(sizes.size());
    for (int64_t d = 0; d < axes; ++d)
      taps.push_back(tapsOf(m.reshape(m.sliceAxis(positions, 2, axes - 1 - d, 1), {batch, points}), sizes[size_t(d)]));
    Gathering g{image, batch, channels, points, sizes, {}, false};
    gather(g, taps, 0, nullptr);
    return g.sum;
  }

private:
  /// An element that contributes to a sample: its index along one axis and its weight, both [batch, points].
  struct Tap {
    Value index, weight;
  };
  struct Gathering {
    Value image;
    int64_t batch, channels, points;
    const std::vector<int64_t> &sizes;
    Value sum;
    bool hasSum;
  };

  /// Folds positions back into [low, high], as between two mirrors.
  Value reflect(Value x, double low, double high) {
    if (high <= low) return m.mul(x, 0);
    double span = high - low;
    Value away = m.abs(m.add(x, -low));
    Value turns = m.floor(m.mul(away, 1 / span));
    Value rest = m.sub(away, m.mul(turns, span));
    Value odd = m.sub(turns, m.mul(m.floor(m.mul(turns, 0.5)), 2));
    return m.select(m.isAbove(odd, 0.5), m.sub(high, rest), m.add(rest, low));
  }

  /// In range, or moved there by the padding; taps in zero padding lose their weight.
  Tap tap(Value at, Value weight, int64_t size) {
    double last = double(size - 1);
    if (padding == GridPadding::zeros)
      weight = m.zeroOutside(weight, at, 0, last);
    else if (padding == GridPadding::reflection)
      at = aligned ? reflect(at, 0, last) : reflect(at, -0.5, last + 0.5);
    return {m.toIndex(m.clamp(at, 0, last)), weight};
  }

  std::vector<Tap> tapsOf(Value g, int64_t size) {
    Value x =
        aligned ? m.mul(m.add(g, 1), double(size - 1) / 2) : m.mul(m.add(m.mul(m.add(g, 1), double(size)), -1), 0.5);
    double last = double(size - 1);
    if (mode != GridMode::cubic && padding == GridPadding::border) x = m.clamp(x, 0, last);
    if (mode != GridMode::cubic && padding == GridPadding::reflection)
      x = m.clamp(aligned ? reflect(x, 0, last) : reflect(x, -0.5, last + 0.5), 0, last);
    if (mode == GridMode::nearest) return {tap(m.round(x), m.add(m.mul(x, 0), 1), size)};
    Value floor = m.floor(x), t = m.sub(x, floor);
    if (mode == GridMode::linear) return {tap(floor, m.sub(1, t), size), tap(m.add(floor, 1), t, size)};
    std::vector<Tap> taps;
    for (int k = -1; k <= 2; ++k)
      taps.push_back(tap(m.add(floor, k), cubic(m.abs(m.add(t, -k)), k == 0 || k == 1), size));
    return taps;
  }

  /// The convolution kernel with a = -3/4 at a distance (Keys, IEEE ASSP 29, 1981).
  Value cubic(Value d, bool isNear) {
    constexpr double a = -0.75;
    if (isNear) return m.add(m.mul(m.mul(m.add(m.mul(d, a + 2), -(a + 3)), d), d), 1);
    return m.add(m.mul(m.add(m.mul(m.add(m.mul(d, a), -5 * a), d), 8 * a), d), -4 * a);
  }

  /// Adds up all combinations of taps over the axes from `d` on; `outer` is the combination so far.
  void gather(Gathering &g, const std::vector<std::vector<Tap>> &taps, size_t d, const Tap *outer) {
    if (d == taps.size()) {
      Value at = m.broadcast(m.reshape(outer->index, {g.batch, 1, g.points}), {g.batch, g.channels, g.points});
      Value part = m.mul(m.gatherElements(g.image, at, 2), m.reshape(outer->weight, {g.batch, 1, g.points}));
      g.sum = g.hasSum ? m.add(g.sum, part) : part;
      g.hasSum = true;
      return;
    }
    for (const Tap &each : taps[d]) {
      Tap both = each;
      if (outer) both = {m.add(m.mul(outer->index, double(g.sizes[d])), each.index), m.mul(outer->weight, each.weight)};
      gather(g, taps, d + 1, &both);
    }
  }

  Maker &m;
  const GridMode mode;
  const GridPadding padding;
  const bool aligned;
};

} // namespace sprig::graph
