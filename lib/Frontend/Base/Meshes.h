// Groups of ranks as graphs name them: the attribute `mesh` of a collective is one of these.
// For those who record collectives, and for the Bridge, which declares the mesh in the module.
#pragma once
#include <string_view>

namespace sprig::frontend {

/// "@group7": a name that no other group has or had, for good.
const char *newMesh(int ranks);
/// Of how many ranks it is; 0: there was no such group.
int ranksOfMesh(std::string_view name);

} // namespace sprig::frontend
