#include "lib/Frontend/Base/Meshes.h"
#include "lib/Graph/Attr.h"
#include <map>
#include <mutex>

namespace sprig::frontend {

namespace {
struct Meshes {
  std::mutex mutex;
  std::map<std::string, MeshPlace, std::less<>> places;
};
Meshes &meshes() {
  static auto &all = *new Meshes;
  return all;
}
} // namespace

const char *newMesh(MeshPlace place) {
  Meshes &all = meshes();
  std::lock_guard lock(all.mutex);
  const std::string &name = graph::intern("@group" + std::to_string(all.places.size()));
  all.places[name] = place;
  return name.c_str();
}

MeshPlace placeOnMesh(std::string_view name) {
  Meshes &all = meshes();
  std::lock_guard lock(all.mutex);
  auto found = all.places.find(name);
  return found == all.places.end() ? MeshPlace() : found->second;
}

} // namespace sprig::frontend
