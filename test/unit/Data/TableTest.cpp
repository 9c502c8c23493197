// IDX and CSV files.
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/error.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::data;

namespace {

std::span<const char> bytesOf(const std::string &text) { return {text.data(), text.size()}; }

template <typename Parse> std::string parseRefusal(Parse parse, const std::string &text) {
  try {
    parse(bytesOf(text), "f");
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::badInput);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

std::string idx(unsigned char type, std::vector<uint32_t> shape, const std::string &data) {
  std::string text = {'\0', '\0', char(type), char(shape.size())};
  for (uint32_t dim : shape) text += {char(dim >> 24), char(dim >> 16), char(dim >> 8), char(dim)};
  return text + data;
}

template <typename T> std::vector<T> elements(const Array &array) {
  std::vector<T> result(array.bytes.size() / sizeof(T));
  if (!array.bytes.empty()) std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

Array csv(const std::string &text) { return parseCsv(bytesOf(text), "f"); }
std::string csvRefusal(const std::string &text) { return parseRefusal(parseCsv, text); }

} // namespace

TEST(Idx, EveryElementType) {
  Array array = parseIdx(bytesOf(idx(0x08, {2, 1, 2}, "\x01\x02\xff\x80")), "f");
  EXPECT_EQ(describe(array), "2x1x2xu8");
  EXPECT_EQ(elements<uint8_t>(array), (std::vector<uint8_t>{1, 2, 255, 128}));
  EXPECT_EQ(elements<int8_t>(parseIdx(bytesOf(idx(0x09, {1}, "\xff")), "f")), std::vector<int8_t>{-1});
  EXPECT_EQ(elements<int16_t>(parseIdx(bytesOf(idx(0x0b, {2}, std::string("\x01\x02\xff\xfe", 4))), "f")),
            (std::vector<int16_t>{0x102, -2}));
  EXPECT_EQ(elements<int32_t>(parseIdx(bytesOf(idx(0x0c, {1}, std::string("\0\0\1\2", 4))), "f")),
            std::vector<int32_t>{258});
  EXPECT_EQ(elements<float>(parseIdx(bytesOf(idx(0x0d, {1}, std::string("\x3f\xc0\0\0", 4))), "f")),
            std::vector<float>{1.5});
  EXPECT_EQ(elements<double>(parseIdx(bytesOf(idx(0x0e, {1}, std::string("\x3f\xf8\0\0\0\0\0\0", 8))), "f")),
            std::vector<double>{1.5});
  EXPECT_EQ(describe(parseIdx(bytesOf(idx(0x08, {0, 3}, "")), "f")), "0x3xu8");
}

TEST(Idx, RefusesWithBothFacts) {
  EXPECT_EQ(parseRefusal(parseIdx, idx(0x0a, {1}, "a")),
            "f: not a sound IDX file: unknown element type 0x0a, expected 0x08, 0x09 or 0x0b to 0x0e");
  EXPECT_EQ(parseRefusal(parseIdx, idx(0x08, {}, "a")), "f: not a sound IDX file: 0 dimensions, expected 1 to 16");
  EXPECT_EQ(parseRefusal(parseIdx, idx(0x08, {3, 2}, "abcde")),
            "f: not a sound IDX file: an array of 3x2xu8 takes 6 bytes, the file has 5");
  EXPECT_EQ(parseRefusal(parseIdx, idx(0x08, {3}, "abcd")),
            "f: not a sound IDX file: an array of 3xu8 takes 3 bytes, the file has 4");
  EXPECT_EQ(
      parseRefusal(parseIdx, idx(0x0e, {~0u, ~0u, ~0u}, "")),
      "f: not a sound IDX file: an array of 4294967295x4294967295x4294967295xf64 takes too many bytes, the file has 0");
  EXPECT_EQ(parseRefusal(parseIdx, "abcd"), "f: not a sound IDX file: it does not start with two zero bytes");
  std::string whole = idx(0x0c, {2, 2}, std::string(16, 'x'));
  for (size_t size = 0; size < whole.size(); ++size) parseRefusal(parseIdx, whole.substr(0, size));
}

TEST(Csv, TypesAndShapes) {
  Array array = csv("1,2\n3,-4\n");
  EXPECT_EQ(describe(array), "2x2xi64");
  EXPECT_EQ(elements<int64_t>(array), (std::vector<int64_t>{1, 2, 3, -4}));
  array = csv("1,2\n3,4.5\n");
  EXPECT_EQ(describe(array), "2x2xf32");
  EXPECT_EQ(elements<float>(array), (std::vector<float>{1, 2, 3, 4.5}));
  EXPECT_EQ(describe(csv("7\n8\n9")), "3xi64"); // one column, no line end
  EXPECT_EQ(elements<float>(csv("1e3;+2;.5;-inf")), (std::vector<float>{1000, 2, 0.5, -HUGE_VALF}));
  EXPECT_TRUE(std::isnan(csv("nan,1").at(0)));
  EXPECT_EQ(elements<int64_t>(csv("9007199254740993")), std::vector<int64_t>{9007199254740993});
}

TEST(Csv, SeparatorsHeadersAndBlanks) {
  for (const char *text : {"1,2\n3,4", "1;2\n3;4", "1\t2\n3\t4", "1 2\n3   4 ", "1, 2\r\n\r\n3 ,4\r\n", "a,b\n1,2\n3,4",
                           "\"1\",\"2\"\n\"3\",\"4\"\n"})
    EXPECT_EQ(elements<int64_t>(csv(text)), (std::vector<int64_t>{1, 2, 3, 4})) << text;
  EXPECT_EQ(elements<int64_t>(csv("\xef\xbb\xbfx,y\n1,2\n3,4")), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(describe(csv("\"first, one\",b\n1,2\n")), "1x2xi64");
}

TEST(Csv, RefusesByLineAndColumn) {
  EXPECT_EQ(csvRefusal("1,2\n3,x\n"), "f: not a table of numbers: line 2, column 2: found \"x\", expected a number");
  EXPECT_EQ(csvRefusal("1,2\n\n3\n"), "f: not a table of numbers: line 3 has 1 columns, line 1 has 2");
  EXPECT_EQ(csvRefusal("1,\n"), "f: not a table of numbers: line 1, column 2: found \"\", expected a number");
  EXPECT_EQ(csvRefusal("a,1\n"), "f: not a table of numbers: line 1, column 1: found \"a\", expected a number");
  EXPECT_EQ(csvRefusal("a,b\n"), "f: not a table of numbers: it has no row of numbers");
  EXPECT_EQ(csvRefusal("1 2x\n"), "f: not a table of numbers: line 1, column 2: found \"2x\", expected a number");
  EXPECT_EQ(csvRefusal("1\n1e999\n"),
            "f: not a table of numbers: line 2, column 1: found \"1e999\", expected a number");
  EXPECT_EQ(csvRefusal(""), "f: not a table of numbers: it has no row of numbers");
}

TEST(ArrayFormats, ContentDecides) {
  EXPECT_TRUE(isIdx(bytesOf(idx(0x08, {3}, "{ab"))));
  EXPECT_FALSE(isIdx(bytesOf("\x93NUMPY")));
  EXPECT_FALSE(isIdx(bytesOf(std::string("\0\0\1\0\0\0\0\0{", 9)))); // a safetensors header of 64 KiB
  EXPECT_TRUE(isText(bytesOf("1,2\r\n\t3")));
  EXPECT_FALSE(isText(bytesOf(std::string("1,\0", 3))));
}
