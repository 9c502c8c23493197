// nn.conv and nn.conv_transpose in f32 with what follows them, by tiles: no matrix of windows is ever written.
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/Index32.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include <limits>

using namespace mlir;
using namespace sprig;

static std::optional<ConvForm> formOf(kernel::DispatchOp dispatch) { return ConvForm::of(contractionOf(dispatch)); }

namespace {
class ConvKernel {
public:
  ConvKernel(GpuBuilder &kernel, Operation *op)
      : k(kernel), n(kernel), op(op), form(*ConvForm::of(op)), tile(form.tile),
        isEven(form.phases() == 1 && form.dims.back().outputs % 4 == 0) {}

  void emit(Value tileNumber) {
    SmallVector<Value> at = k.delinearize(tileNumber, form.tiles());
    size_t rank = form.dims.size();
    for (size_t d = 0; d < rank; ++d) phases.push_back(phaseOf(form.dims[d], at[d]));
    group = at[rank];
    Value row = k.mul(at[rank + 1], tile.rows), column = k.mul(at[rank + 2], tile.columns);
    // A convolution's chains are never cut.
    TileProduct product(k, tile, form.depth(), filter(row), windows(column), std::numeric_limits<int64_t>::max());
    if (form.phases() > 1) {
      Value taps = phases[0].taps;
      for (const Phase &phase : ArrayRef(phases).drop_front()) taps = n.mul(taps, phase.taps);
      product.endAt(k.mul(n.index(taps), form.channelsOfTap));
    }
    product.emit([&](ValueRange sums) { store(product, sums); });
  }

private:
  struct Phase {
    Value number, shift, firstTap, taps;
  };
  /// Where a step is: the first step of its tap, and the tap in each dimension of the phase.
  struct Tap {
    Value begin;
    SmallVector<Value> at;
  };

