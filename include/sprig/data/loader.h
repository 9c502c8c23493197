// Batches of a data set, loaded by worker threads while the last one is being used.
// For programs: `for (auto [x, y] : data::Loader(train, {.batch = 64, .shuffle = true}))` is an epoch. A seed's order
// and batches are the same with any number of workers. One thread iterates a loader at a time.
#pragma once
#include "sprig/data/dataset.h"
#include "sprig/data/storage.h"
#include <concepts>
#include <functional>
#include <iterator>
#include <optional>

namespace sprig::data {

/// Half of the cores that this process may use, 1 to 8: the step wants the others.
inline constexpr int kAutomaticWorkers = -1;
/// As many as a short measurement finds worth it, when the loader is made: the least of 0, 1, 2, 4 and 8 that load as
/// many batches a second as any, within 5 %. Takes some 0.3 s, and of slow storage what some 30 batches take.
inline constexpr int kMeasuredWorkers = -2;

using Transform = std::function<Sample(Sample, Random &)>;

/// Whether epochs have random orders, and by which seed.
class Shuffle {
public:
  /// As the data set is.
  Shuffle() = default;
  Shuffle(std::nullopt_t) {}
  /// true: by a seed of the process's random numbers, which manualSeed governs.
  template <std::same_as<bool> T> Shuffle(T on) : on(on) {}
  /// By this seed, whatever manualSeed says.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Shuffle(T seed) : on(true), given(uint64_t(seed)) {}
  Shuffle(std::optional<uint64_t> seed) : on(seed.has_value()), given(seed) {}

  explicit operator bool() const { return on; }
  /// The seed that was given.
  std::optional<uint64_t> seed() const { return given; }

private:
  bool on = false;
  std::optional<uint64_t> given;
};

struct LoaderOptions {
  int64_t batch = 64;                          ///< samples of a batch, of all ranks together
  Shuffle shuffle = {};                        ///< true, or a seed: every epoch has an order of its own
  int workers = kAutomaticWorkers;             ///< threads; 0: batches are loaded by the thread that asks for them
  int prefetch = 2;                            ///< batches that each worker may be ahead
  bool dropLast = false;                       ///< leaves out an epoch's last batch where it is smaller
  bool persistentWorkers = true;               ///< threads live as long as the loader; false: for an epoch
  IoDelay ioDelay = {};                        ///< simulated storage
  Transform transform = {};                    ///< of each sample, in the workers
  std::optional<uint64_t> seed = std::nullopt; ///< of what transformations draw; none: that of shuffle, or manualSeed's
  /// Of several ranks (sprig/dist.h) each loads its share of every batch: all ranks' shares are the batch that one
  /// would load. With `shuffle` that needs a seed of its own.
  int rank = 0, ranks = 1;
  /// Of the shares, one above 0 for each rank, as `sprig train --shares` has them; none: sizes differ by one at most.
  std::vector<int64_t> weights = {};
  /// Parts of a batch one after the other, of each of which a rank has its share.
  int64_t passes = 1;
};

/// Which field, and the caller's line: the argument of operator[].
struct FieldNumber {
  template <std::integral T> FieldNumber(T number, Source at = Source::here()) : number(size_t(number)), at(at) {}
  size_t number;
  Source at;
};

/// Samples one after the other: each field has one dimension more than a sample's.
class Batch {
public:
  Batch() = default;
  /// Number of samples; an epoch's last batch may have fewer than the others, and a rank's share may have none.
  int64_t size() const { return int64_t(order.size()); }
  /// Of all ranks together: what a sum over samples is divided by.
  int64_t samplesOfRanks() const { return itsSamples; }
  size_t fields() const { return arrays.size(); }
  /// A field as a tensor, without a copy. Throws Error (usage) where there is none of this number.
  Tensor operator[](const FieldNumber &field) const { return host(field.number, field.at).tensor(); }
  Tensor x(Source at = Source::here()) const { return host(0, at).tensor(); }
  Tensor y(Source at = Source::here()) const { return host(1, at).tensor(); }
  /// The same in host memory.
  SPRIG_API const Field &host(size_t field, Source at = Source::here()) const;
  /// The samples' indices in the data set.
  std::span<const int64_t> indices() const { return order; }
  int64_t epoch() const { return itsEpoch; }
  int64_t number() const { return itsNumber; } ///< within its epoch, from 0

