#include "tools/sprig/profile/StateRoles.h"
#include "lib/Training/StateNames.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/train/TrainNote.h"
#include <algorithm>
#include <set>

namespace sprig::cli {
namespace {

/// The indices of one kind of buffer that the entries for which `wanted` holds have.
template <typename Wanted> std::set<uint32_t> indicesRead(const Runner &runner, std::string_view kind, Wanted wanted) {
  std::set<uint32_t> indices;
  for (size_t entry = 0; entry < runner.entryCount(); ++entry) {
    sprig_rt_entry_info info = runner.entryInfo(entry);
    for (uint32_t i = 0; wanted(info) && i < info.buffer_count; ++i) {
      sprig_rt_buffer_info buffer;
      check(sprig_rt_package_buffer(runner.package(), uint32_t(entry), i, &buffer));
      if (buffer.kind == kind) indices.insert(buffer.index);
    }
  }
  return indices;
}

/// Of training's own state; the model's is `otherwise`.
StateRole roleByName(const std::string &name, StateRole otherwise) {
  if (name == training::kStep || name == training::kLr || name.starts_with(training::kRandomPrefix))
    return StateRole::counter;
  if (name.starts_with(training::kOptimizerPrefix)) return StateRole::optimizer;
  if (name.starts_with(training::kAveragePrefix)) return StateRole::average;
  return otherwise;
}

} // namespace

const char *roleName(StateRole role) {
  switch (role) {
  case StateRole::trained: return "trained";
  case StateRole::kept: return "not trained";
  case StateRole::optimizer: return "optimizer";
  case StateRole::average: return "average";
  case StateRole::counter: return "counter";
  case StateRole::cache: return "cache";
  case StateRole::weight: break;
  }
  return "weight";
}

std::vector<StateInfo> statesOf(const Runner &runner) {
  std::optional<TrainNote> note = trainNoteOf(runner);
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::set<uint32_t> changed =
      indicesRead(runner, "state", [](const sprig_rt_entry_info &entry) { return entry.updates_state != 0; });
  std::vector<StateInfo> states;
  for (uint32_t i = 0; i < info.state_count; ++i) {
    sprig_rt_tensor_info tensor;
    check(sprig_rt_package_state(runner.package(), i, &tensor));
    StateInfo state{{tensor.name, data::DType(tensor.dtype), {tensor.shape, tensor.shape + tensor.rank}}, tensor.bytes};
    state.whole = runner.package()->package->program().states[i].tensor.piece;
    StateRole own = changed.count(i) ? StateRole::cache : StateRole::weight;
    if (note) {
      bool isTrained = std::find(note->trainable.begin(), note->trainable.end(), tensor.name) != note->trainable.end();
      own = isTrained ? StateRole::trained : StateRole::kept;
    }
    state.role = roleByName(tensor.name, own);
    states.push_back(std::move(state));
  }
  return states;
}

std::vector<ConstantInfo> constantsRead(const Runner &runner) {
  std::vector<ConstantInfo> constants;
  for (uint32_t index : indicesRead(runner, "constant", [](const sprig_rt_entry_info &) { return true; })) {
    sprig_rt_constant_info constant;
    check(sprig_rt_package_constant(runner.package(), index, &constant));
    constants.push_back({constant.name, constant.bytes});
  }
  return constants;
}

} // namespace sprig::cli
