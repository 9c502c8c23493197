// Computations in destructors of static and thread-local objects, when the library and the compiler have begun to be
// destroyed: right, or an Error. Each is a process of its own, whose end is looked at.
#include "sprig/sprig.h"
#include <atomic>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <thread>

using namespace sprig;

namespace {

void say(const char *who, const std::function<std::string()> &compute) {
  std::string text;
  try {
    text = compute();
  } catch (const Error &error) {
    text = error.what();
  }
  std::cerr << std::string(who) + ": " + text + "\n";
}

std::string onePlusOne() { return (ones({3}) + 1).text(); }

std::string gradient() {
  Parameter w(full({2}, 3.f));
  return grad((w * w).sum(), w).sum().text();
}

std::string compiled() {
  auto f = compile([](const Tensor &x) { return (x * 2).sum(); });
  return f(ones({4})).text();
}

// Made before the library's first use, so destroyed after what that makes.
struct Late {
  std::function<void()> compute;
  ~Late() {
    if (compute) compute();
  }
};
Late late;

// A loop whose segment is compiled in the background.
void useOften() {
  for (int i = 0; i < 20; ++i) (ones({64, 64}) * 3 + 1).sum().text();
}

struct AtExitTest : testing::Test {
  AtExitTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

} // namespace

TEST_F(AtExitTest, ComputesInStaticDestructors) {
  auto run = [] {
    useOften();
    late.compute = [] { say("static", onePlusOne); };
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "static: \\[2, 2, 2\\]");
}

TEST_F(AtExitTest, ComputesInThreadLocalDestructors) {
  auto run = [] {
    thread_local Late ofThread;
    ofThread.compute = [] { say("thread-local", onePlusOne); };
    useOften();
    std::thread([] {
      thread_local Late other;
      other.compute = [] { say("other thread", onePlusOne); };
      useOften();
    }).join();
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "other thread: \\[2, 2, 2\\]\nthread-local: \\[2, 2, 2\\]");
}

TEST_F(AtExitTest, ComputesInThreadsThatEndLater) {
  auto run = [] {
    useOften();
    static std::atomic<bool> isOver = false;
    static auto &worker = *new std::thread([] {
      thread_local Late ofThread;
      ofThread.compute = [] { say("end of thread", onePlusOne); };
      while (!isOver) useOften();
      say("thread", onePlusOne);
    });
    late.compute = [] {
      isOver = true;
      worker.join();
    };
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "thread: \\[2, 2, 2\\]\nend of thread: \\[2, 2, 2\\]");
}

TEST_F(AtExitTest, CompilesNothingAtTheEnd) {
  auto run = [] {
    say("main", gradient);
    late.compute = [] {
      say("gradient", gradient);
      say("compiled", compiled);
    };
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "main: 12\ngradient: 12\ncompiled: .*the process is ending, and nothing can be compiled any more");
}

// What the compiler has of a thread goes with it.
TEST_F(AtExitTest, CompilesWhereAThreadEndsOrSaysWhy) {
  auto run = [] {
    std::thread([] {
      thread_local Late ofThread;
      ofThread.compute = [] {
        say("compiled", [] { return compile([](const Tensor &x) { return (x * 3).sum(); })(ones({4})).text(); });
      };
      say("before", compiled);
    }).join();
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0),
              "before: 8\ncompiled: (12|.*this thread is ending, and compiles nothing any more)");
}

// Whichever thread uses the library, and whichever ends the process, while the compiler works in the background.
TEST_F(AtExitTest, EndsWhileItCompiles) {
  auto useOnce = [] {
    for (int n = 1; n < 6; ++n)
      for (int i = 0; i < 3; ++i) (ones({n, 7}) * 3 + 1).exp().sum().text();
  };
  auto endOfFirst = [&] {
    std::thread(useOnce).join();
    std::exit(0);
  };
  auto endOfOther = [&] {
    std::thread([&] {
      useOnce();
      std::exit(0);
    }).join();
  };
  for (int i = 0; i < 5; ++i) {
    EXPECT_EXIT(endOfFirst(), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(endOfOther(), testing::ExitedWithCode(0), "");
  }
}
