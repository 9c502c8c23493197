// DeformConv: a convolution whose kernel reads where offsets of each place say, between pixels by bilinear
// interpolation. Pixels are gathered as rows of channels, and multiplied with the filter as one matrix for each group.
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Import/ONNX/Table.h"
#include "lib/Import/ONNX/Tensor.h"
#include "lib/Import/ONNX/Window.h"

namespace sprig::onnximport {

Value perChannel(Node &n, Value v, int64_t rank, int64_t channels, const char *what);

namespace {

class Deformed {
public:
  explicit Deformed(Node &n) : n(n), x(n.in(0)), filter(n.in(1)), offset(n.in(2)) {
    if (Emit::rank(x) != 4 && Emit::rank(x) >= 3)
      n.unsupported("has an input " + typeText(x) +
                    "; Sprig deforms convolutions of images: batch, channels, height and width");
    n.require(Emit::rank(x) == 4 && Emit::rank(filter) == 4 && Emit::rank(offset) == 4,
              "has an input " + typeText(x) + ", a kernel " + typeText(filter) + " and offsets " + typeText(offset) +
                  "; expected four dimensions of each");
    batch = Emit::shape(x)[0], channels = Emit::shape(x)[1], outputs = Emit::shape(filter)[0];
    groups = n.intAttr("group", 1), fields = n.intAttr("offset_group", 1);
    n.require(channels >= 1 && outputs >= 1 && groups >= 1 && fields >= 1 && channels % groups == 0 &&
                  outputs % groups == 0 && channels % fields == 0 && channels / groups == Emit::shape(filter)[1],
              "has an input " + typeText(x) + " and a kernel " + typeText(filter) + " in " + std::to_string(groups) +
                  " groups, with offsets in " + std::to_string(fields));
    window = readWindow(n, spatialOf(x), Ints(spatialOf(filter)));
    for (size_t d = 0; d < 2; ++d) {
      int64_t room = spatialOf(x)[d] + window.low[d] + window.high[d] - window.extent(d);
      n.require(room >= 0 && spatialOf(x)[d] > 0,
                "slides a window of " + std::to_string(window.extent(d)) + " over " + typeText(x));
      size[d] = room / window.strides[d] + 1;
    }
    taps = window.size[0] * window.size[1], places = size[0] * size[1];
    expectPlaces(offset, fields * taps * 2, "offsets");
    if (n.has(4)) expectPlaces(n.in(4), fields * taps, "a mask");
  }

  /// [batch, outputs, height, width].
  Value run() {
    type = Emit::elem(x).isF64() ? Emit::elem(x) : n.f32();
    // Where each tap of each place reads: [batch, fields, taps, places].
    Value moves = n.reshape(n.cast(offset, type), {batch, fields, taps, 2, places});
    Value position[2];
    for (int64_t d = 0; d < 2; ++d)
      position[d] = n.add(n.reshape(n.sliceAxis(moves, 3, d, 1), {batch, fields, taps, places}), grid(d));
    Value sum;
    for (int64_t corner = 0; corner < 4; ++corner) {
      Value part = sample(position, {corner / 2, corner % 2});
      sum = sum ? n.add(sum, part) : part;
    }
    if (n.has(4)) sum = n.mul(sum, n.reshape(n.cast(n.in(4), type), {batch, fields, taps, places, 1}));
    // The channels of a field lie together, and those of a group.
    Value columns = n.reshape(n.transpose(sum, {0, 1, 4, 2, 3}), {batch, groups, channels / groups * taps, places});
    Value rows = n.reshape(n.cast(filter, type), {1, groups, outputs / groups, channels / groups * taps});
    rows = n.broadcast(rows, {batch, groups, outputs / groups, channels / groups * taps});
    Value y = n.reshape(n.matmul(rows, columns), {batch, outputs, size[0], size[1]});
    return n.cast(y, Emit::elem(x));
  }

private:
  void expectPlaces(Value v, int64_t count, const char *what) {
    n.require(Emit::shape(v) == IntsRef{batch, count, size[0], size[1]},
              std::string("has ") + what + " " + typeText(v) + "; expected " +
                  shapeText({batch, count, size[0], size[1]}));
  }

  /// Where taps would read along a dimension without offsets: [taps, places].
  Value grid(int64_t d) {
    auto along = [&](IntsRef sizes, int64_t step) {
      Ints shape(2, 1);
      shape[d] = sizes[d];
      return n.broadcast(n.mul(n.iota(shape, n.i64(), d), n.ints({step}, {})), sizes);
    };
    Value place = n.reshape(along({size[0], size[1]}, window.strides[d]), {1, places});
    Value tap = n.reshape(along(window.size, window.dilations[d]), {taps, 1});
    return n.cast(n.add(n.add(place, tap), n.ints({-window.low[d]}, {})), type);
  }

  /// What one of the four pixels around gives: [batch, fields, taps, places, channels of a field].
  Value sample(const Value (&position)[2], std::array<int64_t, 2> corner) {
    Value weight, at, isInside;
    for (int64_t d = 0; d < 2; ++d) {
      int64_t extent = spatialOf(x)[d];
      Value below = n.op<ir::FloorOp>({position[d]}), pixel = corner[d] ? n.add(below, 1) : below;
      Value share = n.sub(position[d], below);
      if (!corner[d]) share = n.sub(1, share);
      Value last = n.scalar(double(extent - 1), type), first = n.scalar(0, type);
      Value inside = n.op<ir::AndOp>(
          {n.compare(ir::ComparePredicate::ge, pixel, first), n.compare(ir::ComparePredicate::le, pixel, last)});
      Value index = n.cast(n.min(n.max(pixel, first), last), n.i64());
      weight = weight ? n.mul(weight, share) : share;
      isInside = isInside ? n.op<ir::AndOp>({isInside, inside}) : inside;
      at = at ? n.add(n.mul(at, n.ints({extent}, {})), index) : index;
    }
    weight = n.select(isInside, weight, n.scalar(0, type));
    int64_t pixels = spatialOf(x)[0] * spatialOf(x)[1], each = channels / fields;
    Value field = n.reshape(n.iota({batch * fields}, n.i64(), 0), {batch, fields, 1, 1});
    at = n.add(at, n.mul(field, n.ints({pixels}, {})));
    Value rows = n.transpose(n.reshape(n.cast(x, type), {batch * fields, each, pixels}), {0, 2, 1});
    Value picked = n.gather(n.reshape(rows, {batch * fields * pixels, each}), at, 0);
    return n.mul(picked, n.unsqueeze(weight, 4));
  }

  Node &n;
  Value x, filter, offset;
  Window window;
  Type type; ///< to compute in
  int64_t batch, channels, outputs, groups, fields, taps, places, size[2];
};

void deformConv(Node &n) {
  Value y = Deformed(n).run();
  if (n.has(3)) y = n.add(y, perChannel(n, n.in(3), 4, Emit::shape(y)[1], "bias"));
  n.out(y);
}

} // namespace

void addDeformedConvolution(Table &t) { t.add("DeformConv", {19, 22}, deformConv); }

} // namespace sprig::onnximport
