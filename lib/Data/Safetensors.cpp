// safetensors: 8 bytes of length, a JSON header {name: {dtype, shape, data_offsets}}, raw elements.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include "runtime/include/sprig/rt/utf8.hpp"
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

namespace sprig::data {
namespace {

constexpr std::pair<std::string_view, DType> kSafetensorsTypes[] = {
    {"F64", DType::f64}, {"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16}, {"I64", DType::i64},
    {"I32", DType::i32}, {"I16", DType::i16}, {"I8", DType::i8},   {"U64", DType::u64},   {"U32", DType::u32},
    {"U16", DType::u16}, {"U8", DType::u8},   {"BOOL", DType::i1}};
// The reference implementation's limit.
constexpr uint64_t kMaxHeader = 100'000'000;

} // namespace

std::vector<SafetensorsEntry> parseSafetensorsEntries(std::span<const char> bytes, const std::string &file) {
  auto fail = [&](const std::string &what) { badInput(file + ": not a sound safetensors file: " + what); };
  uint64_t headerSize = 0;
  if (bytes.size() < 8) fail("it has " + std::to_string(bytes.size()) + " bytes, the header's length alone takes 8");
  std::memcpy(&headerSize, bytes.data(), 8);
  if (headerSize > kMaxHeader || headerSize > bytes.size() - 8)
    fail("its header of " + std::to_string(headerSize) + " bytes ends past the file");
  // An object keeps the last one of two tensors of one name.
  std::set<std::string> names;
  auto onEvent = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json &value) {
    if (depth == 1 && event == nlohmann::json::parse_event_t::key && !names.insert(value.get<std::string>()).second)
      fail("it has two tensors '" + value.get<std::string>() + "'");
    return true;
  };
  auto header =
      nlohmann::json::parse(bytes.data() + 8, bytes.data() + 8 + headerSize, onEvent, /*allow_exceptions=*/false);
  if (!header.is_object()) fail("its header is no JSON object");
  std::span<const char> data = bytes.subspan(8 + headerSize);

  std::vector<SafetensorsEntry> arrays;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    refuseNul(name, file);
    auto shape = entry.find("shape"), dtype = entry.find("dtype"), offsets = entry.find("data_offsets");
    if (!entry.is_object() || shape == entry.end() || !shape->is_array() || dtype == entry.end() ||
        !dtype->is_string() || offsets == entry.end() || !offsets->is_array() || offsets->size() != 2)
      fail("tensor '" + name + "' lacks a dtype, shape or data_offsets");
    SafetensorsEntry array;
    array.name = name;
    std::string typeName = dtype->get<std::string>();
    auto type = std::find_if(std::begin(kSafetensorsTypes), std::end(kSafetensorsTypes),
                             [&](auto &t) { return t.first == typeName; });
    if (type == std::end(kSafetensorsTypes))
      fail("tensor '" + name + "' has the unknown element type '" + typeName + "'");
    array.dtype = type->second;
    for (auto &dim : *shape) {
      if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX)
        fail("tensor '" + name + "' has a bad dimension");
      array.shape.push_back(dim.get<int64_t>());
    }
    for (auto &offset : *offsets)
      if (!offset.is_number_unsigned()) fail("tensor '" + name + "' has bad data_offsets");
    uint64_t begin = (*offsets)[0], end = (*offsets)[1];
    auto expected = byteSize(array.dtype, array.shape);
    if (begin > end || end > data.size() || !expected || end - begin != uint64_t(*expected))
      fail("tensor '" + name + "' of " + describe(array.dtype, array.shape) + " has the range " +
           std::to_string(begin) + " to " + std::to_string(end) + " of " + std::to_string(data.size()) + " bytes");
    ranges.emplace_back(begin, end);
    array.bytes = data.subspan(begin, end - begin);
    arrays.push_back(std::move(array));
  }
  // Each byte belongs to one tensor, so that nothing is hidden in a file, and its tensors take no more memory than it.
  std::sort(ranges.begin(), ranges.end());
  uint64_t next = 0;
  for (auto [begin, end] : ranges) {
    if (begin < next) fail("two tensors share its bytes from " + std::to_string(begin) + " on");
    if (begin > next)
      fail("its bytes " + std::to_string(next) + " to " + std::to_string(begin) + " belong to no tensor");
    next = end;
  }
  if (next < data.size()) fail("its last " + std::to_string(data.size() - next) + " bytes belong to no tensor");
  return arrays;
}

std::vector<Array> parseSafetensors(std::span<const char> bytes, const std::string &file) {
  std::vector<Array> arrays;
  for (SafetensorsEntry &entry : parseSafetensorsEntries(bytes, file)) {
    arrays.push_back({entry.name, entry.dtype, entry.shape, {entry.bytes.begin(), entry.bytes.end()}});
    makeBooleans(arrays.back());
  }
  return arrays;
}

std::string safetensorsHeader(std::span<const Array> arrays) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const Array &array : arrays) {
    auto type = std::find_if(std::begin(kSafetensorsTypes), std::end(kSafetensorsTypes),
                             [&](auto &t) { return t.second == array.dtype; });
    uint64_t end = offset + uint64_t(byteSize(array.dtype, array.shape).value_or(0));
    refuseNul(array.name, "safetensors");
    std::string name = rt::validUtf8(array.name); // JSON holds no other text
    if (header.contains(name)) badInput("safetensors: two arrays are called '" + name + "'");
    header[name] = {{"dtype", std::string(type->first)}, {"shape", array.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  uint64_t size = text.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + text;
}

std::vector<char> formatSafetensors(std::span<const Array> arrays) {
  std::string header = safetensorsHeader(arrays);
  std::vector<char> result(header.begin(), header.end());
  for (const Array &array : arrays) result.insert(result.end(), array.bytes.begin(), array.bytes.end());
  return result;
}

} // namespace sprig::data
