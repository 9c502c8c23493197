#include "sprig/data/loader.h"
#include "lib/Loader/LoaderCore.h"
#include "lib/Loader/Refuse.h"

namespace sprig::data {

const Field &Batch::host(size_t field, Source at) const {
  if (field >= arrays.size())
    refuse(at, "field " + std::to_string(field) + " (from 0) of a batch that has " + std::to_string(arrays.size()));
  return arrays[field];
}

void Batch::checkFields(size_t bound) const {
  if (bound != arrays.size())
    badUse("data: " + std::to_string(bound) + " names for a batch of " + std::to_string(arrays.size()) +
           " fields\nnote: write loader.fields<" + std::to_string(arrays.size()) + ">(), or take batch[0] and so on");
}

Loader::Loader(Dataset set, LoaderOptions options, Source at)
    : core(located(at, [&] { return std::make_shared<LoaderCore>(std::move(set), std::move(options)); })) {}

int64_t Loader::size() const { return core->batchesPerEpoch(); }
const Dataset &Loader::dataset() const { return core->set; }
const LoaderOptions &Loader::options() const { return core->options; }
LoaderStats Loader::stats() const { return core->stats(); }
uint64_t Loader::seed() const { return core->seed(); }
int64_t Loader::epoch() const { return core->epoch(); }
Loader::Position Loader::position() const { return core->position(); }
void Loader::seek(int64_t epoch, int64_t batch, Source at) {
  located(at, [&] { core->seek(epoch, batch); });
}

std::shared_ptr<void> Loader::start(LoaderCore &core) { return core.start(); }
bool Loader::next(void *run, Batch &batch) {
  auto &mine = *static_cast<LoaderCore::Run *>(run);
  return mine.core->next(mine, batch);
}

} // namespace sprig::data
