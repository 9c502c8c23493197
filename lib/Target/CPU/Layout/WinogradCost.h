// When Winograd's short convolutions pay. For the winograd pass: an estimate of cycles from the shape alone, so that
// every machine makes the same choice. The unit is one 16-lane multiply-add.
#pragma once
#include <cstdint>
#include <optional>

namespace sprig::cpu {

/// A channels-last 2-d convolution of stride 1.
struct ConvShape {
  int64_t batch, height, width, channels;
  int64_t outHeight, outWidth, outputs;
  int64_t window[2], low[2];
  int64_t networkBytes; // of all constants that compete for the caches
};

struct WinogradChoice {
  int64_t tile[2] = {1, 1};
  double gain = 0;   // estimated cycles of the direct form over those of this one
  double saving = 0; // multiplications of the direct form over those of this one
};

/// The cheapest form whose error stays within the bound of docs/numerics.md; nothing where there is none. `gain` may
/// be below 1.
std::optional<WinogradChoice> cheapestWinograd(const ConvShape &shape);

} // namespace sprig::cpu
