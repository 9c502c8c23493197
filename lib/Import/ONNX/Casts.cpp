// Conversions of element type.
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

void castTo(Node &n) {
  n.require(n.attribute("to"), "needs attribute 'to'");
  n.out(n.cast(n.in(0), n.typeAttr("to", {})));
}
void castLike(Node &n) { n.out(n.cast(n.in(0), Emit::elem(n.in(1)))); }
void bitCast(Node &n) {
  Type to = n.typeAttr("to", {});
  Type from = Emit::elem(n.in(0));
  n.require(to && to.getIntOrFloatBitWidth() == from.getIntOrFloatBitWidth(),
            "reads the bits of " + typeText(n.in(0)) + " as a type of another width");
  n.out(n.bitcast(n.in(0), to));
}

} // namespace

void addCasts(Table &t) {
  t.add("Cast", {6, 9, 13, 19, 21, 23, 24, 25, 28}, castTo);
  t.add("CastLike", {15, 19, 21, 23, 24, 25}, castLike);
  t.add("BitCast", {26}, bitCast);
}

} // namespace sprig::onnximport
