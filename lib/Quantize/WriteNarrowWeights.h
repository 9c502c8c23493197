// A planned model whose weights are stored in few bits and multiplied as floats.
// For weight-only quantisation: eight bits by DequantizeLinear, four by com.microsoft's MatMulNBits in groups.
#pragma once
#include "lib/Quantize/WriteDynamic.h"

namespace sprig::quantize {

struct NarrowWeights {
  int bits = 8;           ///< 8 or 4
  int64_t group = 32;     ///< of four bits: weights along the inner axis that share a scale; a power of two from 16 on
  bool symmetric = false; ///< of four bits: no zero points
  bool perChannel = true; ///< of eight bits
  int level = 0;          ///< of four bits: accuracy_level of MatMulNBits, 4 for activations of eight bits
};

/// A matrix [columns, inner] in groups of four bits, as MatMulNBits holds it: the lower half of a byte first.
struct PackedMatrix {
  std::vector<uint8_t> values;     ///< [columns, groups, group / 2]
  std::vector<float> scales;       ///< [columns, groups]
  std::vector<uint8_t> zeroPoints; ///< [columns, (groups + 1) / 2], none where symmetric
};
PackedMatrix packMatrix(const std::vector<float> &matrix, int64_t columns, int64_t inner, int64_t group,
                        bool symmetric);
/// The numbers that it stands for.
std::vector<float> unpackMatrix(const PackedMatrix &packed, int64_t columns, int64_t inner, int64_t group);

/// Of four bits what is no matrix product has eight.
WrittenWeights writeNarrowWeights(Graph &graph, const Plan &plan, const NarrowWeights &how);

} // namespace sprig::quantize
