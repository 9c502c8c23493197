#include "lib/Frontend/Base/Meshes.h"
#include "lib/Graph/Attr.h"
#include <map>
#include <mutex>

namespace sprig::frontend {

namespace {
struct Meshes {
  std::mutex mutex;
  std::map<std::string, int, std::less<>> ranks;
};
Meshes &meshes() {
  static auto &all = *new Meshes;
  return all;
}
} // namespace

const char *newMesh(int ranks) {
  Meshes &all = meshes();
  std::lock_guard lock(all.mutex);
  const std::string &name = graph::intern("@group" + std::to_string(all.ranks.size()));
  all.ranks[name] = ranks;
  return name.c_str();
}

int ranksOfMesh(std::string_view name) {
  Meshes &all = meshes();
  std::lock_guard lock(all.mutex);
  auto found = all.ranks.find(name);
  return found == all.ranks.end() ? 0 : found->second;
}

} // namespace sprig::frontend
