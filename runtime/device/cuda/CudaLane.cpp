#include "runtime/device/cuda/CudaLane.h"

#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/Nvtx.h"
#include "runtime/profile/Profile.h"

#include <cstring>
#include <utility>

namespace sprig::rt::core {

using namespace cuda;

// Kernels may exchange the first word, and no two launches' records share a line of the bus.
static constexpr size_t kRecordBytes = 64, kRecordsOfBlock = 64;

Status CudaLane::make() {
  CudaContext::Scope scope(*context);
  CUresult result = context->driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  if (result != CUDA_SUCCESS) stream = nullptr;
  return context->statusOf(result, "making a stream");
}

CudaLane::~CudaLane() {
  if (!stream) return;
  CudaContext::Scope scope(*context);
  for (CUevent event : {begin, end})
    if (event) context->driver.cuEventDestroy_v2(event);
  context->driver.cuStreamDestroy_v2(stream);
}

// The layers, and the operations that they are made of.
static std::string rangeName(const Launch &launch) {
  const Command &command = *launch.command;
  std::string name = command.name.empty() ? launch.kernel->name : command.name;
  const char *before = " (";
  for (const Part &part : command.parts) name += std::exchange(before, ", ") + part.kind;
  return command.parts.empty() ? name : name + ")";
}

void CudaLane::dispatch(const Launch &given) {
  RunControl &control = *given.tag.control;
  if (!control.isGoing() || given.command->tiles == 0) return;
  NvtxRange range([&] { return rangeName(given); });
  Timed began = beginTimed(given.tag);
  if (Status status = launch(given); !status.isOk()) return control.fail(std::move(status));
  if (given.tag.recording) tell(SPRIG_RT_PROFILE_DISPATCH, given.tag, began);
}

// A profile has commands one by one: each is waited for before the next is enqueued. How long it took is between two
// events of the driver; it ended when the host saw that.
CudaLane::Timed CudaLane::beginTimed(const CommandTag &tag) {
  if (!tag.recording) return {};
  CudaContext::Scope scope(*context);
  CUresult result = CUDA_SUCCESS;
  for (CUevent *event : {&begin, &end})
    if (!*event && result == CUDA_SUCCESS) result = context->driver.cuEventCreate(event, CU_EVENT_DEFAULT);
  if (result == CUDA_SUCCESS) result = context->driver.cuEventRecord(begin, stream);
  if (result != CUDA_SUCCESS) tag.control->fail(context->statusOf(result, "recording a profile"));
  return {ticks(), systemNanoseconds()};
}

Status CudaLane::deviceNanoseconds(double &took) {
  const CudaDriver &driver = context->driver;
  float milliseconds = 0;
  SPRIG_RETURN_IF_ERROR(context->statusOf(driver.cuEventRecord(end, stream), "recording a profile"));
  SPRIG_RETURN_IF_ERROR(context->statusOf(driver.cuStreamSynchronize(stream), "running commands"));
  SPRIG_RETURN_IF_ERROR(
      context->statusOf(driver.cuEventElapsedTime(&milliseconds, begin, end), "asking how long a command took"));
  took = double(milliseconds) * 1e6;
  return {};
}

void CudaLane::tell(sprig_rt_profile_kind kind, const CommandTag &tag, const Timed &began) {
  CudaContext::Scope scope(*context);
  double took = 0;
  if (Status status = deviceNanoseconds(took); !status.isOk()) return tag.control->fail(std::move(status));
  uint64_t now = ticks();
  double waited = double(systemNanoseconds() - began.ns);
  // In the host's ticks, and never before the host began.
  double share = waited > took ? took / waited : 1;
  tag.recording->add(kind, now - uint64_t(share * double(now - began.ticks)), tag.lane, tag.index);
}

Status CudaLane::launch(const Launch &given) {
  const Command &command = *given.command;
  const CudaCode::Function &function = static_cast<const CudaCode &>(*given.code).function(command.kernel);
  CudaContext::Scope scope(*context);
  CUdeviceptr status = 0, scratchAddress = 0;
  SPRIG_RETURN_IF_ERROR(statusRecord(given, status));
  if (given.kernel->scratch) {
    SPRIG_RETURN_IF_ERROR(growScratch(given.kernel->scratch));
    scratchAddress = reinterpret_cast<CUdeviceptr>(scratch.back().address);
  }
  auto firstTile = uint32_t(command.firstTile);
  parameters.clear();
  for (uint32_t i = 0; i < command.operandCount; ++i)
    parameters.push_back(const_cast<void **>(given.operands + i)); // where its value is
  parameters.insert(parameters.end(), {&status, &scratchAddress, &firstTile});
  CUresult result =
      context->driver.cuLaunchKernel(function.handle, unsigned(command.tiles), 1, 1, function.shape.threads, 1, 1,
                                     function.shape.shared, stream, parameters.data(), nullptr);
  if (result == CUDA_SUCCESS) return {};
  return context->statusOf(result, concat("launching '", command.name.empty() ? given.kernel->name : command.name,
                                          "' in ", command.tiles, " blocks of ", function.shape.threads, " threads"));
}

Status CudaLane::statusRecord(const Launch &given, CUdeviceptr &address) {
  auto [found, fresh] = records.try_emplace({given.command, given.tag.control});
  if (fresh) {
    if (recordsLeft == 0) {
      CudaContext::Pinned block;
      Status made = context->allocatePinned(kRecordBytes * kRecordsOfBlock, "what kernels report", block);
      if (!made.isOk()) records.erase(found);
      SPRIG_RETURN_IF_ERROR(std::move(made));
      std::memset(block.host, 0, kRecordBytes * kRecordsOfBlock);
      recordBlocks.push_back(std::move(block));
      recordsLeft = kRecordsOfBlock;
    }
    size_t offset = kRecordBytes * --recordsLeft;
    found->second = {reinterpret_cast<sprig_rt_kernel_status *>(recordBlocks.back().host + offset),
                     recordBlocks.back().device + offset};
  }
  given.tag.control->watch({given.command, found->second.host});
  address = found->second.device;
  return {};
}

Status CudaLane::growScratch(uint64_t bytes) {
  if (bytes <= scratchBytes) return {};
  Memory larger;
  SPRIG_RETURN_IF_ERROR(context->allocate(bytes, "scratch", larger));
  scratch.push_back(std::move(larger));
  scratchBytes = bytes;
  return {};
}

void CudaLane::copy(const Transfer &transfer) {
  RunControl &control = *transfer.tag.control;
  if (!control.isGoing() || transfer.bytes == 0 || transfer.target == transfer.source) return;
  NvtxRange range([&] { return concat("copy ", transfer.bytes, " bytes"); });
  CudaContext::Scope scope(*context);
  Timed began = beginTimed(transfer.tag);
  if (Status status = copyNow(transfer); !status.isOk()) return control.fail(std::move(status));
  if (transfer.tag.recording) tell(SPRIG_RT_PROFILE_COPY, transfer.tag, began);
}

// The host's memory that is not pinned is read before the call returns, or written: then it waits for the stream.
Status CudaLane::copyNow(const Transfer &transfer) {
  const CudaDriver &driver = context->driver;
  auto contextOf = [](const Device *device) -> const CudaContext * {
    return device && !device->sharesHostMemory() ? &static_cast<const CudaDevice *>(device)->context() : nullptr;
  };
  const CudaContext *from = contextOf(transfer.sourceDevice), *to = contextOf(transfer.targetDevice);
  auto source = reinterpret_cast<CUdeviceptr>(transfer.source), target = reinterpret_cast<CUdeviceptr>(transfer.target);
  if (!from)
    return context->statusOf(driver.cuMemcpyHtoDAsync_v2(target, transfer.source, transfer.bytes, stream),
                             "copying from the host");
  if (!to)
    return context->statusOf(driver.cuMemcpyDtoHAsync_v2(transfer.target, source, transfer.bytes, stream),
                             "copying to the host");
  if (from == to)
    return context->statusOf(driver.cuMemcpyDtoDAsync_v2(target, source, transfer.bytes, stream), "copying");
  return context->statusOf(driver.cuMemcpyPeerAsync(target, to->handle, source, from->handle, transfer.bytes, stream),
                           "copying between devices");
}

void CudaLane::record(DeviceEvent &event) {
  CudaContext::Scope scope(*context);
  static_cast<CudaEvent &>(event).record(stream, failedWait);
}

// Another kind of device's event is waited for here and now: all that leads to it has been enqueued before.
void CudaLane::wait(DeviceEvent &event) {
  auto *own = dynamic_cast<CudaEvent *>(&event);
  if (!own) {
    event.synchronize(event.last(), std::nullopt);
    return;
  }
  if (own->last() == 0) return;
  CudaContext::Scope scope(*context);
  CUresult result = context->driver.cuStreamWaitEvent(stream, own->ofLast(), 0);
  if (result == CUDA_SUCCESS) result = own->answer();
  if (failedWait == CUDA_SUCCESS) failedWait = result;
}

} // namespace sprig::rt::core
