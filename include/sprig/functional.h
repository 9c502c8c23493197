// What layers compute, as functions (PyTorch's torch.nn.functional): pooling, normalisation, dropout, attention,
// recurrence. For programs and for the layers of sprig/nn.h, which hold their parameters.
#pragma once
#include "sprig/tensor.h"

namespace sprig {

// Pooling. x [N, C, spatial...] or [C, spatial...].
struct MaxPoolOptions {
  Ints stride = {}; ///< the window, unless given
  Ints padding = 0;
  Ints dilation = 1;
  bool ceilMode = false; ///< lets the last window hang over the end
};
SPRIG_API Tensor maxPool1d(const Operand &x, const Ints &window, const MaxPoolOptions &options = {});
SPRIG_API Tensor maxPool2d(const Operand &x, const Ints &window, const MaxPoolOptions &options = {});
SPRIG_API Tensor maxPool3d(const Operand &x, const Ints &window, const MaxPoolOptions &options = {});
struct AvgPoolOptions {
  Ints stride = {}; ///< the window, unless given
  Ints padding = 0;
  bool ceilMode = false;
  bool countIncludePad = true; ///< whether zeros of the padding count
};
SPRIG_API Tensor avgPool1d(const Operand &x, const Ints &window, const AvgPoolOptions &options = {});
SPRIG_API Tensor avgPool2d(const Operand &x, const Ints &window, const AvgPoolOptions &options = {});
SPRIG_API Tensor avgPool3d(const Operand &x, const Ints &window, const AvgPoolOptions &options = {});
/// Windows that are chosen so that the result has this size: one number for all spatial axes, or one for each.
SPRIG_API Tensor adaptiveAvgPool1d(const Operand &x, const Ints &size);
SPRIG_API Tensor adaptiveAvgPool2d(const Operand &x, const Ints &size);
SPRIG_API Tensor adaptiveAvgPool3d(const Operand &x, const Ints &size);
SPRIG_API Tensor adaptiveMaxPool1d(const Operand &x, const Ints &size);
SPRIG_API Tensor adaptiveMaxPool2d(const Operand &x, const Ints &size);
SPRIG_API Tensor adaptiveMaxPool3d(const Operand &x, const Ints &size);

// Normalisation: (x - mean) / sqrt(biased variance + epsilon) * scale + shift. Scale and shift may be {}: 1 and 0.
/// With given statistics, for each channel (axis 1; the others [C]): inference (arXiv:1502.03167).
SPRIG_API Tensor batchNorm(const Operand &x, const Operand &mean, const Operand &variance, const Operand &scale = {},
                           const Operand &shift = {}, double epsilon = 1e-5);
struct BatchStatistics {
  Tensor output, mean, variance;
  double correction = 1; ///< what makes the variance unbiased: n / (n - 1) of a channel's n values, 1 where it is
};
/// With the statistics of the batch, which it gives back: training. One value per channel is an error.
SPRIG_API BatchStatistics batchNormTraining(const Operand &x, const Operand &scale = {}, const Operand &shift = {},
                                            double epsilon = 1e-5);
/// Over the last axes, whose sizes are `shape`, as are those of scale and shift (arXiv:1607.06450).
SPRIG_API Tensor layerNorm(const Operand &x, const Ints &shape, const Operand &scale = {}, const Operand &shift = {},
                           double epsilon = 1e-5);
/// Over groups of channels of [N, C, ...] (arXiv:1803.08494).
SPRIG_API Tensor groupNorm(const Operand &x, int64_t groups, const Operand &scale = {}, const Operand &shift = {},
                           double epsilon = 1e-5);
/// Over each channel of each sample (arXiv:1607.08022).
SPRIG_API Tensor instanceNorm(const Operand &x, const Operand &scale = {}, const Operand &shift = {},
                              double epsilon = 1e-5);
/// x / sqrt(mean(x^2) + epsilon) * scale over the last axes (arXiv:1910.07467). PyTorch's default epsilon, that of the
/// element type, where it is negative.
SPRIG_API Tensor rmsNorm(const Operand &x, const Ints &shape, const Operand &scale = {}, double epsilon = -1);
/// x / (k + alpha / size * sum of squares over `size` channels around each)^beta (AlexNet).
SPRIG_API Tensor localResponseNorm(const Operand &x, int64_t size, double alpha = 1e-4, double beta = 0.75,
                                   double k = 1);

/// Zeroes elements with probability p and multiplies the others by 1 / (1 - p) (arXiv:1207.0580). Not training: x.
SPRIG_API Tensor dropout(const Operand &x, double p = 0.5, bool training = true);
/// The same for whole channels (axes 0 and 1 choose).
SPRIG_API Tensor dropoutChannels(const Operand &x, double p = 0.5, bool training = true);

struct AttentionOptions {
  /// Broadcasts to [..., L, S]: booleans say which keys count (in nn::AttentionMask they hide), floats are added to the
  /// scores.
  Tensor mask = {};
  bool causal = false; ///< position i sees keys 0 to i; with a mask (PyTorch refuses both) those that it shows
  double dropout = 0;  ///< of the weights
  double scale = 0;    ///< 1 / sqrt(E) where 0
};
/// softmax(q k^T * scale + mask) v: q [..., L, E], k [..., S, E], v [..., S, V], result [..., L, V]
/// (arXiv:1706.03762).
SPRIG_API Tensor scaledDotProductAttention(const Operand &query, const Operand &key, const Operand &value,
                                           const AttentionOptions &options = {});

/// How images are read between their elements, bicubic with a = -3/4; and what lies around them: zeros, the elements at
/// the edge, or the image mirrored.
enum class GridMode { bilinear, nearest, bicubic };
enum class GridPadding { zeros, border, reflection };
struct GridSampleOptions {
  GridMode mode = GridMode::bilinear; ///< bilinear for one and three axes, too; bicubic for two alone
  GridPadding padding = GridPadding::zeros;
  bool alignCorners = false; ///< whether -1 and 1 are the centres of the outermost elements, not their edges
};
/// Images [N, C, spatial...], one to three axes, at positions [N, sizes of the result..., axes] in [-1, 1], of the same
/// element type, which count from the innermost axis (x, y, z): [N, C, sizes of the result...].
SPRIG_API Tensor gridSample(const Operand &x, const Operand &grid, const GridSampleOptions &options = {});

// Recurrence over input [steps, batch, features], one layer and direction, from a state [batch, H]. Weights have
// PyTorch's layout and gate order: lstm i, f, g, o ([4H, I], [4H, H], biases [4H]), gru r, z, n. Biases may be {}.
// With lengths [batch] (i64 or i32) sequence b has lengths[b] steps, as in a packed sequence of PyTorch: its outputs
// are 0 after them, its last state is that of its last step, and a reverse direction starts there. A length that is
// negative or above the steps is an error when it runs.
struct RnnOutput {
  Tensor output, h; ///< h of every step [steps, batch, H], and the last one
};
struct LstmOutput {
  Tensor output, h, c;
};
enum class RnnActivation { tanh, relu };
SPRIG_API RnnOutput rnn(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                        const Operand &biasIh = {}, const Operand &biasHh = {},
                        RnnActivation activation = RnnActivation::tanh, bool reverse = false,
                        const Operand &lengths = {});
SPRIG_API RnnOutput gru(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                        const Operand &biasIh = {}, const Operand &biasHh = {}, bool reverse = false,
                        const Operand &lengths = {});
SPRIG_API LstmOutput lstm(const Operand &x, const Operand &h, const Operand &c, const Operand &weightIh,
                          const Operand &weightHh, const Operand &biasIh = {}, const Operand &biasHh = {},
                          bool reverse = false, const Operand &lengths = {});
// One step: x [batch, features]. The new state.
SPRIG_API Tensor rnnCell(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                         const Operand &biasIh = {}, const Operand &biasHh = {},
                         RnnActivation activation = RnnActivation::tanh);
SPRIG_API Tensor gruCell(const Operand &x, const Operand &h, const Operand &weightIh, const Operand &weightHh,
                         const Operand &biasIh = {}, const Operand &biasHh = {});
struct LstmState {
  Tensor h, c;
};
SPRIG_API LstmState lstmCell(const Operand &x, const Operand &h, const Operand &c, const Operand &weightIh,
                             const Operand &weightHh, const Operand &biasIh = {}, const Operand &biasHh = {});

} // namespace sprig
