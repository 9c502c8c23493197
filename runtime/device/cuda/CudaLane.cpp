#include "runtime/device/cuda/CudaLane.h"

#include "runtime/device/cuda/CudaCode.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/Nvtx.h"
#include "runtime/profile/Profile.h"

#include <algorithm>
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
  for (const Around &each : timers)
    for (CUevent event : {each.begin, each.end}) context->driver.cuEventDestroy_v2(event);
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

// A profile has each command between two events of the driver. Nobody waits for them before the run has ended, so
// commands lie beside each other as ever.
template <typename Enqueue> void CudaLane::enqueue(sprig_rt_profile_kind kind, const CommandTag &tag, Enqueue enqueue) {
  CudaContext::Scope scope(*context);
  Status status;
  if (tag.recording) status = beginRecorded();
  if (status.isOk()) status = enqueue();
  if (status.isOk() && tag.recording) status = endRecorded({kind, tag.lane, tag.index, 0, 0});
  if (!status.isOk()) tag.control->fail(std::move(status));
}

Status CudaLane::beginRecorded() {
  const CudaDriver &driver = context->driver;
  if (recorded.size() == timers.size()) {
    Around fresh;
    CUresult result = driver.cuEventCreate(&fresh.begin, CU_EVENT_DEFAULT);
    if (result == CUDA_SUCCESS && (result = driver.cuEventCreate(&fresh.end, CU_EVENT_DEFAULT)) != CUDA_SUCCESS)
      driver.cuEventDestroy_v2(fresh.begin);
    SPRIG_RETURN_IF_ERROR(context->statusOf(result, "recording a profile"));
    timers.push_back(fresh);
  }
  return context->statusOf(driver.cuEventRecord(timers[recorded.size()].begin, stream), "recording a profile");
}

Status CudaLane::endRecorded(const StreamSpan &command) {
  recorded.push_back(command);
  return context->statusOf(context->driver.cuEventRecord(timers[recorded.size() - 1].end, stream),
                           "recording a profile");
}

// All times are from the one moment at the one rate, so that what was at one time in two streams stays so. The driver's
// float tells them to 1 us when 16 s have passed since, which few calls take.
Status CudaLane::takeRecorded(const DeviceMoment *from, double ticksPerNs, std::vector<StreamSpan> &spans) {
  std::vector<StreamSpan> taken = std::exchange(recorded, {});
  if (!from || taken.empty()) return {};
  CudaContext::Scope scope(*context);
  const auto &moment = static_cast<const CudaContext::Moment &>(*from);
  auto ticksAt = [&](CUevent event, uint64_t &at) {
    float milliseconds = 0;
    CUresult result = context->driver.cuEventElapsedTime(&milliseconds, moment.event, event);
    at = moment.ticks + uint64_t(std::max(0.0, double(milliseconds) * 1e6 * ticksPerNs));
    return context->statusOf(result, "asking how long a command took");
  };
  uint64_t last = moment.ticks;
  for (size_t i = 0; i < taken.size(); ++i) {
    for (auto [event, at] : {std::pair(timers[i].begin, &taken[i].begin), std::pair(timers[i].end, &taken[i].end)}) {
      SPRIG_RETURN_IF_ERROR(ticksAt(event, *at));
      last = *at = std::max(last, *at); // they are rounded one by one
    }
    spans.push_back(taken[i]);
  }
  return {};
}

void CudaLane::dispatch(const Launch &given) {
  if (!given.tag.control->isGoing() || given.command->tiles == 0) return;
  NvtxRange range([&] { return rangeName(given); });
  enqueue(SPRIG_RT_PROFILE_DISPATCH, given.tag, [&] { return launch(given); });
}

Status CudaLane::launch(const Launch &given) {
  const Command &command = *given.command;
  const CudaCode::Function &function = static_cast<const CudaCode &>(*given.code).function(command.kernel);
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
                                          "' in ", command.tiles, " blocks of ", function.shape.threads, " threads")
                                       .text());
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
  enqueue(transfer.tag.copies, transfer.tag, [&] { return copyNow(transfer); });
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
