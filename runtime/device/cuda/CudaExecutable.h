// Runs packages all of whose devices are GPUs: what an entry enqueues is taken down once as a graph of the driver's,
// over all of them, which each call launches. The caller's arrays pass through pinned memory, as a graph's addresses
// stay; of arrays that lie on the device a graph has the addresses, and the last few are kept. Runs that are under way
// at once have pinned memory and arrays on the device of their own; the later one's uploads are not in its graph, but
// come beside the earlier one's.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H

#include "runtime/device/cuda/CudaLane.h"
#include "runtime/exec/LaneExecutable.h"

namespace sprig::rt::core {

class CudaDevice;

class CudaExecutable final : public Executable {
public:
  CudaExecutable(const Package &package, Pool &pool, std::shared_ptr<CudaContext> context)
      : package(package), context(std::move(context)), taken(package, pool), single(package, pool),
        lane(this->context) {}
  Status make();

  Status run(uint32_t entry, const Binding &binding) override;
  bool takesAhead() const override { return true; }
  // Graphs follow one another in one stream; only uploads may come before the end of the run before.
  Status start(uint32_t turn, uint32_t entry, const Binding &binding, Behind behind) override;
  bool hasEnded(uint32_t turn, std::chrono::nanoseconds limit) override;
  Status finish(uint32_t turn) override;
  Status enqueueInStream(uint32_t entry, const Binding &binding, void *stream) override;
  Status settle() override;

private:
  static constexpr uint32_t kTurns = 2;
  static constexpr size_t kMostGraphs = 8; // of a kind and an entry
  // Of runs that are alone; of those of a turn that are handed over while another is under way, without their uploads;
  // of those in streams of the caller's.
  enum Kind : uint32_t { kAlone, kBeside, kBesideInTurn1, kInStreams, kKinds };
  static uint32_t turnOf(Kind kind) { return kind == kBesideInTurn1; }
  struct Graph {
    ~Graph();
    const CudaContext *context = nullptr;
    cuda::CUgraphExec launched = nullptr;
    std::vector<void *> operands; // that it was made for
    // As the binding has them, but from and to pinned memory.
    std::vector<Transfer> uploads, downloads;
    std::vector<RunControl::Watched> watched; // its kernels
  };
  // Pinned memory of a turn and an entry, by array and device.
  using Staging = std::map<std::pair<uint32_t, const Device *>, CudaContext::Pinned>;
  struct Run {
    std::unique_ptr<CudaEvent> ended;
    Graph *graph = nullptr;
    uint32_t entry = 0;
    std::vector<uint8_t *> results; // the caller's arrays, by the graph's downloads
  };

  Status prepare(Kind kind, uint32_t entry, const Binding &binding, Graph *&graph);
  Status stage(std::span<const Transfer> given, bool toDevice, Staging &memory, std::vector<Transfer> &staged);
  Status takeDown(Kind kind, uint32_t entry, const Binding &binding, Graph &graph);
  void enqueueBranches(const LaneExecutable::Order &order);
  Status streamEndOn(const CudaDevice &device, CudaEvent *&end);

  const Package &package;
  std::shared_ptr<CudaContext> context; // of the first device, in whose stream graphs are launched
  LaneExecutable taken;                 // enqueues what graphs are made of
  LaneExecutable single;                // enqueues what runs without one
  CudaLane lane;
  std::unique_ptr<CudaEvent> fork; // where a graph's branches begin
  // By entry; the one that was used last is the first.
  std::vector<std::vector<std::unique_ptr<Graph>>> graphs[kKinds];
  std::vector<Staging> uploadStaging[kTurns], downloadStaging[kTurns];
  Run runs[kTurns];
  RunControl streamTaken;           // of their graphs, as `taken` has two of turns
  RunControl streamControl;         // of all of them since they were waited for
  std::vector<char> watchedEntries; // whose kernels that one watches
  // Of the last one on each device. Each run waits for the one before it, whatever their devices.
  std::map<const Device *, std::unique_ptr<CudaEvent>> streamEnds;
  CudaEvent *lastInStream = nullptr;
};

} // namespace sprig::rt::core

#endif
