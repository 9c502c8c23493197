// LLVM types of the emulator's hooks, from the rows of Hooks.def: a call that the translator makes cannot disagree with
// them.
#ifndef SPRIG_TEST_GPU_IMAGE_HOOKTYPES_H
#define SPRIG_TEST_GPU_IMAGE_HOOKTYPES_H

#include "test/gpu/image/Image.h"
#include "llvm/IR/DerivedTypes.h"
#include <type_traits>

namespace sprig::gpu {

template <class T> llvm::Type *hostType(llvm::LLVMContext &context) {
  if constexpr (std::is_void_v<T>)
    return llvm::Type::getVoidTy(context);
  else if constexpr (std::is_pointer_v<T>)
    return llvm::PointerType::get(context, 0);
  else if constexpr (std::is_same_v<T, float>)
    return llvm::Type::getFloatTy(context);
  else if constexpr (std::is_same_v<T, double>)
    return llvm::Type::getDoubleTy(context);
  else
    return llvm::Type::getIntNTy(context, sizeof(T) * 8);
}

struct Hook {
  size_t offset; // in SprigGpuHooks
  bool isPure;   // does not know the thread, so it depends on its arguments alone
  llvm::FunctionType *(*type)(llvm::LLVMContext &);
};

template <class Pointer> struct HookType;
template <class Result, class First, class... Rest> struct HookType<Result (*)(First, Rest...)> {
  static constexpr bool isPure = !std::is_same_v<First, SprigGpuThread *>;
  static llvm::FunctionType *type(llvm::LLVMContext &context) {
    return llvm::FunctionType::get(hostType<Result>(context), {hostType<First>(context), hostType<Rest>(context)...},
                                   false);
  }
};

namespace hooks {
#define SPRIG_GPU_HOOK(result, name, ...)                                                                              \
  inline constexpr Hook name{offsetof(SprigGpuHooks, name), HookType<decltype(SprigGpuHooks::name)>::isPure,           \
                             &HookType<decltype(SprigGpuHooks::name)>::type};
#include "test/gpu/image/Hooks.def"
#undef SPRIG_GPU_HOOK
} // namespace hooks

} // namespace sprig::gpu
#endif
