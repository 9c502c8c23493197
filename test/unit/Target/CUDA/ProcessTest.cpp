// Programs that end well, badly, never, and that are not there.
#include "lib/Target/CUDA/CodeGen/Process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace sprig;
using namespace sprig::cuda;
using std::chrono::seconds;
using testing::HasSubstr;

static ProcessResult shell(const std::string &text) {
  auto result = runProcess({"/bin/sh", "-c", text}, "/", seconds(60));
  EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
  return result ? *result : ProcessResult();
}

TEST(Process, GivesBothStreamsAndTheCode) {
  ProcessResult result = shell("pwd; echo wrong >&2; exit 3");
  EXPECT_EQ(result.output, "/\nwrong\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.signal, 0);
}

TEST(Process, HasNothingToRead) { EXPECT_EQ(shell("cat; echo end").output, "end\n"); }

TEST(Process, TellsTheSignal) { EXPECT_EQ(shell("kill -9 $$").signal, 9); }

TEST(Process, KeepsTheFirstOfMuchOutput) {
  ProcessResult result = shell("head -c 3000000 /dev/zero; exit 1");
  EXPECT_EQ(result.code, 1);
  EXPECT_LT(result.output.size(), size_t(1 << 20) + 4096);
}

TEST(Process, IsEndedAtTheLimit) {
  for (const char *text : {"exec sleep 60", "exec sleep 60 >/dev/null 2>&1"}) {
    auto result = runProcess({"/bin/sh", "-c", text}, "", std::chrono::milliseconds(50));
    ASSERT_FALSE(bool(result));
    EXPECT_EQ(llvm::toString(result.takeError()), "/bin/sh took longer than 0 s and was ended");
  }
}

TEST(Process, SaysWhenItCannotBeStarted) {
  auto result = runProcess({"/nowhere/tool"}, "", seconds(1));
  ASSERT_FALSE(bool(result));
  EXPECT_EQ(llvm::toString(result.takeError()), "/nowhere/tool cannot be started: No such file or directory");
}
