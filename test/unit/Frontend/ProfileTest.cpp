// Profiles of the imperative mode: operations by themselves, compiled segments and functions, ranges.
#include "sprig/profile.h"
#include "sprig/elementwise.h"
#include "sprig/function.h"
#include "sprig/ops.h"
#include "sprig/rt/profile.hpp"
#include "sprig/tensor.h"
#include "test/unit/Frontend/Expect.h"
#include <algorithm>
#include <gmock/gmock.h>
#include <set>
#include <thread>

using namespace sprig;

namespace {

const ProfileRow *find(const std::vector<ProfileRow> &rows, const std::string &kind, const std::string &part) {
  auto found = std::find_if(rows.begin(), rows.end(), [&](const ProfileRow &row) {
    return row.kind == kind && row.name.find(part) != std::string::npos;
  });
  return found == rows.end() ? nullptr : &*found;
}

TEST(FrontendProfile, ShowsOperationsThatRunByThemselvesWithTheirLines) {
  Tensor x = Tensor({1.0f, 2.0f, 3.0f});
  Profile profile;
  profile.start();
  Tensor y = exp(x); // of this shape here alone, so nothing is compiled
  synchronize();
  profile.stop();
  std::vector<ProfileRow> rows = profile.rows();
  const ProfileRow *row = find(rows, "operation", "exp");
  ASSERT_NE(row, nullptr) << profile.table();
  EXPECT_EQ(row->calls, 1);
  EXPECT_NE(row->name.find("ProfileTest.cpp:"), std::string::npos) << row->name;
  EXPECT_GE(row->seconds, row->selfSeconds);
  EXPECT_EQ(profile.dropped(), 0u);
  EXPECT_NE(profile.table().find("share %"), std::string::npos);
}

TEST(FrontendProfile, ShowsCompiledFunctionsAndTheirCompilation) {
  auto square = compile([](const Tensor &v) { return v * v; });
  Tensor x = Tensor({1.0f, 2.0f, 3.0f, 4.0f});
  Profile profile;
  profile.start();
  for (int i = 0; i < 3; ++i) {
    Tensor y = square(x);
    synchronize();
  }
  profile.stop();
  std::vector<ProfileRow> rows = profile.rows();
  auto calls = [&](const std::string &kind) {
    int64_t count = 0;
    for (const ProfileRow &row : rows) count += row.kind == kind ? row.calls : 0;
    return count;
  };
  EXPECT_EQ(calls("function"), 3) << profile.table();
  EXPECT_LE(calls("compilation"), 1);
}

// Branches that are written one after the other are on lanes where these were asked for, with the same bits.
TEST(FrontendProfile, BranchesOfACompiledFunctionAreOnLanes) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor drives one lane";
  Tensor x = ones({256, 256}) / 256, left = ones({256, 512}) / 7, right = ones({256, 512}) / 9;
  auto branches = [&](const Tensor &v) { return sum(tanh(matmul(v, left))) * sum(exp(matmul(v, right))); };
  auto lanesOf = [&](int lanes, float &value) {
    auto f = compile(branches, {.name = "branches", .lanes = lanes});
    value = f(x).item<float>();
    rt::Profile profile;
    profile.start();
    EXPECT_EQ(f(x).item<float>(), value);
    profile.stop();
    std::set<uint32_t> used;
    sprig_rt_profile_data data = profile.read();
    for (uint64_t i = 0; i < data.count; ++i)
      if (data.events[i].kind == SPRIG_RT_PROFILE_DISPATCH) used.insert(data.events[i].lane);
    return used;
  };
  float one = 0, two = 1;
  EXPECT_EQ(lanesOf(1, one), (std::set<uint32_t>{0}));
  EXPECT_EQ(lanesOf(2, two), (std::set<uint32_t>{0, 1}));
  EXPECT_EQ(one, two);
  for (int lanes : {-1, 65})
    EXPECT_THAT(errorOf([&] { compile(branches, {.lanes = lanes}); }),
                ::testing::HasSubstr("lanes are " + std::to_string(lanes) + ", expected 0 (as suit the device) to 64"));
}

