// Groups of ranks as graphs name them: the attribute `mesh` of a collective is one of these.
// For those who record collectives, and for the Bridge, which declares the mesh in the module.
#pragma once
#include <string_view>

namespace sprig::frontend {

/// One rank's end of a group.
struct MeshPlace {
  int rank = 0, ranks = 0;
};

/// "@group7": a name that no other end of a group has or had, for good.
const char *newMesh(MeshPlace place);
/// Whose it is; of no ranks: there was no such group.
MeshPlace placeOnMesh(std::string_view name);

} // namespace sprig::frontend
