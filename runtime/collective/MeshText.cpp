#include "runtime/collective/MeshText.h"

#include <charconv>

namespace sprig::rt::collective {

std::string parseMesh(std::string_view text, std::vector<MeshAxis> &axes) {
  while (true) {
    std::string_view item = text.substr(0, text.find(',')), number;
    size_t equals = item.find('=');
    if (equals != item.npos) number = item.substr(equals + 1);
    MeshAxis axis{std::string(item.substr(0, equals)), 0};
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), axis.ranks);
    if (axis.name.empty() || error != std::errc() || end != number.data() + number.size() || axis.ranks < 1)
      return "expected axes with their numbers of ranks, as data=2,model=4, found '" + std::string(item) + "'";
    for (const MeshAxis &other : axes)
      if (other.name == axis.name) return "the axis '" + axis.name + "' is there twice";
    axes.push_back(std::move(axis));
    if (item.size() == text.size()) return "";
    text.remove_prefix(item.size() + 1);
  }
}

} // namespace sprig::rt::collective
