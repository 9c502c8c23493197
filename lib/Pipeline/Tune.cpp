#include "lib/Pipeline/Tune.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Cache/FileCache.h"
#include "lib/Pipeline/OpenCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include <chrono>
#include <optional>

using namespace mlir;
using namespace sprig;

namespace {
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// An attribute's text; the compiler's own choice, which has none, is "own".
std::string textOf(Attribute tile) {
  if (!tile) return "own";
  std::string text;
  llvm::raw_string_ostream(text) << tile;
  return text;
}

// A program of nothing but this dispatch, in the state after `fuse`.
OwningOpRef<ModuleOp> alone(kernel::DispatchOp dispatch, Attribute tile) {
  OpBuilder b(dispatch.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());
  auto type = b.getFunctionType(dispatch->getOperandTypes(), dispatch->getResultTypes());
  auto function = func::FuncOp::create(b, b.getUnknownLoc(), "main", type);
  b.setInsertionPointToStart(function.addEntryBlock());
  auto clone = cast<kernel::DispatchOp>(b.clone(*dispatch));
  clone->removeAttr(kernel::kDeviceAttr);
  clone->setOperands(function.getArguments());
  clone.setTileAttr(tile);
  func::ReturnOp::create(b, b.getUnknownLoc(), clone->getResults());
  return module;
}

struct Kernel {
  std::vector<kernel::DispatchOp> dispatches; // equal ones
  SmallVector<Attribute> tiles;
};

// The best tile, from as many as the time allows; nothing when there was time for none.
std::optional<Attribute> search(const Kernel &kernel, const CompileOptions &options, const PackageTimer &timer,
                                double seconds) {
  struct Variant {
    Attribute tile;
    std::function<double()> call;
    double best = 1e30;
  };
  CompileOptions alike = options;
  alike.architectures = {"native"};
  alike.compileFrom = "schedule";
  alike.compileTo = alike.dumpPhases = "";
  alike.remarks.clear();
  alike.devices.clear();
  alike.places.clear();
  alike.report = nullptr;
  alike.tuneSeconds = 0;
  auto start = Clock::now();
  auto spent = [&] { return Seconds(Clock::now() - start).count(); };
  std::vector<Variant> variants;
  for (Attribute tile : kernel.tiles) {
    // Half of the time is for the clock.
    if (!variants.empty() && spent() > seconds / 2) break;
    OwningOpRef<ModuleOp> module = alone(kernel.dispatches.front(), tile);
    variants.push_back({tile, timer(compileModule(*module, alike).package)});
  }
  // In turn, so that a slow moment of the machine hits all of them; then the slower half is left out.
  size_t alive = variants.size();
  constexpr int kLeastRounds = 3;
  for (int round = 0; round < kLeastRounds || (spent() < seconds && round < 1000); ++round) {
    for (size_t i = 0; i < alive; ++i) variants[i].best = std::min(variants[i].best, variants[i].call());
    if (round % kLeastRounds == kLeastRounds - 1 && alive > 4) {
      // The compiler's own stays: others are measured against it.
      std::sort(variants.begin() + 1, variants.begin() + ptrdiff_t(alive),
                [](const Variant &a, const Variant &b) { return a.best < b.best; });
      alive = std::max<size_t>(4, alive / 2);
    }
  }
  if (variants.size() < 2) return std::nullopt;
  auto best = std::min_element(variants.begin(), variants.begin() + ptrdiff_t(alive),
                               [](const Variant &a, const Variant &b) { return a.best < b.best; });
  // Less than that is noise.
  constexpr double kWorthwhile = 0.98;
  return best->best < kWorthwhile * variants.front().best ? best->tile : Attribute();
}

} // namespace

TuneCounts sprig::tuneTiles(ModuleOp module, const CompileOptions &options, const PackageTimer &timer,
                            const RemarkSink &report) {
  TuneCounts counts;
  const Target &target = targetOf(options);
  llvm::MapVector<StringRef, Kernel> kernels; // by the key of their tiles
  llvm::StringSet<> keys;
  module.walk([&](kernel::DispatchOp dispatch) {
    TileChoices choices = target.tileChoices(dispatch, options);
    if (choices.tiles.empty()) return;
    Kernel &kernel = kernels[keys.insert(choices.key).first->getKey()];
    kernel.dispatches.push_back(dispatch);
    kernel.tiles = std::move(choices.tiles);
  });
  counts.kernels = kernels.size();

  std::unique_ptr<FileCache> cache = openCache(options, "tiles", report);
  std::vector<std::pair<Kernel *, std::string>> rest;
  for (auto &[key, kernel] : kernels) {
    std::optional<std::string> kept = cache ? cache->load(key.str()) : std::nullopt;
    auto known = llvm::find_if(kernel.tiles, [&](Attribute tile) { return kept && textOf(tile) == *kept; });
    if (known == kernel.tiles.end()) {
      rest.push_back({&kernel, key.str()});
      continue;
    }
    ++counts.cached;
    for (kernel::DispatchOp dispatch : kernel.dispatches) dispatch.setTileAttr(*known);
  }
  auto end = Clock::now() + Seconds(options.tuneSeconds);
  for (size_t i = 0; i < rest.size(); ++i) {
    auto &[kernel, key] = rest[i];
    double left = Seconds(end - Clock::now()).count();
    if (left <= 0) break; // the others keep the compiler's choice, and are tried another time
    auto tile = search(*kernel, options, timer, left / double(rest.size() - i));
    if (!tile) continue;
    ++counts.measured;
    for (kernel::DispatchOp dispatch : kernel->dispatches) dispatch.setTileAttr(*tile);
    if (cache) cache->store(key, textOf(*tile));
  }
  if (report)
    report("tune: " + std::to_string(counts.kernels) + " contractions, " + std::to_string(counts.measured) +
           " measured, " + std::to_string(counts.cached) + " known from an earlier time");
  return counts;
}
