// Streams that record what is queued in them into a graph.
#include "test/gpu/driver/api/Call.h"

namespace sprig::cuda {

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (stream.isLegacy()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream.capture) return CUDA_ERROR_ILLEGAL_STATE;
    auto graph = std::make_shared<CUgraph_st>();
    stream.capture = std::make_shared<Capture>();
    stream.capture->graph = graph.get();
    stream.capture->origin = &stream;
    stream.capture->mode = mode;
    stream.capture->thread = std::this_thread::get_id();
    stream.captured.clear();
    driver.graphs[graph.get()] = std::move(graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *result) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    std::shared_ptr<Capture> capture = stream.capture;
    if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
      return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    // Nothing may be left that the stream does not come after.
    std::set<CUgraphNode> joined(stream.captured.begin(), stream.captured.end());
    for (auto &node : capture->graph->nodes) joined.insert(node->after.begin(), node->after.end());
    bool unjoined = joined.size() < capture->graph->nodes.size();
    for (CUstream other : driver.streams.all())
      if (other->capture == capture) {
        other->capture = nullptr;
        other->captured.clear();
      }
    CUgraph graph = std::exchange(capture->graph, nullptr);
    if (capture->invalid || unjoined) {
      driver.destroyGraph(graph);
      *result = nullptr;
      return capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    *result = graph;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
  return callInStream(__func__, handle, [&](Driver &, CUstream_st &stream) {
    *status = !stream.capture           ? CU_STREAM_CAPTURE_STATUS_NONE
              : stream.capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                        : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
  });
}

} // namespace sprig::cuda
