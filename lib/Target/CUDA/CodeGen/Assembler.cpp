#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "lib/Target/CUDA/CodeGen/Process.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "lib/Machine/CudaModel.h"
#include <cstdlib>

using namespace sprig;
using namespace sprig::cuda;
using llvm::StringRef;

ToolkitPlaces ToolkitPlaces::ofEnvironment() {
  ToolkitPlaces places;
  if (const char *home = std::getenv("CUDA_HOME")) places.home = home;
  if (const char *path = std::getenv("PATH")) places.path = path;
  return places;
}

// The number before a unit: 16 of "16 bytes spill loads".
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t at = line.find(unit);
  if (at == StringRef::npos) return 0;
  StringRef before = line.take_front(at).rtrim();
  int64_t number = 0;
  (void)before.take_back(before.size() - before.find_last_not_of("0123456789") - 1).getAsInteger(10, number);
  return number;
}

std::vector<KernelUsage> sprig::cuda::parseUsage(StringRef report) {
  std::vector<KernelUsage> kernels;
  llvm::SmallVector<StringRef> lines;
  report.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '"))
      kernels.emplace_back().function = line.split("function '").second.take_until([](char c) { return c == '\''; });
    if (kernels.empty()) continue;
    KernelUsage &kernel = kernels.back();
    if (line.contains("bytes stack frame")) {
      kernel.stackBytes = numberBefore(line, "bytes stack frame");
      kernel.spillStores = numberBefore(line, "bytes spill stores");
      kernel.spillLoads = numberBefore(line, "bytes spill loads");
    }
    if (line.contains(": Used ") && line.contains(" registers")) {
      kernel.registers = numberBefore(line, "registers");
      kernel.sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

namespace {
// A new folder, and what is in it, until its end.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  std::error_code error = llvm::sys::fs::createUniqueDirectory("sprig-ptxas", path);
  ~TemporaryFolder() {
    if (!error) llvm::sys::fs::remove_directories(path);
  }
  std::string file(StringRef name) const { return (path + "/" + name).str(); }
};

class Ptxas : public Assembler {
public:
  Ptxas(std::string path, std::string version, std::chrono::milliseconds limit)
      : path(std::move(path)), version(std::move(version)), limit(limit) {}

  std::string name() const override { return "ptxas " + version; }

  llvm::Expected<Cubin> assemble(StringRef ptx, const CudaArch &arch, int level) const override {
    // One and the same name for each text: a cubin must not depend on where it was made.
    TemporaryFolder folder;
    if (folder.error) return llvm::createStringError("no temporary folder can be made: " + folder.error.message());
    std::error_code error;
    llvm::raw_fd_ostream out(folder.file("kernels.ptx"), error);
    if (!error) {
      out << ptx;
      out.close();
      error = out.error();
      out.clear_error();
    }
    if (error) return llvm::createStringError(folder.file("kernels.ptx") + ": cannot be written: " + error.message());
    auto result = runProcess({path, "-v", "-arch=" + arch.name(), level < 2 ? "-O" + std::to_string(level) : "-O3",
                              "-fmad=false", "kernels.ptx", "-o", "kernels.cubin"},
                             folder.path.str().str(), limit);
    if (!result) return result.takeError();
    if (result->signal || result->code)
      return llvm::createStringError(path + " was ended by " +
                                     (result->signal ? "signal " + std::to_string(result->signal)
                                                     : "an error, exit code " + std::to_string(result->code)) +
                                     ": " + firstErrors(result->output));
    auto cubin = llvm::MemoryBuffer::getFile(folder.file("kernels.cubin"), false, false);
    if (!cubin) return llvm::createStringError(path + " made no cubin: " + cubin.getError().message());
    return Cubin{(*cubin)->getBuffer().str(), parseUsage(result->output)};
  }

private:
  // The lines that are about errors, or the first of those that there are.
  static std::string firstErrors(StringRef output) {
    llvm::SmallVector<StringRef> lines, chosen;
    output.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      if (line.contains("error") || line.contains("fatal")) chosen.push_back(line.trim());
    if (chosen.empty()) chosen = lines;
    if (chosen.empty()) return "it said nothing";
    if (chosen.size() > 4) chosen.resize(4);
    return llvm::join(chosen, "; ");
  }

  std::string path, version;
  std::chrono::milliseconds limit;
};
} // namespace

std::unique_ptr<Assembler> sprig::cuda::openPtxas(const std::string &path, std::string version,
                                                  std::chrono::milliseconds limit) {
  return std::make_unique<Ptxas>(path, std::move(version), limit);
}

// "13.0.88" of what `ptxas --version` prints.
static llvm::Expected<std::string> versionOf(const std::string &ptxas, std::chrono::milliseconds limit) {
  auto result = runProcess({ptxas, "--version"}, "", limit);
  if (!result) return result.takeError();
  StringRef text = StringRef(result->output).split(", V").second.take_until([](char c) { return llvm::isSpace(c); });
  if (result->signal || result->code || text.empty())
    return llvm::createStringError(ptxas + " --version does not say which version it is");
  return text.str();
}

llvm::Expected<std::unique_ptr<Assembler>> sprig::cuda::findAssembler(const ToolkitPlaces &places,
                                                                      std::string &looked) {
  // Toolkits without headers, as programs need them to run, have the name with a version alone.
  constexpr const char *kLibrary = "libnvJitLink.so", *kVersions[] = {".13", ".12"};
  llvm::SmallVector<std::string> tools, libraries;
  auto addToolkit = [&](const std::string &folder) {
    tools.push_back(folder + "/bin/ptxas");
    std::string library = folder + "/lib64/" + kLibrary;
    libraries.push_back(library);
    for (const char *version : kVersions) libraries.push_back(library + version);
  };
  if (places.home) {
    looked = places.home->empty() ? "CUDA_HOME is empty"
                                  : "CUDA_HOME=" + *places.home + " has neither bin/ptxas nor lib64/libnvJitLink.so";
    if (!places.home->empty()) addToolkit(*places.home);
  } else {
    looked = "neither ptxas nor libnvJitLink is in CUDA_HOME, on the PATH or in " + places.standard;
    llvm::SmallVector<StringRef> folders;
    StringRef(places.path).split(folders, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef folder : folders) tools.push_back((folder + "/ptxas").str());
    addToolkit(places.standard);
    for (const char *version : kVersions) libraries.push_back(std::string(kLibrary) + version);
  }
  for (const std::string &tool : tools) {
    if (!llvm::sys::fs::can_execute(tool)) continue;
    // It runs in another folder.
    llvm::SmallString<128> absolute(tool);
    llvm::sys::fs::make_absolute(absolute);
    auto version = versionOf(absolute.str().str(), places.limit);
    if (!version) return version.takeError();
    return openPtxas(absolute.str().str(), std::move(*version), places.limit);
  }
  for (const std::string &library : libraries)
    if (auto assembler = openNvJitLink(library)) return assembler;
  return std::unique_ptr<Assembler>();
}

int64_t sprig::cuda::blocksOnMultiprocessor(const CudaArch &arch, const KernelUsage &usage, const LaunchShape &launch) {
  const machine::CudaDevice *device = machine::findCudaDevice(arch.name());
  return device ? machine::blocksOnMultiprocessor(*device, usage.registers, usage.sharedBytes + launch.sharedBytes,
                                                  launch.threads)
                : 0;
}
