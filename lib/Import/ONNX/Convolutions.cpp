// Convolutions.
#include "lib/Import/ONNX/Table.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNQuantized.h"
#include "lib/Import/ONNX/Tensor.h"
#include "lib/Import/ONNX/Window.h"

namespace sprig::onnximport {

static void checkRanks(Node &n, Value x, Value filter) {
  n.require(Emit::rank(x) == Emit::rank(filter),
            "has an input of rank " + std::to_string(Emit::rank(x)) + " (" + typeText(x) + ") and a kernel of rank " +
                std::to_string(Emit::rank(filter)) + " (" + typeText(filter) + ")");
  n.require(Emit::rank(x) >= 3, "has an input " + typeText(x) + "; expected batch, channels and spatial dimensions");
  if (Emit::rank(x) > 5)
    n.unsupported("has " + std::to_string(Emit::rank(x) - 2) + " spatial dimensions; supported are 1 to 3");
}

/// Checks a convolution and gives its attributes.
static llvm::SmallVector<mlir::NamedAttribute> convolutionAttributes(Node &n, Value x, Value filter) {
  checkRanks(n, x, filter);
  int64_t groups = n.intAttr("group", 1);
  n.require(groups >= 1, "has " + std::to_string(groups) + " groups");
  int64_t channels = Emit::shape(x)[1], reads = Emit::shape(filter)[1], outputs = Emit::shape(filter)[0];
  // Division instead of a product: both may be anything.
  n.require(channels % groups == 0 && channels / groups == reads,
            "gets " + std::to_string(channels) + " channels (" + typeText(x) + "), but its kernel (" +
                typeText(filter) + ") reads " + std::to_string(reads) + " in each of " + std::to_string(groups) +
                " groups");
  n.require(outputs % groups == 0, "makes " + std::to_string(outputs) + " channels, which " + std::to_string(groups) +
                                       " groups do not divide");
  Window w = readWindow(n, spatialOf(x), Ints(spatialOf(filter)));
  for (size_t i = 0; i < w.size.size(); ++i) {
    int64_t padded = spatialOf(x)[i] + w.low[i] + w.high[i];
    n.require(w.extent(i) <= padded, "slides a window of " + std::to_string(w.extent(i)) + " over " +
                                         std::to_string(padded) + " padded elements of dimension " +
                                         std::to_string(i + 2) + " of " + typeText(x));
  }
  return {n.attr("strides", w.strides), n.attr("dilations", w.dilations), n.attr("padding", w.padding()),
          n.attr("groups", groups)};
}

Value convolve(Node &n, Value x, Value filter) {
  return n.op<ir::ConvOp>({x, filter}, convolutionAttributes(n, x, filter));
}

Value convolve(Node &n, Value x, Value filter, Value inputZero, Value filterZero) {
  return n.op<ir::ConvIntegerOp>({x, filter, inputZero, filterZero}, convolutionAttributes(n, x, filter));
}

Value perChannel(Node &n, Value v, int64_t rank, int64_t channels, const char *what) {
  n.require(Emit::count(v) == channels && Emit::rank(v) <= 1,
            std::string("has a ") + what + " " + typeText(v) + " for " + std::to_string(channels) + " channels");
  Ints shape(size_t(rank - 1), 1);
  shape[0] = channels;
  return n.reshape(v, shape);
}

namespace {

void conv(Node &n) {
  Value result = convolve(n, n.in(0), n.in(1));
  if (n.has(2)) result = n.add(result, perChannel(n, n.in(2), Emit::rank(result), Emit::shape(result)[1], "bias"));
  n.out(result);
}

void convTranspose(Node &n) {
  Value x = n.in(0), filter = n.in(1);
  checkRanks(n, x, filter);
  int64_t groups = n.intAttr("group", 1);
  int64_t channels = Emit::shape(x)[1];
  n.require(groups >= 1 && channels % groups == 0,
            "has " + std::to_string(groups) + " groups, which do not divide " + std::to_string(channels) + " channels");
  n.require(channels == Emit::shape(filter)[0], "gets " + std::to_string(channels) + " channels (" + typeText(x) +
                                                    "), but its kernel (" + typeText(filter) + ") reads " +
                                                    std::to_string(Emit::shape(filter)[0]));
  IntsRef spatial = spatialOf(x);
  size_t count = spatial.size();
  Window w = readWindow(n, spatial, Ints(spatialOf(filter)));
  Ints extra = n.intsAttr("output_padding").value_or(Ints(count, 0));
  n.require(extra.size() == count,
            "has " + std::to_string(extra.size()) + " values in 'output_padding'; expected " + std::to_string(count));
  for (size_t i = 0; i < count; ++i)
    n.require(extra[i] >= 0 && extra[i] < std::max(w.strides[i], w.dilations[i]),
              "has output_padding " + std::to_string(extra[i]) + ", which has to be less than stride " +
                  std::to_string(w.strides[i]) + " or dilation " + std::to_string(w.dilations[i]));
  // Sizes that are asked for, by output_shape or by auto_pad, decide the padding.
  std::string autoPad = n.stringAttr("auto_pad", "NOTSET");
  std::optional<Ints> wanted = n.intsAttr("output_shape");
  if (wanted && wanted->size() == count + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!wanted && same) {
    wanted = Ints();
    for (size_t i = 0; i < count; ++i) wanted->push_back(spatial[i] * w.strides[i]);
  }
  if (wanted) {
    n.require(wanted->size() == count,
              "has " + std::to_string(wanted->size()) + " values in 'output_shape'; expected " + std::to_string(count));
    for (size_t i = 0; i < count; ++i) {
      n.require((*wanted)[i] >= 0, "has output_shape " + shapeText(*wanted));
      int64_t total = w.strides[i] * (spatial[i] - 1) + extra[i] + w.extent(i) - (*wanted)[i];
      if (total < 0) {
        extra[i] -= total;
        total = 0;
      }
      w.low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
    }
  }
  Value result = n.op<ir::ConvTransposeOp>({x, filter}, {n.attr("strides", w.strides), n.attr("dilations", w.dilations),
                                                         n.attr("padding", w.padding()),
                                                         n.attr("output_padding", extra), n.attr("groups", groups)});
  if (n.has(2)) result = n.add(result, perChannel(n, n.in(2), Emit::rank(result), Emit::shape(result)[1], "bias"));
  n.out(result);
}

} // namespace

void addConvolutions(Table &t) {
  t.add("Conv", {1, 11, 22}, conv);
  t.add("ConvTranspose", {1, 11, 22}, convTranspose);
}

} // namespace sprig::onnximport
