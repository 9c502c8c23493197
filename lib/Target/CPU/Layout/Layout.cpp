// Makes convolutions and pools channels-last and moves the transposes out of the way; see Passes.td.
#include "lib/Target/CPU/Layout/LayoutPatterns.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_LAYOUT
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {
struct Layout : impl::LayoutBase<Layout> {
  using LayoutBase::LayoutBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateConvTransposePatterns(patterns);
    populateConvTransposePhasePatterns(patterns);
    populateChannelsLastPatterns(patterns);
    populateTransposeMovePatterns(patterns, strict);
    if (!strict) populateFlattenPatterns(patterns);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setMaxIterations(64);
    // A pattern set that has not settled is still right: every rewrite stands alone.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
} // namespace sprig::cpu
