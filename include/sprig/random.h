// Random tensors. For programs, and for initializers.
// Element i of a tensor follows from the seed, from how many random operations ran before, and from i: from nothing
// else, whatever the device, the tier and the number of threads. The formulas stand in docs/numerics.md.
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// Starts all random numbers of the process anew: tensors, initial values, the order of data loaders without a seed of
/// their own. Without it the seed is 0.
SPRIG_API void manualSeed(uint64_t seed);
/// Where the sequence of random numbers stands: what a checkpoint keeps.
struct RandomState {
  uint64_t seed = 0, draws = 0;
};
SPRIG_API RandomState randomState();
/// A seed for what draws on the host in its own way: it follows from manualSeed's seed and from `stream` alone, and
/// draws nothing. nextStream() numbers them, from 0 after each manualSeed. Data loaders use it.
SPRIG_API uint64_t streamSeed(uint64_t stream);
SPRIG_API uint64_t nextStream();
SPRIG_API void setRandomState(const RandomState &state);

/// Uniform in [0, 1).
SPRIG_API Tensor rand(const Shape &shape, DType type = DType::f32, Source at = Source::here());
/// Uniform in [low, high).
SPRIG_API Tensor uniform(const Shape &shape, double low, double high, DType type = DType::f32,
                         Source at = Source::here());
/// Normal with mean 0 and standard deviation 1.
SPRIG_API Tensor randn(const Shape &shape, DType type = DType::f32, Source at = Source::here());
SPRIG_API Tensor normal(const Shape &shape, double mean, double standardDeviation, DType type = DType::f32,
                        Source at = Source::here());
SPRIG_API Tensor randLike(const Operand &x);
SPRIG_API Tensor randnLike(const Operand &x);
/// Integers, uniform in [low, high).
SPRIG_API Tensor randint(int64_t low, int64_t high, const Shape &shape, DType type = DType::i64,
                         Source at = Source::here());
/// 0 to n - 1 in random order, i64.
SPRIG_API Tensor randperm(int64_t n, Source at = Source::here());
/// 1 with the probability that the element gives, else 0; of the probabilities' type. One outside [0, 1] is an error
/// when it runs.
SPRIG_API Tensor bernoulli(const Operand &probabilities);
/// 1 with one probability; f32.
SPRIG_API Tensor bernoulli(const Shape &shape, double probability, Source at = Source::here());
/// Classes drawn with these weights, [classes] or [rows, classes]: [samples] or [rows, samples], i64. Without
/// replacement no class comes twice in a row. When it runs, a weight that is negative or infinite, and fewer weights
/// above zero in a row than are needed (1; without replacement one for each sample), are errors.
SPRIG_API Tensor multinomial(const Operand &weights, int64_t samples, bool replacement = false);
/// One class for each row of logits [..., classes]: [...], i64.
SPRIG_API Tensor categorical(const Operand &logits);

} // namespace sprig
