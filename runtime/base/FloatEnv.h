// The floating-point environment that kernels expect: round to nearest, denormals kept, no traps. The flags of raised
// exceptions are no part of it: kernels leave them set as any arithmetic does.
#ifndef SPRIG_RUNTIME_BASE_FLOATENV_H
#define SPRIG_RUNTIME_BASE_FLOATENV_H

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace sprig::rt::core {

// Sets it for a scope and restores the thread's own. Writing the register costs more than a small kernel, so it is only
// written where it differs.
class FloatEnv {
public:
#if defined(__SSE__)
  FloatEnv() : saved(_mm_getcsr()) {
    if (differs()) _mm_setcsr(kDefault);
  }
  ~FloatEnv() {
    if (differs()) _mm_setcsr(saved);
  }

private:
  static constexpr unsigned kDefault = 0x1f80;
  static constexpr unsigned kFlags = 0x3f;
  bool differs() const { return (saved & ~kFlags) != kDefault; }
  unsigned saved;
#else
  FloatEnv() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnv() { std::fesetenv(&saved); }

private:
  std::fenv_t saved;
#endif
  FloatEnv(const FloatEnv &) = delete;
  FloatEnv &operator=(const FloatEnv &) = delete;
};

} // namespace sprig::rt::core

#endif
