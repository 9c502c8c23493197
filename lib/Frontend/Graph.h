// Recorded graphs under the front-end's names.
// For all parts of the front-end.
#pragma once
#include "lib/Graph/Graph.h"

namespace sprig::frontend {
using namespace graph;
} // namespace sprig::frontend
