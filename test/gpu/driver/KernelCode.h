// What runs when a kernel is launched: an emulation image that belongs to a cubin or to PTX, by the SHA-256 of its
// bytes, or functions that a test has put in its place (Control.h).
#ifndef SPRIG_TEST_GPU_DRIVER_KERNELCODE_H
#define SPRIG_TEST_GPU_DRIVER_KERNELCODE_H

#include "test/gpu/driver/Checks.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::cuda {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

struct LaunchShape {
  Dim3 grid, block, cluster;
  unsigned dynamicShared = 0;
  bool cooperative = false, hasCluster = false;
};

/// One launch as its code sees it, and what came of it.
struct KernelRun {
  const LaunchShape &shape;
  const unsigned char *parameters;
  char *variables; // the module's, where kernels reach them
  Effects effects;
  std::vector<std::string> complaints;
  CUresult result = CUDA_SUCCESS;
};

struct KernelCode {
  struct Parameter {
    uint32_t offset, size;
  };
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0, staticShared = 0, localBytes = 0, maxThreads = 0;
  uint32_t requiredThreads[3] = {0, 0, 0};
  std::function<void(Driver &, KernelRun &)> run;
};

struct VariableCode {
  std::string name;
  uint64_t offset, size;
};

struct ModuleCode {
  std::vector<KernelCode> kernels;
  std::vector<VariableCode> variables;
  uint64_t variableBytes = 0;
  /// Fills the block of variables, where kernels will reach it.
  std::function<void(char *block)> initialise;

  const KernelCode *find(std::string_view name) const;
};

/// Codes by the hash of what they were made from.
class CodeStore {
public:
  explicit CodeStore(std::string folder) : folder(std::move(folder)) {}
  /// None, with `error` naming the hash and how to make an image, where there is none.
  std::shared_ptr<const ModuleCode> find(const std::string &hash, const char *what, std::string &error);
  /// A test's own kernel, in the place of the image of this hash.
  void add(const std::string &hash, KernelCode kernel);

private:
  std::string folder;
  std::map<std::string, std::shared_ptr<ModuleCode>> known;
};

/// The SHA-256 in hexadecimal digits.
std::string hashOf(std::string_view bytes);

} // namespace sprig::cuda

#endif
