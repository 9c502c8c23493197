// One function of a group that is one model at several lengths: what its attribute `nn.lengths` says, for the pass
// mask-lengths. For whoever imports or records such groups, and for the pass.
#pragma once
#include "dialects/NN/Attributes.h"
#include "mlir/IR/Builders.h"
#include <string>

namespace sprig {

struct LengthSample {
  std::string axis;
  int64_t first = 0, last = 0, length = 0, group = 0;
};

/// States it on a function.
inline void setLengthSample(mlir::Operation *function, const LengthSample &sample) {
  mlir::Builder b(function->getContext());
  auto number = [&](llvm::StringRef name, int64_t value) { return b.getNamedAttr(name, b.getI64IntegerAttr(value)); };
  function->setAttr(ir::kLengthsAttr,
                    b.getDictionaryAttr({b.getNamedAttr("axis", b.getStringAttr(sample.axis)),
                                         number("first", sample.first), number("last", sample.last),
                                         number("length", sample.length), number("group", sample.group)}));
}

/// That of a verified attribute.
inline LengthSample lengthSampleOf(mlir::DictionaryAttr stated) {
  auto number = [&](llvm::StringRef name) { return stated.getAs<mlir::IntegerAttr>(name).getInt(); };
  return {stated.getAs<mlir::StringAttr>("axis").str(), number("first"), number("last"), number("length"),
          number("group")};
}

} // namespace sprig
