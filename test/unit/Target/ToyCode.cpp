#include "test/unit/Target/ToyTarget.h"
#include <algorithm>
#include <cstring>

using namespace sprig;
using namespace sprig::rt::core;

namespace {

// Part of a total that a range of tiles is; parts add up to it.
int64_t share(int64_t total, int64_t begin, int64_t end, int64_t tiles) {
  return total * end / tiles - total * begin / tiles;
}

class ToyKernels final : public HostCode {
public:
  int32_t run(uint32_t kernel, const sprig_rt_args &args) const override {
    const ToyCode &code = kernels[kernel];
    float longest = 0;
    for (int64_t i = 0; i < code.inputs; ++i) longest = std::max(longest, *static_cast<const float *>(args.buffers[i]));
    auto *result = static_cast<float *>(args.buffers[code.inputs]);
    std::fill(result + args.tile_begin * code.width, result + args.tile_end * code.width,
              longest + float(code.operations));
    ToyCounts &counts = toyCounts();
    counts.operations += share(code.operations, args.tile_begin, args.tile_end, code.tiles);
    counts.flops += share(code.flops, args.tile_begin, args.tile_end, code.tiles);
    counts.tiles += args.tile_end - args.tile_begin;
    return SPRIG_RT_KERNEL_OK;
  }

  std::vector<ToyCode> kernels;
};

class ToyCodeKind final : public HostCodeKind {
public:
  std::string_view name() const override { return "toy"; }

  Status verify(const Image &image, const Program &program, std::span<const uint8_t> bytes) const override {
    auto bad = [](auto... what) { return Status(SPRIG_RT_BAD_PACKAGE, concat(what...)); };
    if (!image.imports.empty()) return bad("a toy calls nothing, found a call of '", image.imports[0].call, "'");
    for (size_t i = 0; i < image.symbols.size(); ++i) {
      const Kernel &kernel = program.kernels[i];
      if (image.symbolSizes[i] != sizeof(ToyCode))
        return bad("kernel '", kernel.name, "': expected ", sizeof(ToyCode), " bytes of counts, found ",
                   image.symbolSizes[i]);
      ToyCode code = codeOf(image, i, bytes);
      if (code.tiles < 1 || code.operations < 0 || code.flops < 0 || code.width < 0 ||
          code.inputs + 1 != int64_t(kernel.bufferCount))
        return bad("kernel '", kernel.name, "': its counts are none of a kernel of ", kernel.bufferCount, " buffers");
    }
    return {};
  }

  Status load(const CodeRequest &request, std::shared_ptr<const DeviceCode> &code) const override {
    auto fresh = std::make_shared<ToyKernels>();
    std::string found;
    for (size_t i = 0; i < request.program.images.size(); ++i) {
      const Image &image = request.program.images[i];
      found += concat(found.empty() ? "" : ", ", image.isa);
      if ((image.isa != "toy-1" && image.isa != "toy-2") || image.isa < fresh->isa) continue;
      fresh->isa = image.isa;
      fresh->image = int(i);
    }
    if (fresh->image < 0)
      return {SPRIG_RT_UNSUPPORTED, concat("the package has code for ", found, "; this is a toy-2")};
    const Image &image = request.program.images[size_t(fresh->image)];
    for (size_t i = 0; i < image.symbols.size(); ++i)
      fresh->kernels.push_back(codeOf(image, i, request.sections[image.section].bytes));
    code = std::move(fresh);
    return {};
  }

private:
  static ToyCode codeOf(const Image &image, size_t kernel, std::span<const uint8_t> bytes) {
    ToyCode code;
    std::memcpy(&code, bytes.data() + image.symbols[kernel], sizeof code);
    return code;
  }
};

} // namespace

ToyCounts &sprig::toyCounts() {
  static ToyCounts counts;
  return counts;
}

std::unique_ptr<HostCodeKind> sprig::createToyCodeKind() { return std::make_unique<ToyCodeKind>(); }
