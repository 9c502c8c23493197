// The end of a process, beside the compiler: LLVM and ONNX make static objects at their first use, and exit() destroys
// them while other threads may compile, and before static objects of the program do their last computations. So nothing
// is compiled from then on. For whoever uses the compiler, and for threads that work in the background.
#pragma once

namespace sprig {

/// Held by who compiles. The end of the process waits for it; once that has begun, making one is an Error (runtime).
class CompilerUse {
public:
  CompilerUse();
  ~CompilerUse();
  CompilerUse(const CompilerUse &) = delete;
  CompilerUse &operator=(const CompilerUse &) = delete;
};

class ProcessEnd {
public:
  /// Called when the end begins, before anything is destroyed; again at each later sign of it.
  static void setHook(void (*hook)());
  /// So that the end is noticed when this thread calls exit(), or returns from main. Cheap after the first time.
  static void watchThread();

private:
  friend class CompilerUse;
  static void begin();
  static void registerAtExit();
};

} // namespace sprig
