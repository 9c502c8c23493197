// Tables of numbers as text. Numbers are read by the C locale's rules whatever the user's is.
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include <algorithm>
#include <charconv>
#include <cstring>

namespace sprig::data {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf"; // UTF-8's byte order mark, which spreadsheets write

std::string_view trim(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view unquote(std::string_view field) {
  field = trim(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = trim(field.substr(1, field.size() - 2));
  return field;
}

// A number of a table: exact as an integer as long as all are.
struct Number {
  double value = 0;
  int64_t integer = 0;
  bool isInteger = false;
};

bool parseNumber(std::string_view field, Number &number) {
  if (!field.empty() && field[0] == '+') field.remove_prefix(1);
  if (field.empty()) return false;
  const char *end = field.data() + field.size();
  auto whole = std::from_chars(field.data(), end, number.integer);
  number.isInteger = whole.ec == std::errc() && whole.ptr == end;
  if (number.isInteger) {
    number.value = double(number.integer);
    return true;
  }
  auto real = std::from_chars(field.data(), end, number.value);
  return real.ec == std::errc() && real.ptr == end; // out of range too is no number of a table
}

class Table {
public:
  Table(std::string_view text, const std::string &file) : text(text), file(file) {}

  Array read() {
    if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
    size_t line = 0;
    for (bool first = true; !text.empty();) {
      std::string_view row = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), row.size() + 1));
      ++line;
      if (trim(row).empty()) continue;
      if (first) {
        separator = separatorOf(row);
        first = false;
        if (isHeader(row)) continue;
      }
      readRow(row, line);
    }
    if (rows == 0) fail("it has no row of numbers");
    return finish();
  }

private:
  std::string_view text;
  const std::string &file;
  char separator = ','; // a blank stands for any run of blanks
  size_t columns = 0, columnsFrom = 0;
  int64_t rows = 0;
  bool integers = true;
  std::vector<int64_t> whole; // while all are integers
  std::vector<float> real;    // from the first that is not

  [[noreturn]] void fail(const std::string &what) { badInput(file + ": not a table of numbers: " + what); }

  static char separatorOf(std::string_view row) {
    for (char c : {',', ';', '\t'})
      if (row.find(c) != std::string_view::npos) return c;
    return ' ';
  }

  template <typename Each> void forFields(std::string_view row, Each each) {
    if (separator == ' ') {
      while (!(row = trim(row)).empty()) {
        std::string_view field = row.substr(0, row.find_first_of(" \t"));
        row.remove_prefix(field.size());
        each(unquote(field));
      }
      return;
    }
    for (bool more = true; more;) {
      size_t end = row.find(separator);
      more = end != std::string_view::npos;
      each(unquote(row.substr(0, end)));
      if (more) row.remove_prefix(end + 1);
    }
  }

  // Names of columns: no field is a number.
  bool isHeader(std::string_view row) {
    bool names = true;
    Number number;
    forFields(row, [&](std::string_view field) { names &= !field.empty() && !parseNumber(field, number); });
    return names;
  }

  void readRow(std::string_view row, size_t line) {
    size_t column = 0;
    forFields(row, [&](std::string_view field) {
      ++column;
      Number number;
      if (!parseNumber(field, number))
        fail("line " + std::to_string(line) + ", column " + std::to_string(column) + ": found \"" +
             std::string(field.substr(0, 40)) + "\", expected a number");
      add(number);
    });
    if (rows++ == 0) {
      columns = column;
      columnsFrom = line;
    } else if (column != columns) {
      fail("line " + std::to_string(line) + " has " + std::to_string(column) + " columns, line " +
           std::to_string(columnsFrom) + " has " + std::to_string(columns));
    }
  }

  void add(const Number &number) {
    if (integers && !number.isInteger) {
      integers = false;
      real.assign(whole.begin(), whole.end());
      whole = {};
    }
    if (integers)
      whole.push_back(number.integer);
    else
      real.push_back(float(number.value));
  }

  Array finish() {
    Array array;
    array.dtype = integers ? DType::i64 : DType::f32;
    array.shape = {rows};
    if (columns != 1) array.shape.push_back(int64_t(columns));
    const void *data = integers ? static_cast<const void *>(whole.data()) : real.data();
    array.bytes.resize(size_t(array.elements() * size(array.dtype)));
    std::memcpy(array.bytes.data(), data, array.bytes.size());
    return array;
  }
};

} // namespace

bool isText(std::span<const char> bytes) {
  std::string_view head(bytes.data(), std::min<size_t>(bytes.size(), 4096));
  return std::all_of(head.begin(), head.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

Array parseCsv(std::span<const char> bytes, const std::string &file) {
  return Table({bytes.data(), bytes.size()}, file).read();
}

} // namespace sprig::data
