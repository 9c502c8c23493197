// What a program reports where libsprig_events.so is missing, or of another version. It runs write-events from a folder
// without libraries.
#include "test/unit/Folder.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace sprig::events {
namespace {

namespace fs = std::filesystem;
constexpr int kUnsupported = 4;

class EventLibrary : public ::testing::Test {
protected:
  Folder root;
  void SetUp() override {
    fs::create_directory(root.path / "bin");
    fs::copy_file(SPRIG_WRITE_EVENTS, root.path / "bin" / "write-events");
  }
  std::string refusal() {
    std::string at = root.path.string();
    int status = std::system((at + "/bin/write-events " + at + "/run </dev/null 2>" + at + "/error").c_str());
    EXPECT_EQ(WEXITSTATUS(status), kUnsupported);
    EXPECT_FALSE(fs::exists(root.path / "run"));
    return textOf(root.path / "error");
  }
};

TEST_F(EventLibrary, AMissingOneIsNamedWithWhereItWasLookedFor) {
  std::string bin = (root.path / "bin").string();
  EXPECT_THAT(refusal(), ::testing::MatchesRegex("error: event files need libsprig_events\\.so: " + bin +
                                                 "/libsprig_events\\.so: .*; " + bin +
                                                 "/\\.\\./lib/libsprig_events\\.so: .*; libsprig_events\\.so: .*\n"));
}

TEST_F(EventLibrary, OneOfAnotherVersionIsRefused) {
  fs::create_directory(root.path / "lib");
  fs::copy_file(SPRIG_OLD_EVENTS, root.path / "lib" / "libsprig_events.so");
  EXPECT_EQ(refusal(), "error: libsprig_events.so is of Sprig 0.0.9, expected " SPRIG_VERSION "\n");
}

} // namespace
} // namespace sprig::events
