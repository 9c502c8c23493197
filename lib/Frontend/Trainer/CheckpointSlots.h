// The named arrays of a checkpoint, and where they go when it is loaded.
// For one-call checkpoints and the trainer's.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "sprig/tensor.h"
#include <functional>

namespace sprig::frontend {

class CheckpointSlots {
public:
  /// For the call at this line. `loaded`: the arrays that they are to be set to, if they are.
  explicit CheckpointSlots(Source at, const std::vector<data::Array> &loaded = {});

  struct Slot {
    std::string name;
    Tensor value; ///< of now
    std::function<void(const Tensor &)> set;
    bool isFixed = false; ///< what is loaded must be the same as now
    /// Whether what is loaded, of the right type, can be taken; none: always.
    std::function<bool(const Tensor &)> holds = {};
  };

  void add(const std::string &name, const Tensor &value, std::function<void(const Tensor &)> set,
           std::function<bool(const Tensor &)> holds = {}) {
    slots.push_back({name, value, std::move(set), false, std::move(holds)});
  }
  void add(const std::string &name, const Parameter &parameter) {
    add(name, parameter.value(at).detach(at), [parameter, at = at](const Tensor &value) { parameter.set(value, at); });
  }
  /// What a run must have in common with the one that it goes on from; `what` says it in the error.
  void addFixed(const std::string &name, const Tensor &value) { slots.push_back({name, value, {}, true}); }
  /// The names of what is loaded for this part of a checkpoint, without the part's own.
  std::vector<std::string> namesOf(const std::string &part) const;
  /// Seed and counter of the random numbers.
  void addRandomState();

  /// A line for each: its name and type.
  std::string types() const;
  /// The first name that is there twice; empty where there is none.
  std::string twice() const;
  /// Copies of the values, in their order. Waits for them.
  std::vector<data::Array> arrays() const;
  /// What does not fit, a line each; empty: everything does.
  std::string misfits(const std::vector<data::Array> &arrays) const;
  /// Sets everything; the arrays fit.
  void set(const std::vector<data::Array> &arrays) const;

  const Source at;

private:
  std::vector<std::string> loaded; ///< names
  std::vector<Slot> slots;
};

} // namespace sprig::frontend
