#include "lib/Frontend/Base/Place.h"

namespace sprig {

void Parameter::followPlace(const Parameter &other) noexcept { other.place->followedBy(*this); }

Parameter &Parameter::assign(const Parameter &other) {
  if (this != &other) (place ? place : other.place)->assign(*this, other);
  return *this;
}

void Parameter::leavePlace() noexcept { place->leave(); }

} // namespace sprig
