#include "test/unit/Target/ToyTarget.h"
#include "dialects/Exec/Exec.h"
#include "dialects/NN/NNShapeOps.h"
#include "sprig/error.h"
#include <cstring>

using namespace mlir;
using namespace sprig;

namespace {
class ToyTarget : public Target {
public:
  StringRef kind() const override { return "toy"; }
  void registerDialects(DialectRegistry &registry) const override {}
  machine::MachineModel machine(const CompileOptions &options) const override { return machine::modelFor({}); }

  bool canFuse(const FusionGroup &group, Operation *op) const override {
    return group.root && fusionKind(group.root) == FusionKind::contraction && group.ops.size() == 1 &&
           isa<ElementwiseOpInterface>(op) && llvm::is_contained(op->getOperands(), group.root->getResult(0)) &&
           op->getResult(0).getType() == group.root->getResult(0).getType();
  }

  FailureOr<KernelPlan> plan(kernel::DispatchOp dispatch) const override {
    for (Operation &op : dispatch.getBody().front())
      if (op.getNumRegions()) {
        dispatch.emitOpError("has no kernel for the toy: it holds '") << op.getName() << "'";
        return failure();
      }
    auto type = cast<RankedTensorType>(dispatch->getResult(0).getType());
    if (dispatch->getNumResults() != 1 || !type.getElementType().isF32())
      return dispatch.emitOpError("has no kernel for the toy: it gives ") << dispatch->getResultTypes(), failure();
    return KernelPlan{type.getRank() ? type.getDimSize(0) : 1, /*scratchBytes=*/64};
  }

  FailureOr<std::vector<PackageImage>> compile(ModuleOp program, const CompileOptions &options, FileCache *,
                                               CodeGenCounts &counts) const override {
    std::vector<PackageImage> images;
    for (const std::string &architecture : options.architectures) {
      if (architecture != "toy-1" && architecture != "toy-2")
        badUse("unknown toy '" + architecture + "'; known are toy-1 and toy-2");
      PackageImage &made = images.emplace_back();
      made.architecture = architecture;
      for (exec::KernelOp kernel : exec::launchedKernels(program)) {
        ToyCode code = count(kernel);
        uint64_t offset = made.image.bytes.size();
        made.image.symbols.push_back({kernel.getSymName().str(), offset, sizeof code});
        made.image.bytes.resize(offset + sizeof code);
        std::memcpy(made.image.bytes.data() + offset, &code, sizeof code);
        ++counts.kernels;
      }
      made.image.codeSize = made.image.bytes.size();
      made.image.functions = made.image.symbols;
    }
    return images;
  }

  FailureOr<std::string> emit(ModuleOp program, const CompileOptions &options, StringRef form) const override {
    if (form != "asm") badUse("there is no form '" + form.str() + "' of a toy; the form is asm");
    std::string text;
    for (exec::KernelOp kernel : exec::launchedKernels(program)) {
      ToyCode code = count(kernel);
      text += kernel.getSymName().str() + ": count " + std::to_string(code.operations) + " operations, " +
              std::to_string(code.flops) + " flops in " + std::to_string(code.tiles) + " tiles\n";
    }
    return text;
  }

private:
  static ToyCode count(exec::KernelOp kernel) {
    auto type = cast<RankedTensorType>(kernel.getFunctionType().getResult(0));
    ToyCode code{0, int64_t(kernel.getFlops()), int64_t(kernel.getTiles()), kernel.getNumInputs(),
                 type.getNumElements() / int64_t(kernel.getTiles())};
    kernel.walk([&](kernel::DispatchOp dispatch) {
      for (Operation &op : dispatch.getBody().front().without_terminator()) code.operations += !isa<ir::ConstantOp>(op);
    });
    return code;
  }
};
} // namespace

std::unique_ptr<Target> sprig::createToyTarget() { return std::make_unique<ToyTarget>(); }
