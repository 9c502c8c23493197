// The check of what tiles touch finds ranges that leave something out.
#include "runtime/test/TestPackage.h"
#include "runtime/test/TileRanges.h"

#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

// Words are added one a tile.
std::vector<std::string> wrongOf(std::vector<core::TileRange> ranges) {
  TestPackage made;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {32}), y = entry.input("y", {32}), z = entry.output("z", {32});
  entry.dispatch(0, Add, {x, y, z}, 32);
  made.program.entries.push_back(entry.entry);
  made.program.kernels[Add].access = {core::kReads, core::kReads, core::kWrites};
  made.program.kernels[Add].ranges = std::move(ranges);
  Bytes bytes = made.encode();
  core::PackageSource source;
  source.name = "test";
  source.bytes = bytes;
  std::shared_ptr<const core::Package> package;
  core::Status status = core::Package::load(std::move(source), {}, package);
  EXPECT_TRUE(status.isOk()) << status.message();
  return checkTileRanges(*package).wrong;
}

using Wrong = std::vector<std::string>;

TEST(TileRanges, WhatIsTouchedIsStated) {
  EXPECT_EQ(wrongOf({{0, 0, 4, 4}, {1, 0, 4, 4}, {2, 0, 4, 4}}), Wrong());
  EXPECT_EQ(wrongOf({{0, -4, 4, 12}, {2, 0, 8, 8, 2}}), Wrong());
  EXPECT_EQ(wrongOf({{2, 0, 16, 16, 4}}), Wrong());
}

TEST(TileRanges, WhatIsLeftOutIsFound) {
  EXPECT_EQ(wrongOf({{1, 0, 4, 2}}), Wrong{"'add' tile 0 reads more than its ranges say: operand 2 depends on it"});
  EXPECT_EQ(wrongOf({{0, 4, 4, 4}}), Wrong{"'add' tile 0 reads more than its ranges say: operand 2 depends on it"});
  EXPECT_EQ(wrongOf({{2, 4, 4, 4}}), Wrong{"'add' tile 0 writes byte 0 of operand 2, which its ranges leave out"});
  EXPECT_EQ(wrongOf({{2, 0, 4, 4, 2}}), Wrong{"'add' tile 1 writes byte 4 of operand 2, which its ranges leave out"});
}

} // namespace
} // namespace sprig::rt::test
