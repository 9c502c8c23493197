#include "lib/Target/CPU/Layout/WinogradFilter.h"
#include "dialects/Kernel/FilterOrigin.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "runtime/format/ShortFilter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static constexpr int64_t kWidth = kPanelWidth;

ElementsAttr sprig::cpu::transformFilter(ElementsAttr filter, const kernel::WinogradLine &vertical,
                                         const kernel::WinogradLine &horizontal) {
  ir::ConstantView view(filter);
  ArrayRef<int64_t> shape = view.type().getShape();
  int64_t lines = vertical.frequencies(), columns = horizontal.frequencies();
  int64_t panels = llvm::divideCeil(shape[0], kWidth), depth = lines * columns * shape[1];
  auto type = RankedTensorType::get({panels, depth, kWidth}, view.elementType());
  std::vector<char> expanded, bytes(type.getNumElements() * sizeof(float), 0);
  if (view.isSplat()) expanded = view.expanded();
  std::vector<double> down = vertical.filterMatrix(), across = horizontal.filterMatrix();
  rt::format::ShortFilter form{uint64_t(shape[0]),
                               uint64_t(shape[1]),
                               uint64_t(shape[2]),
                               uint64_t(shape[3]),
                               uint64_t(lines),
                               uint64_t(columns),
                               uint64_t(kWidth),
                               down,
                               across};
  rt::format::transformFilter(form,
                              reinterpret_cast<const float *>(view.isSplat() ? expanded.data() : view.bytes().data()),
                              reinterpret_cast<float *>(bytes.data()));
  ElementsAttr transformed = ir::makeConstant(type, std::move(bytes));
  kernel::noteOrigin(transformed, {filter, {vertical.outputs(), horizontal.outputs()}});
  return transformed;
}
