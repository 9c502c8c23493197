// NVIDIA's library that does what ptxas does, loaded when it is there.
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringRef.h"
#include <dlfcn.h>

using namespace sprig;
using namespace sprig::cuda;
using llvm::StringRef;

namespace {
// As nvJitLink.h declares them.
using Handle = void *;
constexpr int kSuccess = 0, kInputPtx = 2;

struct Functions {
  int (*version)(unsigned *major, unsigned *minor);
  int (*create)(Handle *handle, uint32_t optionCount, const char **options);
  int (*destroy)(Handle *handle);
  int (*addData)(Handle handle, int kind, const void *data, size_t size, const char *name);
  int (*complete)(Handle handle);
  int (*cubinSize)(Handle handle, size_t *size);
  int (*cubin)(Handle handle, void *bytes);
  int (*infoSize)(Handle handle, size_t *size);
  int (*info)(Handle handle, char *text);
  int (*errorSize)(Handle handle, size_t *size);
  int (*error)(Handle handle, char *text);
};

class NvJitLink : public Assembler {
public:
  NvJitLink(std::string path, const Functions &functions, unsigned major, unsigned minor)
      : path(std::move(path)), functions(functions), version(std::to_string(major) + "." + std::to_string(minor)) {}

  std::string name() const override { return "nvJitLink " + version; }

  llvm::Expected<Cubin> assemble(StringRef ptx, const CudaArch &arch, int level) const override {
    std::string target = "-arch=" + arch.name(), optimize = level == 0 ? "-O0" : "-O3"; // there are no others
    const char *options[] = {target.c_str(), optimize.c_str(), "-fma=0", "-Xptxas=-v"};
    Handle handle = nullptr;
    if (int code = functions.create(&handle, std::size(options), options)) return fails("create", code, nullptr);
    auto destroy = llvm::make_scope_exit([&] { functions.destroy(&handle); });
    std::string text = ptx.str();
    if (int code = functions.addData(handle, kInputPtx, text.c_str(), text.size() + 1, "kernels.ptx"))
      return fails("add the PTX", code, handle);
    if (int code = functions.complete(handle)) return fails("complete", code, handle);
    size_t size = 0;
    if (int code = functions.cubinSize(handle, &size)) return fails("give the cubin's size", code, handle);
    Cubin result;
    result.bytes.resize(size);
    if (int code = functions.cubin(handle, result.bytes.data())) return fails("give the cubin", code, handle);
    result.kernels = parseUsage(log(handle, functions.infoSize, functions.info));
    return result;
  }

private:
  static std::string log(Handle handle, int (*sizeOf)(Handle, size_t *), int (*textOf)(Handle, char *)) {
    size_t size = 0;
    if (!handle || sizeOf(handle, &size) != kSuccess || size == 0) return "";
    std::string text(size + 1, '\0');
    if (textOf(handle, text.data()) != kSuccess) return "";
    return text.c_str();
  }
  llvm::Error fails(StringRef what, int code, Handle handle) const {
    std::string said = log(handle, functions.errorSize, functions.error);
    return llvm::createStringError(path + " does not " + what + ", error " + std::to_string(code) +
                                   (said.empty() ? "" : ": " + StringRef(said).trim().str()));
  }

  std::string path;
  Functions functions;
  std::string version;
};
} // namespace

std::unique_ptr<Assembler> sprig::cuda::openNvJitLink(const std::string &path) {
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  Functions functions;
  auto find = [&](auto *&function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  bool complete =
      find(functions.version, "nvJitLinkVersion") && find(functions.create, "nvJitLinkCreate") &&
      find(functions.destroy, "nvJitLinkDestroy") && find(functions.addData, "nvJitLinkAddData") &&
      find(functions.complete, "nvJitLinkComplete") && find(functions.cubinSize, "nvJitLinkGetLinkedCubinSize") &&
      find(functions.cubin, "nvJitLinkGetLinkedCubin") && find(functions.infoSize, "nvJitLinkGetInfoLogSize") &&
      find(functions.info, "nvJitLinkGetInfoLog") && find(functions.errorSize, "nvJitLinkGetErrorLogSize") &&
      find(functions.error, "nvJitLinkGetErrorLog");
  unsigned major = 0, minor = 0;
  // The library stays loaded: what it has started may not end before the process does.
  if (!complete || functions.version(&major, &minor) != kSuccess) return nullptr;
  return std::make_unique<NvJitLink>(path, functions, major, minor);
}
