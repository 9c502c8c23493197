#include "lib/Pipeline/Tune.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNStructure.h"
#include "lib/Cache/FileCache.h"
#include "lib/Machine/Cpu.h"
#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <optional>

using namespace mlir;
using namespace sprig;

namespace {
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

struct Tile {
  int64_t rows = 0, vectors = 0; // 0: the compiler's own choice
};

// In the order in which they are tried; the compiler's own first.
std::vector<Tile> candidates(const CpuTarget &target, Type elementType) {
  std::vector<Tile> tiles = {{}};
  int64_t wide = std::max<int64_t>(1, 64 / target.vectorBytes * storageBytes(elementType) / 4);
  for (int64_t vectors : {2, 1, 4, 8})
    for (int64_t rows : {14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1}) {
      int64_t registers = (rows + 1) * vectors * wide + 1;
      // More than there are would spill; far fewer leave the multiply-adds waiting for one another.
      if (registers <= target.vectorRegisters && registers * 4 >= target.vectorRegisters)
        tiles.push_back({rows, vectors});
    }
  return tiles;
}

void setTile(ir::DispatchOp dispatch, Tile tile) {
  if (tile.rows)
    dispatch->setAttr("nn.tile", DenseI64ArrayAttr::get(dispatch.getContext(), {tile.rows, tile.vectors}));
  else
    dispatch->removeAttr("nn.tile");
}

// A program of nothing but this dispatch, in the state behind `fuse`.
OwningOpRef<ModuleOp> alone(ir::DispatchOp dispatch, Tile tile) {
  OpBuilder b(dispatch.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(b.getUnknownLoc());
  b.setInsertionPointToEnd(module->getBody());
  auto type = b.getFunctionType(dispatch->getOperandTypes(), dispatch->getResultTypes());
  auto function = func::FuncOp::create(b, b.getUnknownLoc(), "main", type);
  b.setInsertionPointToStart(function.addEntryBlock());
  auto clone = cast<ir::DispatchOp>(b.clone(*dispatch));
  clone->setOperands(function.getArguments());
  setTile(clone, tile);
  func::ReturnOp::create(b, b.getUnknownLoc(), clone->getResults());
  return module;
}

class Tuner {
public:
  Tuner(const CompileOptions &options, const PackageTimer &timer, const CpuTarget &target)
      : options(options), timer(timer), target(target) {}

  // The best tile, from as many candidates as the time allows; nothing when there was time for none.
  std::optional<Tile> search(ir::DispatchOp dispatch, Type elementType, double seconds);

private:
  const CompileOptions &options;
  const PackageTimer &timer;
  const CpuTarget &target;
};

std::optional<Tile> Tuner::search(ir::DispatchOp dispatch, Type elementType, double seconds) {
  struct Variant {
    Tile tile;
    std::function<double()> call;
    double best = 1e30;
  };
  CompileOptions alike = options;
  alike.cpus = {"native"};
  alike.compileFrom = "schedule";
  alike.compileTo = alike.dumpPhases = "";
  alike.remarks.clear();
  alike.report = nullptr;
  alike.tuneSeconds = 0;
  auto start = Clock::now();
  auto spent = [&] { return Seconds(Clock::now() - start).count(); };
  std::vector<Variant> variants;
  for (Tile tile : candidates(target, elementType)) {
    // Half of the time is for the clock.
    if (!variants.empty() && spent() > seconds / 2) break;
    OwningOpRef<ModuleOp> module = alone(dispatch, tile);
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
  return best->best < kWorthwhile * variants.front().best ? best->tile : Tile{};
}

std::string format(Tile tile) { return std::to_string(tile.rows) + " " + std::to_string(tile.vectors); }

std::optional<Tile> parse(StringRef text) {
  Tile tile;
  auto [rows, vectors] = text.split(' ');
  if (rows.getAsInteger(10, tile.rows) || vectors.getAsInteger(10, tile.vectors)) return std::nullopt;
  if (tile.rows < 0 || tile.rows > 14 || !llvm::is_contained({0, 1, 2, 4, 8}, tile.vectors)) return std::nullopt;
  return tile;
}
} // namespace

TuneCounts sprig::tuneTiles(ModuleOp module, const CompileOptions &options, const PackageTimer &timer,
                            const RemarkSink &report) {
  TuneCounts counts;
  auto set = instructionSetByName("native");
  if (!set) throw Error(ErrorKind::unsupported, llvm::toString(set.takeError()));
  struct Kernel {
    std::vector<ir::DispatchOp> dispatches;
    Type elementType;
  };
  llvm::MapVector<StringAttr, Kernel> kernels;
  module.walk([&](ir::DispatchOp dispatch) {
    Type elementType;
    for (Operation &op : dispatch.getBody().front())
      if (isa<ir::MatmulPackedOp, ir::ConvPackedOp>(op)) elementType = getElementTypeOrSelf(op.getResult(0).getType());
    if (!elementType) return;
    Kernel &kernel = kernels[StringAttr::get(module.getContext(), identityOf(dispatch))];
    kernel.dispatches.push_back(dispatch);
    kernel.elementType = elementType;
  });
  counts.kernels = kernels.size();

  std::optional<FileCache> cache;
  if (!options.cacheFolder.empty())
    cache.emplace(options.cacheFolder, "tiles", options.cacheBytes,
                  options.reportDetails ? FileCache::Report(report) : nullptr);
  std::string machine = machine::readCpu().model + "\n" + set->level + " " + llvm::join(set->features, ",") + "\n" +
                        std::to_string(options.threads) + "\n" + codeFingerprint().str() + "\n";
  std::vector<std::pair<Kernel *, std::string>> rest;
  for (auto &[identity, kernel] : kernels) {
    std::string key = contentHash(machine + identity.str());
    std::optional<std::string> kept = cache ? cache->load(key) : std::nullopt;
    std::optional<Tile> tile = kept ? parse(*kept) : std::nullopt;
    if (!tile) {
      rest.push_back({&kernel, key});
      continue;
    }
    ++counts.cached;
    for (ir::DispatchOp dispatch : kernel.dispatches) setTile(dispatch, *tile);
  }
  Tuner tuner(options, timer, set->target);
  auto end = Clock::now() + Seconds(options.tuneSeconds);
  for (size_t i = 0; i < rest.size(); ++i) {
    auto &[kernel, key] = rest[i];
    double left = Seconds(end - Clock::now()).count();
    if (left <= 0) break; // the others keep the compiler's choice, and are tried another time
    auto tile = tuner.search(kernel->dispatches.front(), kernel->elementType, left / double(rest.size() - i));
    if (!tile) continue;
    ++counts.measured;
    for (ir::DispatchOp dispatch : kernel->dispatches) setTile(dispatch, *tile);
    if (cache) cache->store(key, format(*tile));
  }
  if (report)
    report("tune: " + std::to_string(counts.kernels) + " contractions, " + std::to_string(counts.measured) +
           " measured, " + std::to_string(counts.cached) + " known from an earlier time");
  return counts;
}
