// Runs packages all of whose devices are GPUs: what an entry enqueues is taken down once as a graph of the driver's,
// over all of them, which each call launches. The caller's arrays pass through pinned memory, as a graph's addresses
// stay; of arrays that lie on the device a graph has the addresses, and the last few are kept.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDAEXECUTABLE_H

#include "runtime/device/cuda/CudaLane.h"
#include "runtime/exec/LaneExecutable.h"

namespace sprig::rt::core {

class CudaExecutable final : public Executable {
public:
  CudaExecutable(const Package &package, Pool &pool, std::shared_ptr<CudaContext> context)
      : package(package), context(std::move(context)), taken(package, pool), single(package, pool),
        lane(this->context) {}
  Status make();

  Status run(uint32_t entry, const Binding &binding) override;
  bool takesAhead() const override { return true; }
  // Graphs follow one another in one stream, whatever they are to be behind.
  Status start(uint32_t turn, uint32_t entry, const Binding &binding, Behind) override;
  bool hasEnded(uint32_t turn, std::chrono::nanoseconds limit) override;
  Status finish(uint32_t turn) override;
  Status enqueueInStream(uint32_t entry, const Binding &binding, void *stream) override;
  Status settle() override;

private:
  static constexpr uint32_t kTurns = 2, kInStreams = 2; // runs in streams have graphs and a control of their own
  static constexpr size_t kMostGraphs = 8;              // of an entry
  // The runs of an entry in one turn.
  struct Graph {
    ~Graph();
    const CudaContext *context = nullptr;
    cuda::CUgraphExec launched = nullptr;
    std::vector<void *> operands; // that it was made for
    // As the binding has them, but from and to pinned memory.
    std::vector<Transfer> uploads, downloads;
    std::vector<CudaContext::Pinned> staging;
    std::vector<RunControl::Watched> watched; // its kernels
  };
  struct Run {
    std::unique_ptr<CudaEvent> ended;
    Graph *graph = nullptr;
    std::vector<uint8_t *> results; // the caller's arrays, by the graph's downloads
  };

  Status prepare(uint32_t turn, uint32_t entry, const Binding &binding, Graph *&graph);
  Status stage(std::span<const Transfer> given, bool toDevice, std::vector<Transfer> &staged, Graph &graph);
  Status takeDown(uint32_t turn, uint32_t entry, const Binding &binding, Graph &graph);
  void enqueueBranches(const LaneExecutable::Order &order);

  const Package &package;
  std::shared_ptr<CudaContext> context; // of the first device, in whose stream graphs are launched
  LaneExecutable taken;                 // enqueues what graphs are made of
  LaneExecutable single;                // enqueues what runs without one
  CudaLane lane;
  std::unique_ptr<CudaEvent> fork; // where a graph's branches begin
  // By entry; the one that was used last is the first.
  std::vector<std::vector<std::unique_ptr<Graph>>> graphs[kTurns + 1];
  Run runs[kTurns];
  RunControl streamTaken;               // of their graphs, as `taken` has two of turns
  RunControl streamControl;             // of all of them since they were waited for
  std::vector<char> watchedEntries;     // whose kernels that one watches
  std::unique_ptr<CudaEvent> streamEnd; // of the last one
};

} // namespace sprig::rt::core

#endif
