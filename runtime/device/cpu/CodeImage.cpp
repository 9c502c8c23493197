#include "runtime/device/cpu/CodeImage.h"

#include "runtime/device/cpu/Calls.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace sprig::rt::core {

// The first feature of an image that the processor lacks; empty when there is none.
static std::string missingFeature(const Image &image, const CpuFeatures &cpu,
                                  std::span<const std::string_view> refused) {
  int level = isaLevel(image.isa);
  if (level == 0 || level > cpu.level) return image.isa;
  for (const std::string &feature : image.features)
    if (!cpu.has(feature) || std::find(refused.begin(), refused.end(), feature) != refused.end()) return feature;
  return {};
}

static std::string levelName(int level) { return level ? "x86-64-v" + std::to_string(level) : "no known level"; }

Status chooseImage(const Program &program, const CpuFeatures &cpu, std::string_view limit, uint32_t &index,
                   std::span<const std::string_view> refused) {
  int limitLevel = limit.empty() ? cpu.level : isaLevel(limit);
  if (limitLevel == 0 && !limit.empty())
    return {SPRIG_RT_INVALID_ARGUMENT,
            concat("expected x86-64-v2, x86-64-v3 or x86-64-v4 as instruction set, found '", limit, "'")};
  int best = -1;
  std::string needs;
  // A better level first, then more features: an image for exactly this kind of processor.
  auto score = [](const Image &image) { return isaLevel(image.isa) * 1000 + int(image.features.size()); };
  for (size_t i = 0; i < program.images.size(); ++i) {
    const Image &image = program.images[i];
    if (image.kind != "cpu") continue;
    std::string missing = missingFeature(image, cpu, refused);
    bool allowed = limit.empty() || (isaLevel(image.isa) <= limitLevel && image.features.empty());
    if (missing.empty() && allowed) {
      if (best < 0 || score(image) > score(program.images[best])) best = int(i);
      continue;
    }
    needs += concat(needs.empty() ? "" : ", ", image.isa);
    if (!missing.empty() && missing != image.isa)
      needs += concat(" with ", missing);
    else if (!image.features.empty())
      needs += " with more";
  }
  if (best >= 0) {
    index = uint32_t(best);
    return {};
  }
  std::string machine =
      limit.empty() ? concat("this processor has ", levelName(cpu.level)).text()
                    : concat("no better than ", limit, " may be used, and this processor has ", levelName(cpu.level));
  return {SPRIG_RT_UNSUPPORTED, needs.empty() ? std::string("the package has no code for any processor")
                                              : concat("the package has code for ", needs, "; ", machine)};
}

CodeImage &CodeImage::operator=(CodeImage &&other) noexcept {
  std::swap(address, other.address);
  std::swap(length, other.length);
  std::swap(kernels, other.kernels);
  std::swap(symbols, other.symbols);
  return *this;
}

CodeImage::~CodeImage() {
  if (address) munmap(address, length);
}

// Anonymous memory, so that it also works where the file system forbids execution; never writable and executable at
// once.
Status CodeImage::map(const Image &image, std::span<const uint8_t> bytes, CodeImage &code) {
  size_t page = size_t(sysconf(_SC_PAGE_SIZE));
  auto roundUp = [page](size_t size) { return (size + page - 1) / page * page; };
  CodeImage fresh;
  fresh.length = std::max(roundUp(bytes.size()), page);
  void *address = mmap(nullptr, fresh.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return {SPRIG_RT_OUT_OF_MEMORY, concat("no memory for ", bytes.size(), " bytes of code: ", std::strerror(errno))};
  fresh.address = address;
  uint8_t *base = static_cast<uint8_t *>(address);
  if (!bytes.empty()) std::memcpy(base, bytes.data(), bytes.size());
  for (const ImageImport &import : image.imports) {
    void *call = findRuntimeCall(import.call);
    std::memcpy(base + import.slot, &call, sizeof call);
  }
  // A page that code and slots share becomes executable: slots are only read.
  size_t executable = roundUp(image.codeSize);
  if ((executable && mprotect(base, executable, PROT_READ | PROT_EXEC) != 0) ||
      (executable < fresh.length && mprotect(base + executable, fresh.length - executable, PROT_READ) != 0))
    return {SPRIG_RT_UNSUPPORTED, concat("the system forbids to execute generated code: ", std::strerror(errno))};
  __builtin___clear_cache(reinterpret_cast<char *>(base), reinterpret_cast<char *>(base) + image.codeSize);
  for (uint64_t symbol : image.symbols) fresh.kernels.push_back(reinterpret_cast<sprig_rt_kernel>(base + symbol));
  code = std::move(fresh);
  return {};
}

} // namespace sprig::rt::core
