// VectorKernels for x86-64-v2.
#define SPRIG_VECTOR_BYTES 16
#define SPRIG_TILE_ROWS 3
#include "lib/Frontend/Generic/VectorKernels.inc"

const sprig::frontend::generic::VectorKernels sprig::frontend::generic::kVectorKernelsV2 = {kernelsOfType<float>(),
                                                                                            kernelsOfType<double>()};
