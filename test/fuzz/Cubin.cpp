// Machine code of NVIDIA GPUs, as reports on packages read it.
#include "lib/Cubin/Cubin.h"
#include "test/fuzz/Fuzz.h"

using namespace sprig;
using namespace sprig::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  gpu::Cubin cubin;
  std::string error;
  bool read = gpu::Cubin::parse(bytes, cubin, error);
  require(read == error.empty(), "what is refused says why");
  if (read)
    for (const gpu::CubinKernel &kernel : cubin.kernels) {
      require(cubin.find(kernel.name) != nullptr, "a kernel is found by its name");
      for (const gpu::CubinParameter &parameter : kernel.parameters)
        require(parameter.offset + parameter.size <= kernel.parameterBytes, "parameters lie within their bytes");
    }
  (void)gpu::Cubin::size(bytes);
  return 0;
}
