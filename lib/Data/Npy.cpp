// NumPy's .npy: magic, version, a Python dictionary {'descr', 'fortran_order', 'shape'}, raw elements.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include <algorithm>
#include <cctype>
#include <cstring>

namespace sprig::data {
namespace {

struct NumpyType {
  std::string_view code; // without the byte order
  DType dtype;
};
// bf16 has no code of its own in NumPy; files of ml_dtypes say V2, which could be anything, so it is not read.
constexpr NumpyType kNumpyTypes[] = {{"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},
                                     {"i4", DType::i32}, {"i2", DType::i16}, {"i1", DType::i8},  {"u8", DType::u64},
                                     {"u4", DType::u32}, {"u2", DType::u16}, {"u1", DType::u8},  {"b1", DType::i1}};

// Reads the dictionary literal of the header.
class Header {
public:
  Header(std::string_view text, const std::string &file) : text(text), file(file) {}

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

  void parse() {
    bool haveDescr = false, haveOrder = false, haveShape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = quoted();
      expect(':');
      if (key == "descr" && !haveDescr) {
        haveDescr = true;
        descr = quoted();
      } else if (key == "fortran_order" && !haveOrder) {
        haveOrder = true;
        fortran = boolean();
      } else if (key == "shape" && !haveShape) {
        haveShape = true;
        tuple();
      } else {
        fail("unexpected key '" + key + "' in the header");
      }
      accept(',');
    }
    if (!haveDescr || !haveOrder || !haveShape) fail("the header lacks descr, fortran_order or shape");
  }

private:
  std::string_view text;
  const std::string &file;
  size_t at = 0;

  [[noreturn]] void fail(const std::string &what) { badInput(file + ": not a sound .npy file: " + what); }
  void skip() {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  }
  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "' in the header");
  }
  std::string quoted() {
    skip();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      fail("expected a quoted word in the header (structured types are not supported)");
    size_t end = text.find(text[at], at + 1);
    if (end == std::string_view::npos) fail("unterminated word in the header");
    std::string word(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return word;
  }
  bool boolean() {
    skip();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(at, word.size()) == word) {
        at += word.size();
        return value;
      }
    }
    fail("expected True or False in the header");
  }
  void tuple() {
    expect('(');
    while (!accept(')')) {
      skip();
      size_t start = at;
      int64_t value = 0;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])))
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[at++] - '0', &value))
          fail("a dimension is too large");
      if (at == start) fail("expected a dimension in the header");
      shape.push_back(value);
      if (shape.size() > 64) fail("more than 64 dimensions");
      accept(',');
    }
  }
};

// Rewrites column-major elements in row-major order.
std::vector<char> toRowMajor(const std::vector<int64_t> &shape, int64_t elementSize, std::span<const char> source) {
  std::vector<char> result(source.size());
  std::vector<int64_t> index(shape.size(), 0), strides(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * shape[d - 1];
  int64_t count = int64_t(source.size()) / elementSize;
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d) from += index[d] * strides[d];
    std::memcpy(result.data() + i * elementSize, source.data() + from * elementSize, size_t(elementSize));
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return result;
}

} // namespace

void makeBooleans(Array &array) {
  if (array.dtype == DType::i1)
    for (char &byte : array.bytes) byte = byte != 0;
}

void swapBytes(std::span<char> bytes, int64_t elementSize) {
  for (size_t i = 0; i + size_t(elementSize) <= bytes.size(); i += size_t(elementSize))
    std::reverse(bytes.begin() + ptrdiff_t(i), bytes.begin() + ptrdiff_t(i) + elementSize);
}

NpyHeader parseNpyHeader(std::span<const char> bytes, int64_t fileSize, const std::string &file) {
  auto fail = [&](const std::string &what) { badInput(file + ": not a sound .npy file: " + what); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    fail("it does not start with the magic bytes");
  auto byte = [&](size_t i) { return size_t(static_cast<unsigned char>(bytes[i])); };
  size_t version = byte(6), lengthBytes = version == 1 ? 2 : 4, headerSize = 0;
  if (version < 1 || version > 3) fail("version " + std::to_string(version) + ", expected 1 to 3");
  if (bytes.size() < 8 + lengthBytes) fail("truncated header");
  for (size_t i = lengthBytes; i-- > 0;) headerSize = headerSize << 8 | byte(8 + i);
  size_t start = 8 + lengthBytes + headerSize;
  if (start > bytes.size()) fail("its header of " + std::to_string(headerSize) + " bytes ends past the file");
  Header header({bytes.data() + 8 + lengthBytes, headerSize}, file);
  header.parse();

  NpyHeader result;
  std::string_view code = header.descr;
  result.swap = !code.empty() && code[0] == '>';
  if (!code.empty() && std::strchr("<>|=", code[0])) code.remove_prefix(1);
  auto type =
      std::find_if(std::begin(kNumpyTypes), std::end(kNumpyTypes), [&](const NumpyType &t) { return t.code == code; });
  if (type == std::end(kNumpyTypes))
    badInput(file + ": element type '" + header.descr + "' is not supported (numbers and booleans are)");
  result.dtype = type->dtype;
  result.shape = header.shape;
  result.fortran = header.fortran && result.shape.size() > 1;
  result.start = start;
  auto expected = byteSize(result.dtype, result.shape);
  if (!expected || *expected != fileSize - int64_t(start))
    fail("an array of " + describe(result.dtype, result.shape) + " takes " +
         (expected ? std::to_string(*expected) : "too many") + " bytes, the file has " +
         std::to_string(fileSize - int64_t(start)));
  return result;
}

Array parseNpy(std::span<const char> bytes, const std::string &file) {
  NpyHeader header = parseNpyHeader(bytes, int64_t(bytes.size()), file);
  Array array;
  array.dtype = header.dtype;
  array.shape = header.shape;
  std::span<const char> data = bytes.subspan(header.start);
  int64_t step = size(array.dtype);
  if (header.fortran)
    array.bytes = toRowMajor(array.shape, step, data);
  else
    array.bytes.assign(data.begin(), data.end());
  if (header.swap) swapBytes(array.bytes, step);
  makeBooleans(array);
  return array;
}

std::vector<char> formatNpy(const Array &array) {
  auto type = std::find_if(std::begin(kNumpyTypes), std::end(kNumpyTypes),
                           [&](const NumpyType &t) { return t.dtype == array.dtype; });
  if (type == std::end(kNumpyTypes))
    badUse("'" + array.name + "' is " + describe(array) + ", which .npy cannot hold (safetensors can)");
  std::string header = std::string("{'descr': '") + (size(array.dtype) == 1 ? "|" : "<") + std::string(type->code) +
                       "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i)
    header += std::to_string(array.shape[i]) + (i == 0 || i + 1 < array.shape.size() ? "," : "") +
              (i + 1 < array.shape.size() ? " " : "");
  header += "), }";
  // Elements start at a multiple of 64 bytes.
  header.append((64 - (10 + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string prefix = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, char(header.size() & 255), char(header.size() >> 8)};
  std::vector<char> result(prefix.begin(), prefix.end());
  result.insert(result.end(), header.begin(), header.end());
  result.insert(result.end(), array.bytes.begin(), array.bytes.end());
  return result;
}

} // namespace sprig::data
