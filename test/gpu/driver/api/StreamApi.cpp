// Streams and events.
#include "test/gpu/driver/api/Call.h"

namespace sprig::cuda {
namespace {

CUresult createStream(Driver &driver, CUctx_st &context, CUstream *stream, unsigned flags, int priority) {
  if (!stream || (flags & ~CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
  *stream = driver.createStream(context, flags, std::clamp(priority, -5, 0)); // real drivers clamp too
  return CUDA_SUCCESS;
}

template <typename Body> CUresult callWithEvent(const char *function, CUevent event, Body body) {
  return call(function, [&](Driver &driver) -> CUresult {
    if (!driver.events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    SPRIG_CUDA_TRY(event->context->failed);
    if (event->capture) return CUDA_ERROR_CAPTURED_EVENT;
    return body(driver);
  });
}

// The stream records in the event's capture too, behind what the event stands for.
CUresult joinCapture(CUstream_st &stream, const CUevent_st &event) {
  if (!event.capture->graph) return CUDA_ERROR_CAPTURED_EVENT; // that has ended
  if (stream.capture && stream.capture != event.capture) {
    stream.capture->invalid = event.capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream.isLegacy()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  stream.capture = event.capture;
  for (CUgraphNode node : event.captured)
    if (std::find(stream.captured.begin(), stream.captured.end(), node) == stream.captured.end())
      stream.captured.push_back(node);
  return CUDA_SUCCESS;
}

CUresult refuseCapturing(CUstream_st &stream) {
  if (!stream.capture) return CUDA_SUCCESS;
  stream.capture->invalid = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult query(Driver &driver, CUctx_st &context, const OperationRef &operation) {
  if (!driver.scheduler.poll(operation)) return CUDA_ERROR_NOT_READY;
  if (driver.dropsWaitFor(operation)) return context.failed;
  driver.scheduler.wait(operation); // which is done: now the host knows
  return context.failed;
}

CUresult record(const char *function, CUevent event, CUstream handle) {
  return callInStream(function, handle, [&](Driver &driver, CUstream_st &stream) {
    if (!driver.events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (event->context != stream.context) return CUDA_ERROR_INVALID_HANDLE;
    event->capture = stream.capture;
    event->captured = stream.captured;
    if (stream.capture) return CUDA_SUCCESS;
    event->recorded = driver.enqueueMarker(stream, "event record");
    return CUDA_SUCCESS;
  });
}

} // namespace

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return callInContext(
      __func__, [&](Driver &driver, CUctx_st &context) { return createStream(driver, context, stream, flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    return createStream(driver, context, stream, flags, priority);
  });
}

// What it has queued goes on.
CUresult cuStreamDestroy_v2(CUstream handle) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.streams.has(handle)) return CUDA_ERROR_INVALID_HANDLE;
    driver.orphans.push_back(handle->last);
    driver.streams.destroy(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
  return callInStream(__func__, handle, [&](Driver &, CUstream_st &stream) {
    *priority = stream.priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags) {
  return callInStream(__func__, handle, [&](Driver &, CUstream_st &stream) {
    *flags = stream.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context) {
  return callInStream(__func__, handle, [&](Driver &, CUstream_st &stream) {
    *context = stream.context;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
  return callInStream(__func__, handle, [&](Driver &, CUstream_st &stream) {
    *id = stream.number;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    SPRIG_CUDA_TRY(refuseCapturing(stream));
    return query(driver, *stream.context, stream.last);
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    SPRIG_CUDA_TRY(refuseCapturing(stream));
    // Asked of the default stream, it is asked of all that it comes after too.
    if (stream.isLegacy()) driver.enqueueMarker(stream, "synchronise");
    return driver.waitAsAsked(*stream.context, stream.last);
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    if (!driver.events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
    if (event->capture) return joinCapture(stream, *event);
    if (stream.capture && event->recorded) { // a graph does not know when that was
      stream.capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    auto what = [&] { return "wait of " + stream.title() + " for " + event->recorded->where; };
    if (event->recorded && !driver.drops(Ordering::Wait, what))
      driver.enqueueMarker(stream, "event wait", event->recorded);
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
  return callInStream(__func__, handle, [&](Driver &driver, CUstream_st &stream) {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return driver.enqueue(stream, HostCall{function, data});
  });
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return callInContext(__func__, [&](Driver &driver, CUctx_st &context) {
    if (!event || (flags & ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING))) return CUDA_ERROR_INVALID_VALUE;
    *event = driver.createEvent(context, flags);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call(__func__, [&](Driver &driver) {
    if (!driver.events.has(event)) return CUDA_ERROR_INVALID_HANDLE;
    driver.events.destroy(event);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return record(__func__, event, stream); }

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  return record(__func__, event, stream);
}

CUresult cuEventQuery(CUevent event) {
  return callWithEvent(__func__, event,
                       [&](Driver &driver) { return query(driver, *event->context, event->recorded); });
}

CUresult cuEventSynchronize(CUevent event) {
  return callWithEvent(__func__, event,
                       [&](Driver &driver) { return driver.waitAsAsked(*event->context, event->recorded); });
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return callWithEvent(__func__, start, [&](Driver &driver) {
    if (!driver.events.has(end) || !start->recorded || !end->recorded) return CUDA_ERROR_INVALID_HANDLE;
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
    if (start->context != end->context) return CUDA_ERROR_INVALID_HANDLE;
    if (!start->recorded->done() || !end->recorded->done()) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>((end->recorded->ended - start->recorded->ended) / 1e6);
    return CUDA_SUCCESS;
  });
}

// What older programs call: the newer one measures more precisely, where there is something to measure.
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

} // namespace sprig::cuda
