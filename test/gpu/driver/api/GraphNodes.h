// What nodes of graphs are given as parameters, checked and made into work: for nodes that are added and for those
// whose parameters are set in an instantiated graph.
#ifndef SPRIG_TEST_GPU_DRIVER_API_GRAPHNODES_H
#define SPRIG_TEST_GPU_DRIVER_API_GRAPHNODES_H

#include "test/gpu/driver/api/Call.h"

namespace sprig::cuda {

CUresult workOf(Driver &driver, CUctx_st &context, const CUDA_KERNEL_NODE_PARAMS &parameters, NodeWork &work);
CUresult workOf(Driver &driver, CUctx_st &context, const CUDA_MEMCPY3D &parameters, NodeWork &work);
CUresult workOf(Driver &driver, CUctx_st &context, const CUDA_MEMSET_NODE_PARAMS &parameters, NodeWork &work);
CUresult workOf(Driver &driver, CUctx_st &context, const CUDA_HOST_NODE_PARAMS &parameters, NodeWork &work);

} // namespace sprig::cuda

#endif
