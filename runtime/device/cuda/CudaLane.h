// A stream that takes a package's commands: kernels with the parameters of docs/package-format.md, copies, events.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDALANE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDALANE_H

#include "runtime/device/cuda/CudaEvent.h"

#include "sprig/rt/profile.h"

namespace sprig::rt::core {

class CudaLane final : public DeviceLane {
public:
  explicit CudaLane(std::shared_ptr<CudaContext> context) : context(std::move(context)) {}
  ~CudaLane() override;
  Status make();

  void dispatch(const Launch &launch) override;
  void copy(const Transfer &transfer) override;
  void record(DeviceEvent &event) override;
  void wait(DeviceEvent &event) override;
  Status takeRecorded(const DeviceMoment *from, double ticksPerNs, std::vector<StreamSpan> &spans) override;

  cuda::CUstream stream = nullptr;

private:
  Status launch(const Launch &launch);
  Status copyNow(const Transfer &transfer);
  template <typename Enqueue> void enqueue(sprig_rt_profile_kind kind, const CommandTag &tag, Enqueue enqueue);
  Status beginRecorded();
  Status endRecorded(const StreamSpan &command);
  Status statusRecord(const Launch &launch, cuda::CUdeviceptr &address);
  Status growScratch(uint64_t bytes);

  std::shared_ptr<CudaContext> context;
  cuda::CUresult failedWait = cuda::CUDA_SUCCESS; // the first; what comes behind it has lost its order
  // Where kernels say what went wrong: memory of the host that they reach, which costs nothing where nothing does. One
  // for each command of a run, and two runs may be under way.
  struct Record {
    sprig_rt_kernel_status *host;
    cuda::CUdeviceptr device;
  };
  std::map<std::pair<const Command *, const RunControl *>, Record> records;
  std::vector<CudaContext::Pinned> recordBlocks;
  size_t recordsLeft = 0;      // in the last block
  std::vector<Memory> scratch; // the last one is in use, earlier ones by commands before it
  uint64_t scratchBytes = 0;
  // Of commands that a profile records, since it was told of them.
  std::vector<StreamSpan> recorded;
  struct Around {
    cuda::CUevent begin = nullptr, end = nullptr;
  };
  std::vector<Around> timers; // of each of them, and more of earlier runs
  std::vector<void *> parameters;
};

} // namespace sprig::rt::core

#endif
