// Signal processing: Fourier transforms as products with constant matrices, windows and filter banks as constants.
#include "lib/Import/ONNX/Table.h"
#include "runtime/base/Decimal.h"
#include <cmath>

namespace sprig::onnximport {

namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

/// cos and sin of 2 pi k / n, exact in the index for long signals.
std::pair<double, double> onCircle(int64_t k, int64_t n) {
  double angle = kTwoPi * double(k % n) / double(n);
  return {std::cos(angle), std::sin(angle)};
}

struct Transform {
  int64_t length, bins;    ///< input and output elements
  int64_t inputs, outputs; ///< 1 real, 2 complex
  bool inverse, fromOneSided;
  int64_t period; ///< of the exponentials
};

/// The matrix [length * inputs, bins * outputs] of a transform.
Value matrix(Node &n, const Transform &t, Type type) {
  int64_t rows = t.length * t.inputs, columns = t.bins * t.outputs;
  n.tensor({rows, columns}, type);
  if (rows * columns * 8 > n.state.limits.foldedBytes * 2)
    n.unsupported("transforms " + std::to_string(t.length) + " elements, past the limit of its matrix");
  std::vector<double> values(size_t(rows * columns), 0.0);
  double scale = t.inverse ? 1 / double(t.period) : 1;
  for (int64_t i = 0; i < t.length; ++i) {
    // A one-sided spectrum holds each inner bin for two.
    double weight = t.fromOneSided && i > 0 && 2 * i != t.period ? 2 : 1;
    for (int64_t k = 0; k < t.bins; ++k) {
      auto [cosine, sine] = onCircle(i * k, t.period);
      if (!t.inverse) sine = -sine;
      double *real = &values[size_t(i * t.inputs * columns + k * t.outputs)];
      real[0] = cosine * weight * scale;
      if (t.outputs == 2) real[1] = sine * weight * scale;
      if (t.inputs == 2) {
        real[columns] = -sine * weight * scale;
        if (t.outputs == 2) real[columns + 1] = cosine * weight * scale;
      }
    }
  }
  return n.constant({rows, columns}, type, values);
}

/// [R, length, inputs] to [R, bins, outputs].
Value transformRows(Node &n, Value rows, const Transform &t) {
  int64_t count = Emit::shape(rows)[0];
  Type type = Emit::elem(rows);
  Value flat = n.reshape(rows, {count, t.length * t.inputs});
  return n.reshape(n.matmul(flat, matrix(n, t, type)), {count, t.bins, t.outputs});
}

void dft(Node &n) {
  Value x = n.in(0);
  int64_t rank = Emit::rank(x);
  n.require(rank >= 2, "transforms " + typeText(x) + "; the last dimension holds real and imaginary parts");
  int64_t parts = Emit::shape(x)[rank - 1];
  n.require(parts == 1 || parts == 2, "has " + std::to_string(parts) + " parts in the last dimension of " +
                                          typeText(x) + "; expected 1 (real) or 2 (complex)");
  int64_t axis = n.opset >= 20 ? (n.has(2) ? n.knownInt(2) : -2) : n.intAttr("axis", 1);
  axis = n.axis(axis, rank);
  n.require(axis != rank - 1, "transforms along the last dimension, which holds real and imaginary parts");
  bool inverse = n.intAttr("inverse", 0) != 0, oneSided = n.intAttr("onesided", 0) != 0;
  n.require(!oneSided || inverse || parts == 1, "has a complex input, whose transform is not one-sided");
  int64_t size = Emit::shape(x)[axis];
  bool toReal = inverse && oneSided; // the inverse of a one-sided transform is real
  int64_t period = n.has(1) ? n.knownInt(1) : toReal ? 2 * (size - 1) : size;
  n.require(period > 0 && period <= (int64_t(1) << 24), "has a transform of length " + std::to_string(period));
  int64_t length = toReal ? period / 2 + 1 : period;
  // Cut or padded with zeros to the length.
  if (size > length) x = n.sliceAxis(x, axis, 0, length);
  if (size < length) {
    Ints low(size_t(rank), 0), high(size_t(rank), 0);
    high[axis] = length - size;
    x = n.pad(ir::PadMode::constant, x, n.scalar(0, Emit::elem(x)), low, high);
  }
  Transform t{length, oneSided && !inverse ? period / 2 + 1 : period, parts, toReal ? 1 : 2, inverse, toReal, period};
  Ints there, back(size_t(rank), 0);
  for (int64_t i = 0; i < rank - 1; ++i)
    if (i != axis) there.push_back(i);
  there.append({axis, rank - 1});
  for (int64_t i = 0; i < rank; ++i) back[size_t(there[i])] = i;
  Value moved = n.transpose(x, there);
  Ints shape(Emit::shape(moved));
  int64_t rows = 1;
  for (int64_t i = 0; i < rank - 2; ++i) rows *= shape[i];
  shape[rank - 2] = t.bins;
  shape[rank - 1] = t.outputs;
  n.out(n.transpose(n.reshape(transformRows(n, n.reshape(moved, {rows, length, parts}), t), shape), back));
}

void stft(Node &n) {
  Value x = n.in(0);
  Ints s(Emit::shape(x));
  n.require(s.size() == 2 || (s.size() == 3 && (s[2] == 1 || s[2] == 2)),
            "transforms " + typeText(x) + "; expected batch, time and 1 or 2 parts");
  int64_t parts = s.size() == 3 ? s[2] : 1, hop = n.knownInt(1);
  Value window = n.has(2) ? n.in(2) : Value();
  int64_t length = n.has(3) ? n.knownInt(3) : window ? Emit::count(window) : s[1];
  n.require(hop > 0 && length > 0 && length <= s[1], "takes frames of " + std::to_string(length) + " every " +
                                                         std::to_string(hop) + " of " + std::to_string(s[1]) +
                                                         " elements");
  if (window)
    n.require(Emit::shape(window) == IntsRef{length},
              "has a window " + typeText(window) + " for frames of " + std::to_string(length));
  int64_t frames = (s[1] - length) / hop + 1;
  if (n.tensor({frames, length}, n.i64()).getNumElements() > n.state.limits.foldedBytes / 8)
    n.unsupported("takes " + std::to_string(frames) + " frames of " + std::to_string(length) +
                  " elements, past the limit of its table of indices");
  Ints indices;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < length; ++i) indices.push_back(f * hop + i);
  Value cut = n.gather(n.reshape(x, {s[0], s[1], parts}), n.ints(indices, {frames, length}), 1);
  if (window) cut = n.mul(cut, n.reshape(window, {1, 1, length, 1}));
  bool oneSided = n.intAttr("onesided", 1) != 0 && parts == 1;
  Transform t{length, oneSided ? length / 2 + 1 : length, parts, 2, false, false, length};
  n.out(n.reshape(transformRows(n, n.reshape(cut, {s[0] * frames, length, parts}), t), {s[0], frames, t.bins, 2}));
}

