// VectorKernels for x86-64-v4.
#define SPRIG_VECTOR_BYTES 64
#define SPRIG_TILE_ROWS 8
#include "lib/Frontend/Generic/VectorKernels.inc"

const sprig::frontend::generic::VectorKernels sprig::frontend::generic::kVectorKernelsV4 = {kernelsOfType<float>(),
                                                                                            kernelsOfType<double>()};
