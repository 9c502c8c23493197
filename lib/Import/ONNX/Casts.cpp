// Conversions of element type.
#include "lib/Import/ONNX/Narrow.h"
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

namespace {

/// To a type that is narrow, or to an element type.
void cast(Node &n, const NarrowType *narrowed, Type to) {
  const Item &from = n.item(0);
  Value x = from.narrow ? widen(n, n.in(0), *from.narrow) : n.in(0);
  if (!narrowed) return n.out(n.cast(x, to));
  bool saturate = n.intAttr("saturate", 1) != 0;
  if (from.narrow == narrowed) return n.outItem(from);
  n.outItem(Item(narrow(n, x, *narrowed, saturate, n.stringAttr("round_mode", "up")), narrowed));
}

void castTo(Node &n) {
  n.require(n.attribute("to"), "needs attribute 'to'");
  const NarrowType *narrowed = narrowType(int(n.intAttr("to")));
  cast(n, narrowed, narrowed ? Type() : n.typeAttr("to", {}));
}
void castLike(Node &n) { cast(n, n.item(1).narrow, Emit::elem(n.in(1))); }
void bitCast(Node &n) {
  Type to = n.typeAttr("to", {});
  Value x = n.in(0);
  // A boolean is a byte of 0 or 1.
  bool toBoolean = to && to.isInteger(1);
  if (toBoolean && Emit::elem(x).isInteger(1)) return n.out(x);
  if (toBoolean) to = n.ui8();
  if (Emit::elem(x).isInteger(1)) x = n.cast(x, n.ui8());
  n.require(to && to.getIntOrFloatBitWidth() == Emit::elem(x).getIntOrFloatBitWidth(),
            "reads the bits of " + typeText(n.in(0)) + " as a type of another width");
  x = n.bitcast(x, to);
  n.out(toBoolean ? n.compare(ir::ComparePredicate::ne, x, n.scalar(0, to)) : x);
}

} // namespace

void addCasts(Table &t) {
  t.add("Cast", {6, 9, 13, 19, 21, 23, 24, 25, 28}, castTo);
  t.add("CastLike", {15, 19, 21, 23, 24, 25}, castLike);
  t.add("BitCast", {26}, bitCast);
}

} // namespace sprig::onnximport
