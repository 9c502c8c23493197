// One batch: samples into memory, with the simulated time that storage takes.
#include "lib/Loader/LoaderCore.h"
#include "runtime/collective/Shares.h"
#include "sprig/rt/profile.hpp"
#include <cstring>

namespace sprig::data {
namespace {

// A failure of one sample, with its index. The exception that it was is nested in it.
[[noreturn]] void failAt(int64_t sample, const Batch &batch) {
  std::string where = "data: sample " + std::to_string(sample) + " (batch " + std::to_string(batch.number()) +
                      " of epoch " + std::to_string(batch.epoch()) + "): ";
  try {
    throw;
  } catch (const Error &error) {
    std::throw_with_nested(Error(error.kind(), where + error.what()));
  } catch (const std::exception &error) {
    std::throw_with_nested(Error(ErrorKind::runtime, where + error.what()));
  } catch (...) {
    std::throw_with_nested(Error(ErrorKind::runtime, where + "an exception that is no std::exception"));
  }
}

} // namespace

Field LoaderCore::allocate(const TensorType &type, int64_t count) {
  Shape shape = {count};
  for (int64_t size : type.shape) shape.push_back(size);
  TensorType all{type.dtype, shape};
  return Field(all, buffers->take(all.bytes()), paddedBytes(all.bytes()), true);
}

// Without a transformation, samples of known types go to their place in one pass for each field.
void LoaderCore::gatherInto(const std::vector<TensorType> &types, Batch &batch) {
  std::vector<void *> fields;
  for (const TensorType &type : types) {
    batch.arrays.push_back(allocate(type, batch.size()));
    fields.push_back(const_cast<void *>(batch.arrays.back().bytes()));
  }
  try {
    set.raw()->gather(batch.order, fields);
  } catch (...) {
    // Whose sample was it? Asked one by one, the first that fails says so.
    for (int64_t index : batch.order) {
      try {
        set.raw()->gather({&index, 1}, fields);
      } catch (...) {
        failAt(index, batch);
      }
    }
    throw;
  }
}

void LoaderCore::collate(const Plan &plan, Batch &batch) {
  std::vector<TensorType> types;
  int64_t first = batch.order[0], done = 0;
  for (int64_t index : batch.order) {
    if (cancelled(plan)) return;
    try {
      Random random = randomOf(plan, index);
      Sample sample = set.get(index, random, Source());
      if (options.transform) sample = options.transform(std::move(sample), random);
      if (sample.size() == 0) badUse("has no field");
      if (done && sample.size() != types.size())
        badInput("has " + std::to_string(sample.size()) + " fields, sample " + std::to_string(first) + " has " +
                 std::to_string(types.size()));
      for (size_t f = 0; f < sample.size(); ++f) {
        const Field &field = sample[f];
        if (!field.defined()) badUse("field " + std::to_string(f) + " was never set");
        if (!done) {
          types.push_back(field.type());
          batch.arrays.push_back(allocate(field.type(), batch.size()));
        }
        if (field.type() != types[f])
          badInput("field " + std::to_string(f) + " is " + sprig::describe(field.type()) + ", that of sample " +
                   std::to_string(first) + " of the same batch is " + sprig::describe(types[f]));
        int64_t bytes = field.type().bytes();
        char *to = static_cast<char *>(const_cast<void *>(batch.arrays[f].bytes())) + done * bytes;
        if (bytes) std::memcpy(to, field.bytes(), size_t(bytes));
      }
    } catch (...) {
      failAt(index, batch);
    }
    ++done;
  }
}

void LoaderCore::waitForStorage(const Plan &plan, const Batch &batch) {
  if (options.ioDelay.none() || cancelled(plan)) return;
  int64_t bytes = 0;
  for (const Field &field : batch.arrays) bytes += field.type().bytes();
  auto done = storage.read(batch.order, bytes / batch.size(), Storage::Clock::now());
  std::unique_lock lock(mutex);
  ended.wait_until(lock, done, [&] { return cancelled(plan); });
}

void LoaderCore::fill(const Plan &plan, Batch &batch) {
  int64_t begin = batch.itsNumber * options.batch;
  batch.itsSamples = std::min(options.batch, int64_t(plan.order.size()) - begin);
  batch.order.clear();
  for (int64_t pass = 0; pass < options.passes; ++pass) {
    auto part = rt::collective::pieceOf(batch.itsSamples, uint32_t(options.passes), uint32_t(pass));
    auto share = rt::collective::shareOf(part.size(), uint32_t(options.ranks), options.weights, uint32_t(options.rank));
    auto first = plan.order.begin() + begin + part.begin;
    batch.order.insert(batch.order.end(), first + share.begin, first + share.end);
  }
  if (batch.order.empty()) return fillEmpty(plan, batch, plan.order[size_t(begin)]);
  std::vector<TensorType> types;
  if (!options.transform) types = set.raw()->types();
  if (types.empty())
    collate(plan, batch);
  else
    gatherInto(types, batch);
  waitForStorage(plan, batch);
}

// No samples, but fields: a sample of another rank says which.
void LoaderCore::fillEmpty(const Plan &plan, Batch &batch, int64_t other) {
  batch.order = {other};
  collate(plan, batch);
  batch.order.clear();
  for (Field &field : batch.arrays) {
    TensorType type = field.type();
    type.shape = Shape(type.shape.data() + 1, size_t(type.shape.rank() - 1));
    field = allocate(type, 0);
  }
}

LoaderCore::Slot LoaderCore::load(const Plan &plan, int64_t number) {
  Slot slot;
  slot.ready = true;
  slot.batch.itsEpoch = plan.epoch;
  slot.batch.itsNumber = number;
  rt::ProfileScope scope("load batch");
  try {
    fill(plan, slot.batch);
  } catch (...) {
    slot.batch = Batch();
    slot.error = std::current_exception();
  }
  return slot;
}

} // namespace sprig::data
