#include "lib/Data/Counted.h"
#include "lib/Data/CountedName.h"
#include "sprig/error.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::data;

namespace {

Array numbers(const std::string &name, std::vector<int64_t> shape, const std::vector<int64_t> &values) {
  Array array{name, DType::i64, std::move(shape), std::vector<char>(values.size() * 8)};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

std::vector<int64_t> valuesOf(const Array &array) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < array.elements(); ++i) values.push_back(array.integerAt(i));
  return values;
}

TEST(CountedTest, CutsRowsAndColumns) {
  std::vector<Array> outputs{numbers("rows", {3, 2}, {1, 2, 3, 4, 0, 0}),
                             numbers("columns", {2, 3}, {1, 2, 0, 3, 4, 0}), numbers(countName("columns", 1), {}, {2}),
                             numbers(countName("rows", 0), {}, {2}), numbers("all", {2}, {7, 8})};
  cutToCounts(outputs);
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(valuesOf(outputs[0]), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(valuesOf(outputs[1]), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(outputs[2].name, "all");
}

TEST(CountedTest, CutsToNothing) {
  std::vector<Array> outputs{numbers("x", {2, 1, 2}, {0, 0, 0, 0}), numbers(countName("x", 2), {}, {0})};
  cutToCounts(outputs);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{2, 1, 0}));
  EXPECT_TRUE(outputs[0].bytes.empty());
}

TEST(CountedTest, LeavesWhatIsNoCount) {
  std::vector<Array> outputs{numbers("x", {2}, {1, 2}), numbers(countName("x", 1), {}, {1}),
                             numbers(countName("x", 0), {1}, {1})};
  cutToCounts(outputs);
  EXPECT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{2}));
}

TEST(CountedTest, RefusesACountThatIsTooLarge) {
  std::vector<Array> outputs{numbers("x", {2}, {1, 2}), numbers(countName("x", 0), {}, {3})};
  try {
    cutToCounts(outputs);
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "output 'x' is 2xi64, but says that 3 count in dimension 0");
  }
}

} // namespace