TEST(FrontendProfile, WarnsOfALineThatWaitsInALoop) {
  Tensor x = Tensor({0.5f, 0.25f, 0.125f});
  Profile profile;
  profile.start();
  Tensor kept;
  float sum = 0;
  for (int i = 0; i < 50; ++i) {
    kept = x * x;
    sum += kept[1].item<float>();
  }
  EXPECT_EQ(kept[0].item<float>(), 0.25f); // after it
  profile.stop();
  EXPECT_EQ(sum, 50 * 0.0625f);
  const ProfileRow *row = nullptr;
  std::vector<ProfileRow> rows = profile.rows();
  for (const ProfileRow &each : rows)
    if (each.kind == "wait" && each.calls >= 10) row = &each;
  ASSERT_NE(row, nullptr) << profile.table();
  EXPECT_LE(row->calls, 50);
  EXPECT_NE(row->name.find("ProfileTest.cpp:"), std::string::npos) << row->name;
  EXPECT_NE(row->name.find("item"), std::string::npos) << row->name;
  EXPECT_EQ(row->selfSeconds, 0);
  ASSERT_EQ(profile.warnings().size(), 1u) << profile.table();
  EXPECT_NE(profile.table().find("warning: " + profile.warnings()[0]), std::string::npos);
  EXPECT_NE(profile.warnings()[0].find(row->name + " waited for its value "), std::string::npos);
}

TEST(FrontendProfile, CopiesAndWaitsForAllInALoopAreWarnedOf) {
  Tensor x = Tensor({0.5f, 0.25f}), y;
  Profile profile;
  profile.start();
  for (int i = 0; i < 200; ++i) {
    y = (x * x).to("cpu:1");
    y = y + y;
    synchronize("cpu:1");
    y = y + y;
    synchronize();
  }
  profile.stop();
  std::vector<std::string> warnings = profile.warnings();
  // How often there was something left to wait for is the scheduler's affair.
  auto isToldOf = [&](const std::string &text) {
    return std::any_of(warnings.begin(), warnings.end(), [&](const std::string &each) {
      size_t times = each.find(" times");
      return each.find(text) != std::string::npos && times != std::string::npos &&
             std::stoi(each.substr(each.rfind(' ', times - 1))) > 10;
    });
  };
  EXPECT_TRUE(isToldOf(": to waited for its copy")) << profile.table();
  EXPECT_TRUE(isToldOf("synchronize waited for what was queued")) << profile.table();
  EXPECT_TRUE(isToldOf("ProfileTest.cpp:")) << profile.table();
}

TEST(FrontendProfile, AReadingNowAndThenIsNoWarning) {
  Tensor x = Tensor({0.5f, 0.25f});
  Profile profile;
  profile.start();
  for (int i = 0; i < 3; ++i) (x + x).wait();
  profile.stop();
  EXPECT_TRUE(profile.warnings().empty());
}

TEST(FrontendProfile, RangesNestAndNothingIsRecordedWhenItIsOff) {
  Tensor x = Tensor({1.0f, 2.0f});
  Profile profile;
  {
    ProfileRange before("before");
  }
  profile.start();
  {
    ProfileRange outer("outer");
    ProfileRange inner("inner");
    Tensor y = x + x;
    synchronize();
  }
  profile.stop();
  {
    ProfileRange after("after");
  }
  std::vector<ProfileRow> rows = profile.rows();
  EXPECT_EQ(find(rows, "range", "before"), nullptr);
  EXPECT_EQ(find(rows, "range", "after"), nullptr);
  const ProfileRow *outer = find(rows, "range", "outer"), *inner = find(rows, "range", "inner");
  ASSERT_TRUE(outer && inner) << profile.table();
  EXPECT_NEAR(outer->selfSeconds + inner->seconds, outer->seconds, 1e-9);
  Profile second;
  profile.start();
  EXPECT_THROW(second.start(), Error);
  EXPECT_THROW(profile.start(), Error);
}

} // namespace
