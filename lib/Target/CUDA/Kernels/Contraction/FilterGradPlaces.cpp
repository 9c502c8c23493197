#include "lib/Target/CUDA/Kernels/Contraction/FilterGradPlaces.h"
#include "dialects/Kernel/KernelContraction.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

Operation *sprig::cuda::filterGradientOf(kernel::DispatchOp dispatch) {
  Operation &first = dispatch->getRegion(0).front().front();
  return isa<kernel::ConvFilterGradPartsOp>(first) ? &first : contractionOf(dispatch);
}

Value FilterGradPlaces::cotangentAt(Value row, Value step) {
  int64_t positions = form.positions(), sample = form.groups * form.rows * positions;
  Value begin = n.mul(n.of(group), form.rows * positions);
  SmallVector<Value> at = n.delinearize(n.of(step), {form.stepSizes[0], positions});
  Value image = n.add(n.add(n.mul(at[0], sample), begin), n.mul(n.of(row), positions));
  return n.add(image, at[1]);
}

FilterGradPlaces::Seen FilterGradPlaces::seenAt(Value column, Value step) {
  SmallVector<int64_t> distances(form.dims.size());
  int64_t plane = 1;
  for (size_t d = distances.size(); d-- > 0; plane *= form.dims[d].inputs) distances[d] = plane;
  int64_t sample = form.groups * form.columnSizes[0] * plane;
  Value begin = n.mul(n.of(group), form.columnSizes[0] * plane);
  SmallVector<Value> taps = n.delinearize(n.of(column), form.columnSizes);
  SmallVector<Value> at = n.delinearize(n.of(step), form.stepSizes);
  Value ofColumn = n.add(begin, n.mul(taps[0], plane)), ofStep = n.mul(at[0], sample), isThere;
  for (auto [d, dim] : llvm::enumerate(form.dims)) {
    Value moved = n.add(n.mul(taps[1 + d], dim.dilation), n.constant(dim.phases[0].shift));
    Value origin = n.mul(at[1 + d], dim.step);
    ofColumn = n.add(ofColumn, n.mul(moved, distances[d]));
    ofStep = n.add(ofStep, n.mul(origin, distances[d]));
    if (dim.isInside()) continue;
    Value here = n.isBelow(n.add(origin, moved), dim.inputs);
    isThere = isThere ? k.b.createOrFold<arith::AndIOp>(k.loc, isThere, here) : here;
  }
  return {n.add(ofColumn, ofStep), isThere};
}

void FilterGradPlaces::store(Epilogue &epilogue, bool isFlat, ValueRange sums, Value row, Value column, Value exists) {
  Value output = k.add(k.mul(group, form.rows), row);
  if (form.inParts) output = k.add(k.mul(part, form.groups * form.rows), output);
  auto one = [&] {
    Value offset = k.add(k.mul(output, form.columns()), column);
    SmallVector<Value> position{offset};
    if (!isFlat) position = k.delinearize(offset, shapeOf(op->getResult(0)));
    epilogue.store(sums, position, offset);
  };
  exists ? k.ifThen(exists, one) : one();
}