  /// Throws Error (usage) unless there are as many fields as a structured binding names.
  SPRIG_API void checkFields(size_t bound) const;

private:
  friend class LoaderCore;
  std::vector<Field> arrays;
  std::vector<int64_t> order;
  int64_t itsEpoch = 0, itsNumber = 0, itsSamples = 0;
};

/// A batch whose structured binding has N names.
template <size_t N> class BatchOf : public Batch {
public:
  BatchOf() = default;
  BatchOf(Batch batch) : Batch(std::move(batch)) {}
};

struct LoaderStats {
  double waitSeconds = 0; ///< that the consumer waited for batches
  double loadSeconds = 0; ///< that batches took to load, summed over workers
  int64_t batches = 0;    ///< that were handed out
  int64_t samples = 0;
  int64_t workerStarts = 0; ///< threads that were started
  int64_t mostAhead = 0;    ///< the most batches that were loaded or being loaded and not handed out
  int64_t buffers = 0;      ///< arrays that were allocated; the others reuse memory that was let go
};

class LoaderCore; // lib/Loader/LoaderCore.h

class Loader {
public:
  /// Throws Error (usage) for options that make no sense, badInput for an empty data set. Starts no thread yet.
  SPRIG_API explicit Loader(Dataset set, LoaderOptions options = {}, Source at = Source::here());

  /// Batches of an epoch.
  SPRIG_API int64_t size() const;
  SPRIG_API const Dataset &dataset() const;
  /// With the number of workers that was chosen.
  SPRIG_API const LoaderOptions &options() const;
  /// Since the loader was made.
  SPRIG_API LoaderStats stats() const;

  /// The seed of the order of an epoch that begins now: the one that shuffle gives, else one that follows from
  /// manualSeed's and from how many shuffled loaders without a seed were made after it before this one.
  SPRIG_API uint64_t seed() const;
  /// The number of the next epoch, from 0; each begin() takes the next.
  SPRIG_API int64_t epoch() const;
  struct Position {
    int64_t epoch = 0, batch = 0;
    bool operator==(const Position &) const = default;
  };
  /// The batch after the last one that was handed out; the first of the next epoch where no iteration is going on.
  SPRIG_API Position position() const;
  /// The next begin() starts at this batch of this epoch: how a resumed run goes on.
  SPRIG_API void seek(int64_t epoch, int64_t batch = 0, Source at = Source::here());

  class End {};
  /// A single pass. Dropping it, by break or an exception, ends the epoch: workers stop at their next sample.
  template <typename B> class Iterator {
  public:
    using value_type = B;
    using difference_type = std::ptrdiff_t;
    Iterator(Iterator &&) = default;
    Iterator &operator=(Iterator &&) = default;
    const B &operator*() const { return batch; }
    const B *operator->() const { return &batch; }
    /// Waits for the next batch; throws what loading it threw, as Error with the sample's index.
    Iterator &operator++() {
      batch = B(); // gives its memory back before more is asked for
      load();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(End) const { return !more; }

  private:
    friend class Loader;
    explicit Iterator(std::shared_ptr<void> run) : run(std::move(run)) { load(); }
    void load() {
      Batch next;
      more = Loader::next(run.get(), next);
      if (more) batch = B(std::move(next));
    }
    std::shared_ptr<void> run; ///< ends the epoch when it goes
    B batch;
    bool more = false;
  };

  /// Starts the next epoch; an earlier iteration that is not at its end is over then.
  Iterator<Batch> begin() { return Iterator<Batch>(start(*core)); }
  End end() const { return {}; }

  /// For samples of other than two fields: `for (auto [x, y, weight] : loader.fields<3>())`.
  template <size_t N> struct View {
    std::shared_ptr<LoaderCore> core;
    Iterator<BatchOf<N>> begin() { return Iterator<BatchOf<N>>(Loader::start(*core)); }
    End end() const { return {}; }
  };
  template <size_t N> View<N> fields() const { return {core}; }

private:
  SPRIG_API static std::shared_ptr<void> start(LoaderCore &core);
  SPRIG_API static bool next(void *run, Batch &batch);
  std::shared_ptr<LoaderCore> core;
};

template <size_t I> Tensor get(const Batch &batch) {
  if constexpr (I == 0) batch.checkFields(2);
  return batch[{I, Source()}];
}
template <size_t I, size_t N> Tensor get(const BatchOf<N> &batch) {
  if constexpr (I == 0) batch.checkFields(N);
  return batch[{I, Source()}];
}

} // namespace sprig::data

// What structured bindings ask for.
/// \cond
template <> struct std::tuple_size<sprig::data::Batch> : std::integral_constant<size_t, 2> {};
template <size_t I> struct std::tuple_element<I, sprig::data::Batch> {
  using type = sprig::Tensor;
};
template <size_t N> struct std::tuple_size<sprig::data::BatchOf<N>> : std::integral_constant<size_t, N> {};
template <size_t I, size_t N> struct std::tuple_element<I, sprig::data::BatchOf<N>> {
  using type = sprig::Tensor;
};
/// \endcond
