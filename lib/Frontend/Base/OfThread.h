// Objects that each thread has one of, for code that destructors of static and thread-local objects run too: what a
// thread has destroyed at its end is not used again.
#pragma once

namespace sprig::frontend {

/// The thread's T, made at its first use; null once the thread has destroyed it. `What` keeps two of one type apart.
template <typename T, typename What = T> T *ofThread() {
  static constinit thread_local bool isOver = false; // stays when objects with destructors are gone
  struct Held {
    T object;
    ~Held() { isOver = true; }
  };
  if (isOver) return nullptr;
  thread_local Held held;
  return &held.object;
}

} // namespace sprig::frontend