  Phase phaseOf(const WindowDim &dim, Value number) {
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

  Tap tapOf(Value step) {
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

  // `element` of a step's tap and channel; where slices lie in a tap, the tap is found once for each.
  TileSide side(int64_t places, Value first, std::function<Value(Value place, const Tap &tap, Value channel)> element) {
    TileSide side{places, first, TileSide::Places, false, {}};
    if (!form.isOfTap()) {
      side.read = [=, this](Value place, Value step) {
        Tap tap = tapOf(step);
        return element(n.of(place), tap, n.sub(n.of(step), tap.begin));
      };
      return side;
    }
    auto tap = std::make_shared<Tap>();
    side.enter = [=, this](Value begin) { *tap = tapOf(begin); };
    side.read = [=, this](Value place, Value step) {
      return element(n.of(place), *tap, n.sub(n.of(step), tap->begin));
    };
    return side;
  }

  // Channels beyond the last fill a tap's last slice.
  Value orPadding(Value channel, Value element, double padding) {
    if (form.channelsOfTap == form.channels) return element;
    Value none = k.constant(k.b.getF32Type(), padding);
    if (isa<VectorType>(element.getType())) none = k.splat(none, 4);
    return arith::SelectOp::create(k.b, k.loc, n.isBelow(channel, form.channels), element, none);
  }

  TileSide filter(Value firstRow) {
    Value buffer = bufferOf(storedFilter(op));
    bool rowsInner = form.filter.row == 1;
    bool isWide = rowsInner ? form.rows % 4 == 0 && form.filter.channel % 4 == 0
                            : form.filter.channel == 1 && form.channels % 4 == 0;
    Value begin = n.mul(n.of(group), form.filter.group);
    TileSide result = side(form.rows, firstRow, [=, this](Value row, const Tap &tap, Value channel) {
      Value offset = begin, last = channel;
      if (form.channelsOfTap != form.channels) last = n.min(channel, form.channels - 1);
      for (auto [dim, phase, at, distance] : llvm::zip_equal(form.dims, phases, tap.at, form.filter.taps)) {
        Value number = n.add(phase.firstTap, n.mul(at, dim.tapStep));
        // A phase may have fewer taps than another, and its last slice go on beyond them.
        offset = n.add(offset, n.mul(form.phases() > 1 ? n.min(number, dim.window - 1) : number, distance));
      }
      offset = n.add(n.add(n.mul(row, form.filter.row), offset), n.mul(last, form.filter.channel));
      return orPadding(channel, load(buffer, offset, isWide), -0.0);
    });
    result.isWide = isWide;
    if (!rowsInner) result.inner = TileSide::Steps;
    return result;
  }

  // Whether columns are neighbours in the operand as they are in the result.
  bool isPointwise() const {
    return form.taps() == 1 && form.isInside() && llvm::all_of(form.dims, [](const WindowDim &dim) {
             return dim.step == 1 && dim.inputs == dim.outputs && dim.phases.size() == 1;
           });
  }

  TileSide windows(Value firstColumn) {
    Value buffer = bufferOf(op->getOperand(0));
    SmallVector<int64_t> distances(form.dims.size());
    int64_t plane = 1;
    for (size_t d = distances.size(); d-- > 0; plane *= form.dims[d].inputs) distances[d] = plane;
    int64_t sample = form.groups * form.channels * plane;
    bool isWide = isPointwise() && plane % 4 == 0, isInside = form.isInside();
    Value begin = n.mul(n.of(group), form.channels * plane);
    TileSide result = side(form.columns(), firstColumn, [=, this](Value column, const Tap &tap, Value channel) {
      SmallVector<Value> at = n.delinearize(column, form.columnSizes());
      Value place = n.add(n.mul(at[0], sample), begin), within = n.mul(channel, plane), isThere;
      auto require = [&](Value condition) {
        isThere = isThere ? k.b.createOrFold<arith::AndIOp>(k.loc, isThere, condition) : condition;
      };
      for (auto [d, dim] : llvm::enumerate(form.dims)) {
        Value origin = n.add(n.mul(at[1 + d], dim.step), phases[d].shift), moved = n.mul(tap.at[d], dim.dilation);
        place = n.add(place, n.mul(origin, distances[d]));
        within = n.add(within, n.mul(moved, distances[d]));
        if (!dim.isInside()) require(n.isBelow(n.add(origin, moved), dim.inputs));
        if (form.phases() > 1 && !isInside) require(n.isBelow(tap.at[d], phases[d].taps));
      }
      Value offset = n.add(place, within);
      if (!isInside || form.channelsOfTap != form.channels) offset = n.clamp(offset, form.samples * sample);
      Value element = load(buffer, offset, isWide);
      if (!isInside) element = TileProduct::elementOrAbsent(k, isThere, element);
      return orPadding(channel, element, 0.0);
    });
    result.isWide = isWide;
    result.together = isEven ? 4 : 1;
    if (!isInside) result.presence = form.isOfTap() ? tile.depth : form.channels % 4 == 0 ? 4 : 1;
    return result;
  }

  Value bufferOf(Value operand) { return k.flat(k.bufferOf(cast<BlockArgument>(operand))); }
  Value load(Value buffer, Value offset, bool isWide) {
    Type f32 = k.b.getF32Type();
    return isWide ? k.loadVector(buffer, n.index(offset), f32, {}, 4) : k.load(buffer, n.index(offset), f32);
  }

  void store(TileProduct &product, ValueRange sums) {
    Epilogue epilogue(k, op, isEven ? product.neighbours() : 1);
    SmallVector<int64_t> outputs;
    for (const WindowDim &dim : form.dims) outputs.push_back(dim.outputs);
    int64_t plane = 1;
    for (int64_t size : outputs) plane *= size;
    for (int64_t j = 0; j < tile.threadColumns; j += epilogue.lanes()) {
      Value column = product.column(j), isThere;
      SmallVector<Value> at = k.delinearize(column, form.columnSizes()), place;
      for (auto [d, dim] : llvm::enumerate(form.dims)) {
        int64_t count = dim.phases.size();
        place.push_back(k.add(k.mul(at[1 + d], count), phases[d].number));
        if (dim.outputs % count == 0) continue;
        Value below = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, place.back(), k.index(dim.outputs));
        isThere = isThere ? Value(arith::AndIOp::create(k.b, k.loc, isThere, below)) : below;
      }
      for (int64_t i = 0; i < tile.threadRows; ++i) {
        Value row = product.row(i), exists = product.exists(row, column);
        auto one = [&] {
          Value channel = k.add(k.mul(group, form.rows), row);
          SmallVector<Value> position{at[0], channel};
          llvm::append_range(position, place);
          Value image = k.add(k.mul(at[0], form.groups * form.rows), channel);
          epilogue.store(sums.slice(i * tile.threadColumns + j, epilogue.lanes()), position,
                         k.add(k.mul(image, plane), k.linearize(place, outputs)));
        };
        if (isThere) exists = exists ? Value(arith::AndIOp::create(k.b, k.loc, exists, isThere)) : isThere;
        exists ? k.ifThen(exists, one) : one();
      }
    }
  }

  GpuBuilder &k;
  Index32 n;
  Operation *op;
  const ConvForm form;
  const TileShape tile;
  const bool isEven; // four neighbouring columns are neighbours in a row of the result
  SmallVector<Phase> phases;
  Value group;
};

class ConvEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "conv"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto form = formOf(dispatch);
    return form && form->isWorthTiles();
  }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    ConvForm form = *formOf(dispatch);
    return {llvm::product_of(form.tiles()), form.tile.threads};
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return mayOverwriteAfterContraction(dispatch, operand);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value tile) const override {
    ConvKernel(k, contractionOf(dispatch)).emit(tile);
    return success();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuConvEmitter() { return std::make_unique<ConvEmitter>(); }
