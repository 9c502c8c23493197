// The filter of a short convolution (Winograd) in frequencies, in panels as kernels read them. For the compiler, which
// chooses the form, and the loader, which makes it of the filter: both have the same bits.
#ifndef SPRIG_RUNTIME_FORMAT_SHORTFILTER_H
#define SPRIG_RUNTIME_FORMAT_SHORTFILTER_H

#include <cstdint>
#include <span>

namespace sprig::rt::format {

struct ShortFilter {
  uint64_t outputs = 0, channels = 0, height = 0, width = 0; // of the filter, in this order
  uint64_t lines = 0, columns = 0;                           // frequencies of the dimensions
  uint64_t panel = 0;                                        // outputs that lie side by side, zeros behind the last
  std::span<const double> down, across;                      // lines x height, columns x width
};

// `from`: outputs x channels x height x width. `to`: panels x (lines x columns x channels) x panel.
void transformFilter(const ShortFilter &filter, const float *from, float *to);

} // namespace sprig::rt::format

#endif
