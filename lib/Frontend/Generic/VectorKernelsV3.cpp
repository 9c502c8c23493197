// VectorKernels for x86-64-v3.
#define SPRIG_VECTOR_BYTES 32
#define SPRIG_TILE_ROWS 6
#include "lib/Frontend/Generic/VectorKernels.inc"

const sprig::frontend::generic::VectorKernels sprig::frontend::generic::kVectorKernelsV3 = {kernelsOfType<float>(),
                                                                                            kernelsOfType<double>()};
