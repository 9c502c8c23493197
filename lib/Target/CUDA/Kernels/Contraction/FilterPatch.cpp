#include "lib/Target/CUDA/Kernels/Contraction/FilterPatch.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

// The window's elements are in a row of an odd size, so those of neighbouring rows and channels are at different banks.
static int64_t windowOf(const ConvForm &form) {
  int64_t window = 1;
  for (const WindowDim &dim : form.dims) window *= dim.window;
  return window;
}
static int64_t pitchOf(const ConvForm &form) { return windowOf(form) | 1; }

// In memory rows lie in channels, or channels in rows.
static bool isRowOuter(const ConvForm &form) { return form.filter.row >= form.filter.channel; }

int64_t FilterPatch::elements(const ConvForm &form) {
  constexpr int64_t kMost = 5 << 10;
  if (windowOf(form) < 2 || form.filter.row == 1 || form.filter.channel == 1) return 0;
  int64_t count = form.tile.rows * form.channels * pitchOf(form);
  return count <= kMost ? count : 0;
}

FilterPatch::FilterPatch(GpuBuilder &kernel, ConvPlaces &places, const ConvForm &form, Value group, Value firstRow)
    : k(kernel), n(kernel), places(places), form(form), firstRow(n.of(firstRow)),
      shared(kernel.sharedBuffer({elements(form)}, kernel.b.getF32Type())) {
  copy(group);
}

// Rows beyond the last one are that.
void FilterPatch::copy(Value group) {
  int64_t window = windowOf(form), threads = form.tile.threads;
  SmallVector<int64_t> sizes{form.tile.rows, form.channels, window};
  if (!isRowOuter(form)) std::swap(sizes[0], sizes[1]);
  int64_t units = llvm::product_of(sizes);
  Value source = places.filterBuffer(), ofGroup = n.mul(n.of(group), form.filter.group);
  for (int64_t begin = 0; begin < units; begin += threads) {
    Value i = k.add(k.thread(), begin);
    auto one = [&] {
      SmallVector<Value> at = n.delinearize(n.of(i), sizes);
      Value outer = at[0], inner = at[1];
      Value row = n.min(n.add(firstRow, isRowOuter(form) ? outer : inner), form.rows - 1);
      Value channel = isRowOuter(form) ? inner : outer;
      Value from =
          n.add(n.add(ofGroup, at[2]), n.add(n.mul(row, form.filter.row), n.mul(channel, form.filter.channel)));
      Value to = n.add(n.mul(n.add(n.mul(outer, sizes[1]), inner), pitchOf(form)), at[2]);
      k.copyAsync(source, n.index(from), shared, n.index(to), 1, Value());
    };
    if (begin + threads <= units)
      one();
    else
      k.ifThen(arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, i, k.index(units)), one);
  }
}

Value FilterPatch::at(Value row, const ConvPlaces::Tap &tap, Value channel) {
  Value outer = n.sub(row, firstRow), inner = channel;
  int64_t inners = form.channels;
  if (!isRowOuter(form)) {
    std::swap(outer, inner);
    inners = form.tile.rows;
  }
  return n.add(n.mul(n.add(n.mul(outer, inners), inner), pitchOf(form)), places.tapInFilter(tap));
}
