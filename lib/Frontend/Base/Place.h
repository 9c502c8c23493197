// Where a handle that is a member of a module is registered: for `layer.weight = ...`, which registers the new
// parameter. For Parameter, which knows only that there is such a thing; lib/Frontend/Layers/Members.h is what it is.
#pragma once
#include "sprig/tensor.h"

namespace sprig::frontend {

class Place {
public:
  /// The handle that has this place was copied or moved to another one, which has none yet.
  virtual void followedBy(Parameter &copy) noexcept = 0;
  /// to = from, where one of them has this place.
  virtual void assign(Parameter &to, const Parameter &from) = 0;
  /// The handle dies.
  virtual void leave() noexcept = 0;

protected:
  ~Place() = default;
};

/// The parts of a parameter that its own operations must not go through.
struct PlaceAccess {
  static std::shared_ptr<Parameter::Cell> &cell(Parameter &parameter) { return parameter.cell; }
  /// A new handle, which join(handle) gives a place where it stays.
  template <typename Join> static Parameter joined(const Parameter &shared, const Join &join) {
    return Parameter(shared, join);
  }
  static Place *&place(const Parameter &parameter) { return const_cast<Parameter &>(parameter).place; }
};

} // namespace sprig::frontend
