// How the tiles of a dispatch are cut for threads: in units of some tiles each, of which a thread takes several at a
// time. For the runtime, which hands them out, and for the compiler, whose grains put their ends between cache lines.
#ifndef SPRIG_RUNTIME_FORMAT_UNITS_H
#define SPRIG_RUNTIME_FORMAT_UNITS_H

#include <algorithm>
#include <cstdint>

namespace sprig::rt::format {

inline constexpr int64_t kMostUnits = 1024;
inline constexpr int64_t kUnitsOfGrain = 4; // a last slice may be shorter than what is worth a thread, but not much

/// Tiles of a unit, of a dispatch of at least one tile and a grain of at least one.
inline int64_t tilesOfUnit(int64_t tiles, int64_t grain) {
  return std::max((tiles - 1) / kMostUnits + 1, grain / kUnitsOfGrain);
}

} // namespace sprig::rt::format

#endif
