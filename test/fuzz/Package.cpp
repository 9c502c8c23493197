// Packages: loaded as they are; what loads then runs with code of the fuzzer's own in place of theirs (a package's code
// may do anything), which touches the ends of every buffer that it is given. So whatever passes verification must give
// kernels, copies and states memory that is there, and every run must end.
#include "runtime/load/Decode.h"
#include "runtime/test/RankThreads.h"
#include "runtime/test/TestPackage.h"
#include "sprig/rt/kernel.h"
#include "test/fuzz/Fuzz.h"
#include "test/fuzz/PackageParts.h"
#include <algorithm>
#include <cstring>

using namespace sprig;
using namespace sprig::fuzz;
using namespace sprig::rt;

namespace {

constexpr uint64_t kMemoryLimit = 64 << 20;
constexpr uint64_t kMostInterface = 8 << 20;
constexpr uint32_t kMostRanks = 4; // of which an entry is run

// What every dispatch of a kernel promises of an operand.
struct Operand {
  uint64_t bytes = UINT64_MAX;
  bool writable = true;
};
struct Promise {
  std::vector<Operand> operands;
  uint64_t scratch = 0;
};
std::vector<Promise> promises; // by kernel, of the package that runs

int32_t touch(const sprig_rt_args *args, uint32_t kernel) {
  const Promise &promise = promises[kernel];
  require(args->tile_begin < args->tile_end, "a kernel gets tiles");
  for (size_t i = 0; i < promise.operands.size(); ++i) {
    const Operand &operand = promise.operands[i];
    if (operand.bytes == 0 || operand.bytes == UINT64_MAX) continue;
    auto *bytes = static_cast<volatile uint8_t *>(args->buffers[i]);
    require(reinterpret_cast<uintptr_t>(bytes) % alignof(double) == 0, "buffers are aligned");
    uint8_t first = bytes[0], last = bytes[operand.bytes - 1];
    if (!operand.writable) continue;
    bytes[0] = first;
    bytes[operand.bytes - 1] = last;
  }
  auto *scratch = static_cast<volatile uint8_t *>(args->scratch);
  if (promise.scratch) {
    scratch[0] = 1;
    scratch[promise.scratch - 1] = 1;
  }
  return SPRIG_RT_KERNEL_OK;
}

// For each kernel: mov esi, number; mov rax, touch; jmp rax.
constexpr size_t kStub = 32;
test::Bytes stubs(size_t kernels) {
  test::Bytes code(std::max<size_t>(1, kernels) * kStub, 0xcc);
  auto target = reinterpret_cast<uint64_t>(&touch);
  for (uint32_t k = 0; k < kernels; ++k) {
    uint8_t *at = code.data() + k * kStub;
    at[0] = 0xbe;
    std::memcpy(at + 1, &k, 4);
    at[5] = 0x48, at[6] = 0xb8;
    std::memcpy(at + 7, &target, 8);
    at[15] = 0xff, at[16] = 0xe0;
  }
  return code;
}

void collectPromises(const core::Program &program) {
  promises.assign(program.kernels.size(), {});
  for (size_t k = 0; k < promises.size(); ++k) promises[k].scratch = program.kernels[k].scratch;
  for (const core::Entry &entry : program.entries)
    for (const core::Lane &lane : entry.lanes)
      for (const core::Command &command : lane.commands)
        for (uint32_t i = 0; command.kind == core::CommandKind::Dispatch && i < command.operandCount; ++i) {
          const core::Buffer &buffer = entry.buffers[entry.operands[command.firstOperand + i]];
          std::vector<Operand> &operands = promises[command.kernel].operands;
          operands.resize(command.operandCount);
          Operand &operand = operands[i];
          operand.bytes = std::min(operand.bytes, buffer.size);
          operand.writable &= buffer.kind == core::BufferKind::Arena || buffer.kind == core::BufferKind::Output;
        }
}

/// Tensors of the caller's, each with its own bounds.
class Tensors {
public:
  explicit Tensors(const std::vector<TensorInfo> &infos) {
    for (const TensorInfo &info : infos) {
      void *block = std::aligned_alloc(64, (std::max<uint64_t>(info.bytes, 1) + 63) / 64 * 64);
      std::memset(block, 0, info.bytes);
      blocks.emplace_back(block, std::free);
      views.emplace_back(block, info.dtype, info.shape);
    }
  }
  std::vector<std::unique_ptr<void, void (*)(void *)>> blocks;
  std::vector<TensorView> views;
};

bool isSmall(const std::vector<TensorInfo> &infos) {
  uint64_t sum = 0;
  for (const TensorInfo &info : infos)
    if (info.bytes > kMostInterface || (sum += info.bytes) > kMostInterface) return false;
  return true;
}

// Whether the runtime took it.
template <typename Action> bool taken(Action action) {
  try {
    action();
    return true;
  } catch (const rt::Error &error) {
    require(*error.what() != 0, "a refusal says why");
    return false;
  }
}

Package loaded(const test::Bytes &bytes, const char *device = "") {
  LoadOptions options;
  options.device = device;
  options.memoryLimit = kMemoryLimit;
  return Package::fromMemory(bytes, "fuzz.sprig", options);
}

uint32_t ranksOf(const Package &package, uint32_t entry) {
  sprig_rt_ranks_info info = {};
  info.size = sizeof info;
  check(sprig_rt_package_entry_ranks(package.raw(), entry, &info));
  return info.ranks;
}

// All ranks of an entry, each a thread with arrays of its own: none waits for what never comes.
void runRanks(const Package &package, uint32_t entry, uint32_t ranks, const Pool &pool) {
  for (int collectiveThreads : {-1, 1})
    test::onRanks(
        ranks, collectiveThreads,
        [&](uint32_t, const Group &group) {
          try {
            Tensors inputs(package.inputs(entry)), outputs(package.outputs(entry));
            ContextOptions options;
            options.pool = &pool;
            Context context(package, options);
            context.join(group);
            context.invoke(inputs.views, outputs.views, int32_t(entry));
          } catch (const rt::Error &error) {
            require(!std::strstr(error.what(), " has waited "), "ranks of one program do not wait in vain");
          }
        },
        std::chrono::seconds(10));
}

void runAll(const Package &package) {
  static const Pool alone(1), two(2);
  for (uint32_t entry = 0; entry < package.entryCount(); ++entry) {
    if (!isSmall(package.inputs(entry)) || !isSmall(package.outputs(entry))) continue;
    if (uint32_t ranks = ranksOf(package, entry); ranks > 1) {
      if (ranks <= kMostRanks) runRanks(package, entry, ranks, alone);
      continue;
    }
    Tensors inputs(package.inputs(entry)), outputs(package.outputs(entry));
    for (const Pool *pool : {&alone, &two})
      taken([&] {
        ContextOptions options;
        options.pool = pool;
        Context context(package, options);
        context.invoke(inputs.views, outputs.views, int32_t(entry));
      });
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::Bytes bytes(data, data + size);
  if (!taken([&] { loaded(bytes); })) return 0;
  PackageParts parts;
  require(readParts(bytes, parts), "what loads can be taken apart");
  collectPromises(parts.program);
  parts.image = stubs(parts.program.kernels.size());
  for (core::Image &image : parts.program.images) {
    image.codeSize = parts.image.size();
    image.imports.clear();
    image.functions.clear();
    for (size_t k = 0; k < image.symbols.size(); ++k) {
      image.symbols[k] = k * kStub;
      image.symbolSizes[k] = kStub;
    }
  }
  test::Bytes harmless = encode(parts);
  require(taken([&] { runAll(loaded(harmless)); }), "a package loads with other code, too");
  taken([&] { runAll(loaded(harmless, "null")); });
  return 0;
}
