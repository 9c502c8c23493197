// From PTX to the machine code of an architecture, by what NVIDIA's toolkit has for it: ptxas as a process, else the
// library nvJitLink. For the compilation of programs. Without either there is PTX alone, of which drivers make machine
// code when they load it.
#pragma once
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/Image.h"
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace sprig::cuda {

/// What a kernel takes of the device.
struct KernelUsage {
  std::string function;
  int64_t registers = 0;                   // of a thread
  int64_t sharedBytes = 0;                 // static, of a block
  int64_t stackBytes = 0;                  // of a thread
  int64_t spillStores = 0, spillLoads = 0; // bytes that did not fit its registers

  bool operator==(const KernelUsage &) const = default;
};

struct Cubin {
  std::string bytes;
  std::vector<KernelUsage> kernels; // in the order of the text
};

class Assembler {
public:
  virtual ~Assembler() = default;
  /// "ptxas 13.0.88": code that two of one name make of a text is the same.
  virtual std::string name() const = 0;
  /// `level` is that of `--O`, 0 to 3. Several threads may call it at once. The error has what the tool said.
  virtual llvm::Expected<Cubin> assemble(llvm::StringRef ptx, const CudaArch &arch, int level) const = 0;
};

/// Where to look for the toolkit, and how long to wait for it.
struct ToolkitPlaces {
  /// $CUDA_HOME: where it is set, its folder alone is looked into; set and empty: nowhere.
  std::optional<std::string> home;
  std::string path; // $PATH
  std::string standard = "/usr/local/cuda";
  std::chrono::milliseconds limit = std::chrono::minutes(10); // of a run of ptxas

  static ToolkitPlaces ofEnvironment();
};

/// The first tool that there is: ptxas in CUDA_HOME/bin, the PATH, /usr/local/cuda/bin; then libnvJitLink there or
/// where the system's loader looks. Null without any; `looked` says where that was. The error: one that is there and
/// does not work.
llvm::Expected<std::unique_ptr<Assembler>> findAssembler(const ToolkitPlaces &places, std::string &looked);

/// The figures in what both tools report with `-v`.
std::vector<KernelUsage> parseUsage(llvm::StringRef report);

std::unique_ptr<Assembler> openPtxas(const std::string &path, std::string version, std::chrono::milliseconds limit);
/// Null where the library does not load.
std::unique_ptr<Assembler> openNvJitLink(const std::string &path);

/// How many blocks of a kernel a multiprocessor runs at once: by registers, shared memory, threads and blocks: the
/// least of what each allows.
int64_t blocksOnMultiprocessor(const CudaArch &arch, const KernelUsage &usage, const LaunchShape &launch);

} // namespace sprig::cuda
