#include "lib/Target/CUDA/Kernels/Contraction/ConvPlaces.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

ConvPlaces::ConvPlaces(ElementBuilder &kernel, Operation *op, const ConvForm &form, ArrayRef<Value> numbers,
                       Value group)
    : k(kernel), n(kernel), op(op), form(form), inputDistances(form.dims.size()), group(group) {
  for (auto [dim, number] : llvm::zip_equal(form.dims, numbers)) phases.push_back(phaseOf(dim, number));
  for (size_t d = form.dims.size(); d-- > 0; inputPlane *= form.dims[d].inputs) inputDistances[d] = inputPlane;
  for (const WindowDim &dim : form.dims) {
    outputSizes.push_back(dim.outputs);
    outputPlane *= dim.outputs;
  }
}

ConvPlaces::Phase ConvPlaces::phaseOf(const WindowDim &dim, Value number) {
  auto choose = [&](int64_t WindowDim::Phase::*field) {
    Value value = n.constant(dim.phases[0].*field);
    for (auto [i, phase] : llvm::enumerate(ArrayRef(dim.phases).drop_front())) {
      if (phase.*field == dim.phases[i].*field) continue;
      Value isFrom = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::uge, n.of(number), n.constant(i + 1));
      value = arith::SelectOp::create(k.b, k.loc, isFrom, n.constant(phase.*field), value);
    }
    return value;
  };
  return {number, choose(&WindowDim::Phase::shift), choose(&WindowDim::Phase::firstTap),
          choose(&WindowDim::Phase::taps)};
}

Value ConvPlaces::steps() {
  Value taps = phases[0].taps;
  for (const Phase &phase : ArrayRef(phases).drop_front()) taps = n.mul(taps, phase.taps);
  return k.mul(n.index(taps), form.channelsOfTap);
}

ConvPlaces::Tap ConvPlaces::tapOf(Value step) {
  Value tap = form.taps() == 1 ? n.constant(0) : n.div(n.of(step), form.channelsOfTap);
  Tap result{n.mul(tap, form.channelsOfTap), SmallVector<Value>(phases.size())};
  for (size_t d = phases.size(); d-- > 1;) {
    Value count = n.max(phases[d].taps, 1); // of none, no element is there
    result.at[d] = n.rem(tap, count);
    tap = n.div(tap, count);
  }
  result.at[0] = tap;
  return result;
}

ConvPlaces::Taps ConvPlaces::taps(bool isOfTap) {
  if (!isOfTap) return {nullptr, [this](Value step) { return tapOf(step); }};
  auto tap = std::make_shared<Tap>();
  return {[=, this](Value begin) { *tap = tapOf(begin); }, [=](Value) { return *tap; }};
}

Value ConvPlaces::tapInFilter(const Tap &tap) {
  Value offset = n.constant(0);
  for (auto [dim, phase, at, distance] : llvm::zip_equal(form.dims, phases, tap.at, form.filter.taps)) {
    Value number = n.add(phase.firstTap, n.mul(at, dim.tapStep));
    // A phase may have fewer taps than another, and its last slice go on beyond them.
    offset = n.add(offset, n.mul(form.phases() > 1 ? n.min(number, dim.window - 1) : number, distance));
  }
  return offset;
}

Value ConvPlaces::filterAt(Value row, const Tap &tap, Value channel) {
  Value offset = n.add(n.mul(n.of(group), form.filter.group), tapInFilter(tap));
  return n.add(n.add(n.mul(row, form.filter.row), offset), n.mul(channel, form.filter.channel));
}

ConvPlaces::Look ConvPlaces::lookOf(Value column, const Tap &tap) {
  Look look{n.delinearize(column, form.columnSizes()), {}, {}, {}};
  bool isInside = form.isInside();
  auto require = [&](Value condition) {
    look.isThere = look.isThere ? k.b.createOrFold<arith::AndIOp>(k.loc, look.isThere, condition) : condition;
  };
  for (auto [d, dim] : llvm::enumerate(form.dims)) {
    Value origin = n.add(n.mul(look.at[1 + d], dim.step), phases[d].shift), moved = n.mul(tap.at[d], dim.dilation);
    look.origin.push_back(origin);
    look.moved.push_back(moved);
    if (!dim.isInside()) require(n.isBelow(n.add(origin, moved), dim.inputs));
    if (form.phases() > 1 && !isInside) require(n.isBelow(tap.at[d], phases[d].taps));
  }
  return look;
}

ConvPlaces::Seen ConvPlaces::seenAt(Value column, const Tap &tap, Value channel) {
  Look look = lookOf(column, tap);
  Value begin = n.mul(n.of(group), form.channels * inputPlane);
  Value place = n.add(n.mul(look.at[0], form.groups * form.channels * inputPlane), begin);
  Value within = n.mul(channel, inputPlane);
  for (auto [origin, moved, distance] : llvm::zip_equal(look.origin, look.moved, inputDistances)) {
    place = n.add(place, n.mul(origin, distance));
    within = n.add(within, n.mul(moved, distance));
  }
  return {n.add(place, within), look.isThere};
}

ConvPlaces::Results ConvPlaces::resultsOf(Value column) {
  Results results{k.delinearize(column, form.columnSizes()), {}, {}};
  for (auto [d, dim] : llvm::enumerate(form.dims)) {
    int64_t count = dim.phases.size();
    results.place.push_back(k.add(k.mul(results.at[1 + d], count), phases[d].number));
    if (dim.outputs % count == 0) continue;
    Value below =
        arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, results.place.back(), k.index(dim.outputs));
    results.isThere = results.isThere ? Value(arith::AndIOp::create(k.b, k.loc, results.isThere, below)) : below;
  }
  return results;
}

void ConvPlaces::store(Epilogue &epilogue, ValueRange sums, const Results &results, Value row, Value exists) {
  auto one = [&] {
    Value channel = k.add(k.mul(group, form.rows), row);
    SmallVector<Value> position{results.at[0], channel};
    llvm::append_range(position, results.place);
    Value image = k.add(k.mul(results.at[0], form.groups * form.rows), channel);
    epilogue.store(sums, position, k.add(k.mul(image, outputPlane), k.linearize(results.place, outputSizes)));
  };
  if (results.isThere)
    exists = exists ? Value(arith::AndIOp::create(k.b, k.loc, exists, results.isThere)) : results.isThere;
  exists ? k.ifThen(exists, one) : one();
}
