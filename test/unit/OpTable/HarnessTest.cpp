// The table notices what it is there to notice.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

// The messages of the failures of one row.
std::string failuresOf(const Row &row) {
  testing::TestPartResultArray results;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    check({row}, Given::program, Depth::everyWay);
  }
  std::string text;
  for (int i = 0; i < results.size(); ++i) text += std::string(results.GetTestPartResult(i).message()) + "\n";
  return text;
}

// No polynomial is right to the last bit for all of 2000 values, which a bound of zero demands.
TEST(Harness, NamesTheElementThatDiffers) {
  std::string text = failuresOf(row("nn.tanh %a0", {"40x50xf32"}, {0}));
  EXPECT_NE(text.find("nn.tanh %a0 : tensor<40x50xf32> (fused, x86-64-v3, 1 thread): result 0 at ["), std::string::npos)
      << text;
  EXPECT_NE(text.find(" ulp from "), std::string::npos) << text;
  EXPECT_EQ(failuresOf(row("nn.tanh %a0", {"40x50xf32"}, {3})), "");
}

TEST(Harness, NamesInvalidRows) {
  Row invalid{"a row", {"3xf32"}, "%r = nn.reshape %a0 : tensor<3xf32> to tensor<4xf32>", {}, {}};
  EXPECT_NE(failuresOf(invalid).find("a row: is not valid"), std::string::npos);
}

TEST(Harness, NamesRowsThatTheInterpreterRefuses) {
  Row row{"out of range",
          {"3xf32", "2xi64"},
          "%r = nn.gather %a0, %a1 axis = 0 : tensor<3xf32>, tensor<2xi64>",
          {},
          {{}, {Fill::Index, 900}}};
  EXPECT_NE(failuresOf(row).find("out of range: the interpreter fails"), std::string::npos);
}

} // namespace
} // namespace sprig::optable
