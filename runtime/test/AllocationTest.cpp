// The steady state of a call: no allocation and no lock, counted by replacing the C library's functions in this
// program.
#include "runtime/test/TestPackage.h"
#include "sprig/rt/profile.hpp"

#include <atomic>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mutex>
#include <pthread.h>

static std::atomic<uint64_t> allocations{0}, locks{0};

// Shown to the other libraries, so that what they allocate counts too.
#define SHOWN __attribute__((visibility("default")))
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
SHOWN void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
SHOWN void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
SHOWN void *realloc(void *memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
SHOWN void *aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
SHOWN int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept {
  ++locks;
  using Lock = int (*)(pthread_mutex_t *);
  static std::atomic<Lock> real{nullptr};
  Lock lock = real.load();
  if (!lock) real.store(lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock")));
  return lock(mutex);
}
}

namespace sprig::rt::test {
namespace {

uint64_t allocationsOf(auto action) {
  uint64_t before = allocations.load();
  action();
  return allocations.load() - before;
}

uint64_t locksOf(auto action) {
  uint64_t before = locks.load();
  action();
  return locks.load() - before;
}

TEST(SteadyState, IsCounted) {
  void *volatile kept = nullptr;
  EXPECT_GE(allocationsOf([&] { kept = ::operator new(100); }), 1u);
  ::operator delete(kept);
  std::mutex mutex;
  EXPECT_EQ(locksOf([&] { std::lock_guard guard(mutex); }), 1u);
}

// Lanes, events, splits, padding and packing, all at once.
TestPackage busyPackage() {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {64, 16}), y = entry.output("y", {64, 16});
  uint32_t t = entry.arena(4096), u = entry.arena(4096);
  uint32_t first = entry.event(), second = entry.event();
  entry.dispatch(0, Add, {x, x, t}, 1024, 16);
  entry.record(0, first);
  entry.wait(1, first);
  entry.dispatch(1, Mix, {t, x, u}, 1024, 16);
  entry.record(1, second);
  entry.wait(0, second);
  entry.dispatch(0, Add, {u, t, y}, 1024, 16);
  entry.entry.independentSamples = true;
  package.program.entries.push_back(entry.entry);
  return package;
}

class OverThreads : public testing::TestWithParam<int> {};

TEST_P(OverThreads, AllocatesAndLocksNothing) {
  Pool pool(GetParam());
  Context context(busyPackage().load(), {&pool, nullptr, 0});
  Words x(2048, 1), y(2048);
  int64_t exact[] = {64, 16}, padded[] = {37, 16}, split[] = {100, 16}, strides[] = {20, 1};
  auto invoke = [&](const int64_t *shape, const int64_t *steps, size_t shift) {
    sprig_rt_tensor in = {x.data() + shift, shape, steps, 2, SPRIG_RT_U32};
    sprig_rt_tensor out = {y.data() + shift, shape, nullptr, 2, SPRIG_RT_U32};
    ASSERT_EQ(sprig_rt_invoke(context.raw(), SPRIG_RT_ANY_ENTRY, &in, 1, &out, 1), nullptr);
  };
  auto all = [&] {
    invoke(exact, nullptr, 0);
    invoke(padded, nullptr, 0);
    invoke(split, nullptr, 0);
    invoke(exact, strides, 0);
    invoke(exact, nullptr, 3);
  };
  auto often = [&] {
    for (int i = 0; i < 200; ++i) all();
  };
  all();
  EXPECT_EQ(allocationsOf(often), 0u);
  EXPECT_EQ(locksOf(often), 0u);
  EXPECT_EQ(y[3], 72u);
  // The first recorded calls make the threads' rings; on a busy machine a helper joins late, and makes its ring then.
  Profile profile;
  profile.start(context);
  for (int i = 0; i < 20; ++i) often();
  auto allocations = allocationsOf(often);
  for (int late = 1; late < GetParam() && allocations; ++late) allocations = allocationsOf(often);
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(locksOf(often), 0u);
}

INSTANTIATE_TEST_SUITE_P(SteadyState, OverThreads, testing::Values(1, 2, 4));

} // namespace
} // namespace sprig::rt::test
