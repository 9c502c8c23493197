// What a recording reads and sets on the host besides its arguments: keys of the compiled function, and its effects.
// For traces and variants.
#pragma once
#include "lib/Frontend/Record.h"

namespace sprig::frontend {

/// A setting that a recording has read before it set it itself.
struct Observation {
  const HostSetting *setting = nullptr;
  std::shared_ptr<const void> source; ///< null for what belongs to the thread
  uint64_t was = 0;
  std::string text; ///< "in training mode", when it was read
  std::string owner;

  bool holds() const { return setting->read(source.get()) == was; }
};

/// A switch that a recording has set, and what it is after the function.
struct SwitchEffect {
  std::shared_ptr<bool> flag;
  bool value = false;
  Parameter frozen; ///< whose flag it is; undefined for modes
};

/// The host as one recording sees it.
class HostState {
public:
  ~HostState() { restore(); }
  void observe(const HostSetting &setting, const std::shared_ptr<const void> &source, const std::string &owner);
  void set(const std::shared_ptr<bool> &flag, bool on, const Parameter &frozen);
  /// What has been read from outside, and set.
  std::vector<Observation> observations(bool takesGradients) const;
  std::vector<SwitchEffect> effects() const;

private:
  /// Gives the switches back the values that they had outside.
  void restore();
  struct Written {
    SwitchEffect effect;
    bool before;
  };
  std::vector<Observation> read;
  std::vector<Written> written;
};

/// Whether a parameter is trained; the source is Parameter::Cell::trainable. Asked for, or by use in what gradients may
/// be taken of.
extern const HostSetting kTrainable, kTrainableInUse;

} // namespace sprig::frontend