/// a0 - a1 cos(x) + a2 cos(2 x) over one period.
void cosineWindow(Node &n, double a0, double a1, double a2) {
  int64_t size = n.knownInt(0);
  n.require(size >= 0 && size <= n.state.limits.foldedBytes / 8,
            "makes a window of " + std::to_string(size) + " elements");
  int64_t period = n.intAttr("periodic", 1) != 0 ? size : size - 1;
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    double x = period > 0 ? kTwoPi * double(i) / double(period) : 0;
    values.push_back(a0 - a1 * std::cos(x) + a2 * std::cos(2 * x));
  }
  n.out(n.constant({size}, n.typeAttr("output_datatype", n.f32()), values));
}
void hann(Node &n) { cosineWindow(n, 0.5, 0.5, 0); }
void hamming(Node &n) { cosineWindow(n, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Node &n) { cosineWindow(n, 0.42, 0.5, 0.08); }

void melWeights(Node &n) {
  int64_t bands = n.knownInt(0), length = n.knownInt(1), rate = n.knownInt(2);
  double low = n.knownReal(3), high = n.knownReal(4);
  n.require(bands > 0 && bands < (1 << 20) && length > 0 && length < (1 << 24) && rate > 0,
            "makes " + std::to_string(bands) + " bands of transforms of " + std::to_string(length) + " at " +
                std::to_string(rate) + " Hz");
  n.require(low >= 0 && high >= low && high <= double(rate),
            "has bands from " + decimal::shortest(low) + " to " + decimal::shortest(high) +
                " Hz; expected edges between 0 and " + "the sample rate of " + std::to_string(rate));
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double lowMel = toMel(low), step = (toMel(high) - lowMel) / double(bands + 2);
  // Triangles between neighbouring bins, corners rounded down to bins of the spectrum.
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * (std::pow(10, (double(i) * step + lowMel) / 2595) - 1);
    corners.push_back(int64_t(std::floor(double(length + 1) * hertz / double(rate))));
  }
  int64_t bins = length / 2 + 1;
  n.tensor({bins, bands}, n.f32());
  if (bins * bands * 8 > n.state.limits.foldedBytes)
    n.unsupported("makes " + std::to_string(bins * bands) + " weights");
  std::vector<double> values(size_t(bins * bands), 0.0);
  auto set = [&](int64_t bin, int64_t band, double v) {
    if (bin >= 0 && bin < bins) values[size_t(bin * bands + band)] = v;
  };
  for (int64_t b = 0; b < bands; ++b) {
    int64_t left = corners[size_t(b)], centre = corners[size_t(b) + 1], right = corners[size_t(b) + 2];
    if (centre == left) set(centre, b, 1);
    for (int64_t j = left; j <= centre && centre > left; ++j) set(j, b, double(j - left) / double(centre - left));
    for (int64_t j = centre; j < right && right > centre; ++j) set(j, b, double(right - j) / double(right - centre));
  }
  n.out(n.constant({bins, bands}, n.typeAttr("output_datatype", n.f32()), values));
}

} // namespace

void addSignal(Table &t) {
  t.add("DFT", {17, 20}, dft);
  t.add("STFT", {17}, stft);
  t.add("HannWindow", {17}, hann);
  t.add("HammingWindow", {17}, hamming);
  t.add("BlackmanWindow", {17}, blackman);
  t.add("MelWeightMatrix", {17}, melWeights);
}

} // namespace sprig::onnximport
