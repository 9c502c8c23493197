// What a loader's handle stands for: workers take numbered batches in order, the consumer gets them in order.
// For Loader. Invariant: batch n is begun only when batch n - prefetch * workers has been handed out; so memory is
// bounded, and a slot of the ring is empty when its batch is ready.
#pragma once
#include "lib/Loader/Buffers.h"
#include "lib/Loader/Storage.h"
#include "sprig/data/loader.h"
#include "sprig/random.h"
#include <atomic>
#include <condition_variable>
#include <exception>
#include <thread>

namespace sprig::data {

class LoaderCore : public std::enable_shared_from_this<LoaderCore> {
public:
  LoaderCore(Dataset set, LoaderOptions options);
  ~LoaderCore();

  std::shared_ptr<void> start();
  int64_t batchesPerEpoch() const { return batches; }
  LoaderStats stats() const;
  /// Of an epoch that begins now.
  uint64_t seed() const { return options.shuffle.seed() ? *options.shuffle.seed() : streamSeed(stream); }
  int64_t epoch() const;
  Loader::Position position() const;
  void seek(int64_t epoch, int64_t batch);

  const Dataset set;
  const LoaderOptions options;
  /// Of seeds that manualSeed governs: one of its own where nothing else tells it from other shuffled loaders.
  const uint64_t stream;

  /// An iteration; its end ends the epoch.
  struct Run {
    Run(std::shared_ptr<LoaderCore> core, int64_t generation) : core(std::move(core)), generation(generation) {}
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;
    ~Run() { core->finish(generation); }
    const std::shared_ptr<LoaderCore> core;
    const int64_t generation;
    bool over = false;
  };
  /// False at the epoch's end.
  bool next(Run &run, Batch &batch);

private:
  /// What the threads of an epoch share and nobody changes.
  struct Plan {
    int64_t epoch, generation;
    uint64_t drawSeed; ///< of transformations
    std::vector<int64_t> order;
  };
  struct Slot {
    Batch batch;
    std::exception_ptr error;
    bool ready = false;
  };

  // Loading one batch (LoadBatch.cpp).
  Slot load(const Plan &plan, int64_t number);
  void fill(const Plan &plan, Batch &batch);
  void fillEmpty(const Plan &plan, Batch &batch, int64_t other);
  void gatherInto(const std::vector<TensorType> &types, Batch &batch);
  void collate(const Plan &plan, Batch &batch);
  Field allocate(const TensorType &type, int64_t count);
  void waitForStorage(const Plan &plan, const Batch &batch);
  bool cancelled(const Plan &plan) const { return plan.generation != generation.load(std::memory_order_relaxed); }
  static Random randomOf(const Plan &plan, int64_t sample) { return {plan.drawSeed, plan.epoch, sample}; }

  void startWorkers();
  void stopWorkers(std::unique_lock<std::mutex> &lock);
  void work();
  bool canTake() const;
  bool isOf(const Run &run) const { return plan && plan->generation == run.generation; }
  /// Drops what is loaded, and lets workers drop what they load. Nothing where this epoch is over already.
  void finish(int64_t generation);

  const std::shared_ptr<Buffers> buffers;
  const int64_t ahead; ///< batches that may be begun and not handed out
  Storage storage;
  int64_t batches = 0;

  mutable std::mutex mutex;
  std::condition_variable taken;  ///< workers wait for room or for their end
  std::condition_variable loaded; ///< the consumer waits for its batch
  std::condition_variable ended;  ///< simulated storage is left when an epoch is over
  std::vector<std::thread> threads;
  std::shared_ptr<const Plan> plan; ///< null between epochs
  std::vector<Slot> ring;
  std::atomic<int64_t> generation = 0; ///< the plan's, or another one: then what is being loaded is of no use
  int64_t nextTaken = 0, nextOut = 0, limit = 0;
  int64_t nextEpoch = 0, firstBatch = 0;
  bool stopping = false;
  LoaderStats counts;
};

} // namespace sprig::data
