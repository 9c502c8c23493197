// What the order of accesses costs: strides, directions, rows against columns. The same plain loop of one load after
// the other each time, so that only the addresses differ. For `sprig bench memory`.
#pragma once
#include <cstdint>

namespace sprig::machine {

/// ns for each of `count` 4-byte loads that are `stride` elements apart; the array is `count * |stride|` long, and a
/// negative stride goes through it backwards.
double stridedNs(int64_t count, int64_t stride);

/// ns a load of the first `columns` columns of a square matrix of floats, row by row or column by column.
double matrixNs(int64_t size, int64_t columns, bool byColumn);

} // namespace sprig::machine
