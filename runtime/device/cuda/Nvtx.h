// Ranges for NVIDIA's tools (NVTX 3), in a domain "sprig": what a thread hands over to a GPU, by entry, operation and
// layer. NVTX has no library: a tool that starts a program names its own in NVTX_INJECTION64_PATH, and that one gives
// the functions.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_NVTX_H
#define SPRIG_RUNTIME_DEVICE_CUDA_NVTX_H

#include <string>

namespace sprig::rt::core {

class Nvtx {
public:
  // The tool; null: there is none.
  static const Nvtx *attached();
  virtual void push(const char *name) const = 0;
  virtual void pop() const = 0;

protected:
  ~Nvtx() = default;
};

// What the calling thread does in a scope. `name` gives a string, and is asked where there is a tool.
class NvtxRange {
public:
  template <typename Name> explicit NvtxRange(Name name) : tool(Nvtx::attached()) {
    if (tool) [[unlikely]]
      tool->push(std::string(name()).c_str());
  }
  ~NvtxRange() {
    if (tool) [[unlikely]]
      tool->pop();
  }
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;

private:
  const Nvtx *const tool;
};

} // namespace sprig::rt::core

#endif
