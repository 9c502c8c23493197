// Packages of other minor versions of the format.
#include "runtime/api/Handles.h"
#include "runtime/test/TestPackage.h"

#include <cstring>
#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

std::string errorOfVersion(const Bytes &bytes) {
  return errorOf([&] { Package::fromMemory(std::span<const uint8_t>(bytes), "p.sprig"); });
}

// Says that a file is of another minor version.
void setMinor(Bytes &file, uint16_t minor) {
  uint32_t sections = 0;
  std::memcpy(&sections, file.data() + 12, 4);
  std::memcpy(file.data() + 10, &minor, 2);
  std::memset(file.data() + 24, 0, 8);
  uint64_t sum = format::checksum({file.data(), 64 + sections * 32});
  std::memcpy(file.data() + 24, &sum, 8);
}

// Fields that are 0 are not written, so such a file is one of before there were any of 1.3.
TEST(Versions, OlderMinorVersionsAreRead) {
  TestPackage package = addPackage(4);
  package.program.entries[0].lanes[0].commands[0].parts = {{"fc", "gemm", "4", "net.py:3", 8, 16, 0, 0, 0, {}}};
  Bytes older = package.encode();
  package.program.entries[0].lanes[0].commands[0].parts[0].repeated = uint64_t(1) << 40;
  package.program.entries[0].lanes[0].commands[0].parts[0].steps = 5;
  auto partOf = [](const Bytes &file) {
    Package loaded = Package::fromMemory(std::span<const uint8_t>(file), "p.sprig");
    return loaded.raw()->package->program().entries.at(0).lanes.at(0).commands.at(0).parts.at(0);
  };
  for (uint16_t minor = 0; minor <= format::kMinor; ++minor) {
    setMinor(older, minor);
    core::Part part = partOf(older);
    EXPECT_EQ(part.kind, "gemm") << minor;
    EXPECT_EQ(part.flops, 8u);
    EXPECT_EQ(part.bytes, 16u);
    EXPECT_EQ(part.steps, 0u);
    EXPECT_EQ(part.repeated, 0u);
  }
  core::Part newer = partOf(package.encode());
  EXPECT_EQ(newer.steps, 5u);
  EXPECT_EQ(newer.repeated, uint64_t(1) << 40);
}

TEST(Versions, ANewerMinorVersionMayAddSections) {
  TestPackage package = addPackage(4);
  Bytes metadata = package.metadata(), extra = {1, 2, 3};
  std::vector<format::SectionBytes> sections = {{format::SectionKind::Metadata, metadata},
                                                {format::SectionKind::Constants, package.constants},
                                                {format::SectionKind::Image, package.image},
                                                {format::SectionKind(9), extra}};
  Bytes file = format::writeContainer(sections);
  EXPECT_EQ(errorOfVersion(file), "p.sprig: section 3: unknown kind 9");
  setMinor(file, format::kMinor + 1);
  EXPECT_EQ(errorOfVersion(file), "");
}

} // namespace
} // namespace sprig::rt::test
