// Memory for the small objects of recording, which one thread makes and another destroys.
// For values, operations and storages. Each thread keeps a few; whole batches go through a shelf that all threads
// share. What the shelf holds is used again, never given back: it is bounded by the work that was in flight.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

// Tools that follow single allocations get them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPRIG_NO_POOLS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPRIG_NO_POOLS
#endif
#endif

namespace sprig::frontend {

template <size_t Size> class Pool {
public:
  static void *take() {
#ifdef SPRIG_NO_POOLS
    return ::operator new(Size);
#else
    Local &mine = local;
    if (!mine.first) [[unlikely]]
      refill(mine);
    Link *link = mine.first;
    mine.first = link->next;
    --mine.count;
    return link;
#endif
  }

  static void give(void *memory) {
#ifdef SPRIG_NO_POOLS
    ::operator delete(memory);
#else
    Local &mine = local;
    if (mine.count >= kBatch) [[unlikely]]
      spill(mine);
    auto *link = static_cast<Link *>(memory);
    link->next = mine.first;
    mine.first = link;
    ++mine.count;
#endif
  }

private:
  static constexpr int kBatch = 64;
  struct Link {
    Link *next;
  };
  static_assert(Size >= sizeof(Link));
  struct Chain {
    Link *first;
    int count;
  };
  struct Local {
    Link *first = nullptr;
    int count = 0;
    Chain full{nullptr, 0}; // a second chain, so that a thread at the edge of one does not go to the shelf each time
  };
  struct Shelf {
    std::mutex mutex;
    std::vector<Chain> chains;
  };
  /// Gives a thread's chains to the others when it ends.
  struct AtEnd {
    ~AtEnd() {
      store({local.first, local.count});
      store(local.full);
      local = {};
    }
  };

  static Shelf &shelf() {
    static auto &instance = *new Shelf;
    return instance;
  }
  static void store(Chain chain) {
    if (!chain.first) return;
    std::lock_guard lock(shelf().mutex);
    shelf().chains.push_back(chain);
  }

  static void refill(Local &mine) {
    thread_local AtEnd atEnd;
    (void)atEnd;
    if (mine.full.first) {
      mine.first = mine.full.first;
      mine.count = mine.full.count;
      mine.full = {nullptr, 0};
      return;
    }
    {
      std::lock_guard lock(shelf().mutex);
      if (!shelf().chains.empty()) {
        mine.first = shelf().chains.back().first;
        mine.count = shelf().chains.back().count;
        shelf().chains.pop_back();
        return;
      }
    }
    auto *block = static_cast<char *>(::operator new(Size * kBatch));
    for (int i = kBatch; i-- > 0;) {
      auto *link = reinterpret_cast<Link *>(block + size_t(i) * Size);
      link->next = mine.first;
      mine.first = link;
    }
    mine.count = kBatch;
  }

  static void spill(Local &mine) {
    thread_local AtEnd atEnd;
    (void)atEnd;
    if (mine.full.first) store(mine.full);
    mine.full = {mine.first, mine.count};
    mine.first = nullptr;
    mine.count = 0;
  }

  static constinit inline thread_local Local local{};
};

/// Objects of one class from a pool: class X : public Pooled<X>.
template <typename T> struct Pooled {
  static void *operator new(size_t) { return Pool<(sizeof(T) + 15) / 16 * 16>::take(); }
  static void *operator new(size_t, void *at) { return at; }
  static void operator delete(void *memory) { Pool<(sizeof(T) + 15) / 16 * 16>::give(memory); }
};

/// The same for what the standard library allocates together with its own, one object at a time.
template <typename T> struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <typename U> PoolAllocator(const PoolAllocator<U> &) {}
  T *allocate(size_t count) {
    static_assert(alignof(T) <= 16);
    return static_cast<T *>(count == 1 ? Pool<(sizeof(T) + 15) / 16 * 16>::take() : ::operator new(count * sizeof(T)));
  }
  void deallocate(T *memory, size_t count) {
    if (count == 1)
      Pool<(sizeof(T) + 15) / 16 * 16>::give(memory);
    else
      ::operator delete(memory);
  }
  template <typename U> bool operator==(const PoolAllocator<U> &) const { return true; }
};

} // namespace sprig::frontend
