#include "lib/Target/SignalStack.h"
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

TEST(SignalStack, IsTheThreadsUntilItEnds) {
  std::thread([] {
    stack_t before = {}, during = {}, after = {};
    ::sigaltstack(nullptr, &before);
    {
      sprig::SignalStack stack;
      ::sigaltstack(nullptr, &during);
    }
    ::sigaltstack(nullptr, &after);
    EXPECT_FALSE(during.ss_flags & SS_DISABLE);
    EXPECT_EQ(during.ss_size, size_t(1) << 16);
    EXPECT_EQ(after.ss_flags, before.ss_flags);
    EXPECT_EQ(after.ss_sp, before.ss_sp);
  }).join();
}

// Runs out of the stack of a thread that is not the main one.
[[gnu::noinline]] static int deeper(int depth) {
  volatile char block[4096];
  block[depth % 4096] = char(depth);
  return depth < 0 ? 0 : deeper(depth + 1) + block[depth % 7];
}

TEST(SignalStackDeathTest, AHandlerRunsWhereTheStackRanOut) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer has its own handlers";
#endif
#endif
  auto overflow = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) { _exit(42); };
    action.sa_flags = SA_ONSTACK;
    ::sigaction(SIGSEGV, &action, nullptr);
    std::thread([] {
      sprig::SignalStack stack;
      deeper(0);
    }).join();
  };
  EXPECT_EXIT(overflow(), ::testing::ExitedWithCode(42), "");
}
