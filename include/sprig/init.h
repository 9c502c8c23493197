// Initial values of parameters: the distributions of torch.nn.init, drawn on the host from the process's seed.
// For layers and programs. Every function comes twice: kaimingUniform(type, ...) makes a tensor, kaimingUniform_(p,
// ...) sets a parameter. Numbers are those of Philox under the seed that manualSeed gave; each tensor takes the next
// stream, so the same seed and order of tensors give the same numbers.
#pragma once
#include "sprig/tensor.h"

namespace sprig::init {

/// Whose number of inputs or outputs scales the numbers: of a weight [out, in, window...] fan in is in times the
/// window, fan out is out times the window.
enum class Fan : uint8_t { in, out };
/// What follows the layer, for the gain.
enum class Nonlinearity : uint8_t { linear, sigmoid, tanh, relu, leakyRelu, selu };

/// 1; tanh: 5/3; relu: sqrt 2; leakyRelu: sqrt(2 / (1 + slope^2)); selu: 3/4.
SPRIG_API double gain(Nonlinearity nonlinearity, double slope = 0.01);

SPRIG_API Tensor zeros(const TensorType &type);
SPRIG_API Tensor ones(const TensorType &type);
/// Throws where an integer type does not hold the value.
SPRIG_API Tensor constant(const TensorType &type, double value, Source at = Source::here());
/// In [low, high).
SPRIG_API Tensor uniform(const TensorType &type, double low = 0, double high = 1, Source at = Source::here());
SPRIG_API Tensor normal(const TensorType &type, double mean = 0, double deviation = 1, Source at = Source::here());
/// A normal distribution of which what lies outside of [low, high] is drawn again.
SPRIG_API Tensor truncNormal(const TensorType &type, double mean = 0, double deviation = 1, double low = -2,
                             double high = 2, Source at = Source::here());
/// Glorot and Bengio (AISTATS 2010): within ± gain sqrt(6 / (fan in + fan out)).
SPRIG_API Tensor xavierUniform(const TensorType &type, double gain = 1, Source at = Source::here());
/// The same with deviation gain sqrt(2 / (fan in + fan out)).
SPRIG_API Tensor xavierNormal(const TensorType &type, double gain = 1, Source at = Source::here());
/// He et al. (arXiv:1502.01852): within ± gain sqrt(3 / fan). `slope` is that of leakyRelu; the layers' default is
/// sqrt 5, which is ± 1 / sqrt(fan).
SPRIG_API Tensor kaimingUniform(const TensorType &type, double slope = 0, Fan fan = Fan::in,
                                Nonlinearity nonlinearity = Nonlinearity::leakyRelu, Source at = Source::here());
/// The same with deviation gain / sqrt(fan).
SPRIG_API Tensor kaimingNormal(const TensorType &type, double slope = 0, Fan fan = Fan::in,
                               Nonlinearity nonlinearity = Nonlinearity::leakyRelu, Source at = Source::here());
/// A random (semi-)orthogonal matrix [rows, the rest] times the gain (Saxe et al., arXiv:1312.6120).
SPRIG_API Tensor orthogonal(const TensorType &type, double gain = 1, Source at = Source::here());

inline void zeros_(const Parameter &p, Source at = Source::here()) { p.set(zeros(p.type(at)), at); }
inline void ones_(const Parameter &p, Source at = Source::here()) { p.set(ones(p.type(at)), at); }
inline void constant_(const Parameter &p, double value, Source at = Source::here()) {
  p.set(constant(p.type(at), value, at), at);
}
inline void uniform_(const Parameter &p, double low = 0, double high = 1, Source at = Source::here()) {
  p.set(uniform(p.type(at), low, high, at), at);
}
inline void normal_(const Parameter &p, double mean = 0, double deviation = 1, Source at = Source::here()) {
  p.set(normal(p.type(at), mean, deviation, at), at);
}
inline void truncNormal_(const Parameter &p, double mean = 0, double deviation = 1, double low = -2, double high = 2,
                         Source at = Source::here()) {
  p.set(truncNormal(p.type(at), mean, deviation, low, high, at), at);
}
inline void xavierUniform_(const Parameter &p, double gain = 1, Source at = Source::here()) {
  p.set(xavierUniform(p.type(at), gain, at), at);
}
inline void xavierNormal_(const Parameter &p, double gain = 1, Source at = Source::here()) {
  p.set(xavierNormal(p.type(at), gain, at), at);
}
inline void kaimingUniform_(const Parameter &p, double slope = 0, Fan fan = Fan::in,
                            Nonlinearity nonlinearity = Nonlinearity::leakyRelu, Source at = Source::here()) {
  p.set(kaimingUniform(p.type(at), slope, fan, nonlinearity, at), at);
}
inline void kaimingNormal_(const Parameter &p, double slope = 0, Fan fan = Fan::in,
                           Nonlinearity nonlinearity = Nonlinearity::leakyRelu, Source at = Source::here()) {
  p.set(kaimingNormal(p.type(at), slope, fan, nonlinearity, at), at);
}
inline void orthogonal_(const Parameter &p, double gain = 1, Source at = Source::here()) {
  p.set(orthogonal(p.type(at), gain, at), at);
}

} // namespace sprig::init
