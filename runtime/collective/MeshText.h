// A mesh as text: its axes, and how many ranks each has. For whoever is given one: the command line and the compiler.
#ifndef SPRIG_RUNTIME_COLLECTIVE_MESHTEXT_H
#define SPRIG_RUNTIME_COLLECTIVE_MESHTEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::rt::collective {

struct MeshAxis {
  std::string name;
  int64_t ranks = 1;
};

// Reads "data=2,model=4". Returns what is wrong with it, in words; nothing where it is a mesh.
std::string parseMesh(std::string_view text, std::vector<MeshAxis> &axes);

} // namespace sprig::rt::collective

#endif
