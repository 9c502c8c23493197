#include "lib/Graph/Attr.h"
#include <mutex>
#include <unordered_map>

namespace sprig::graph {

namespace {
// Never destroyed: names are used until the last thread ends.
template <typename T> struct Table {
  std::mutex mutex;
  std::unordered_map<std::string, T> rows;
};
} // namespace

const OpName &opName(std::string_view text) {
  static auto &table = *new Table<OpName>;
  std::lock_guard lock(table.mutex);
  auto [row, isNew] = table.rows.try_emplace(std::string(text));
  if (isNew) row->second = {row->first, std::hash<std::string_view>()(text) | 1};
  return row->second;
}

const std::string &intern(std::string_view text) {
  static auto &table = *new Table<char>;
  std::lock_guard lock(table.mutex);
  return table.rows.try_emplace(std::string(text)).first->first;
}

} // namespace sprig::graph
