#include "runtime/device/cpu/Calls.h"

#include <cmath>
#include <cstddef>
#include <cstring>

namespace sprig::rt::core {

namespace {

// C++ overloads the math functions and C23's roundeven is not in every libc; each row names one plain C function.
namespace c {
using ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atanh, ::ceil, ::ceilf, ::cos, ::cosh, ::erf, ::exp, ::expm1, ::floor,
    ::floorf, ::fma, ::fmaf, ::fmod, ::fmodf, ::log, ::log1p, ::memcpy, ::memmove, ::memset, ::pow, ::rint, ::rintf,
    ::sin, ::sinh, ::tan, ::tanh, ::trunc, ::truncf;
// Kernels run in the default rounding mode, where rint rounds to even.
double roundeven(double value) { return ::rint(value); }
float roundevenf(float value) { return ::rintf(value); }
} // namespace c

template <typename Result, typename Parameters> struct Signature;
template <typename Result, typename... Parameters> struct Signature<Result, void(Parameters...)> {
  using Type = Result (*)(Parameters...);
};

struct Call {
  std::string_view name;
  void *address;
};

} // namespace

void *findRuntimeCall(std::string_view name) {
  static const Call calls[] = {
#define SPRIG_RT_CALL(symbol, result, parameters)                                                                      \
  {#symbol, reinterpret_cast<void *>(static_cast<Signature<result, void parameters>::Type>(c::symbol))},
#include "sprig/rt/RuntimeCalls.def"
#undef SPRIG_RT_CALL
  };
  for (const Call &call : calls)
    if (call.name == name) return call.address;
  return nullptr;
}

} // namespace sprig::rt::core
