//===- DimensionRuleInterface.td - How an operation's dimensions belong together -------------------------------------------===//
//
// Dialects attach it to their operations (dialects/NN/Dimension*.cpp), so that headers of operations do not carry it.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_INTERFACES_DIMENSIONRULEINTERFACE_TD
#define SPRIG_INTERFACES_DIMENSIONRULEINTERFACE_TD

include "mlir/IR/OpBase.td"

def DimensionRuleOpInterface : OpInterface<"DimensionRuleOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    An operation that works on parts of its operands. Elementwise operations and composites need none of their own: their
    rules follow from broadcasting and from the decomposition. See sprig::dimensionRuleOf, which is what passes call.
  }];
  let methods = [
    InterfaceMethod<[{
      The factors, and of which of them each dimension consists.
    }], "::sprig::DimensionRule", "getDimensionRule">,
    InterfaceMethod<[{
      Builds the operation on parts of its operands, with `sizes[f]` positions of factor f: attributes that count
      positions change too.
    }], "::mlir::Operation *", "buildOnParts",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands, "::llvm::ArrayRef<int64_t>":$sizes),
      /*methodBody=*/[{}], /*defaultImplementation=*/[{
      auto op = ::llvm::cast<::sprig::DimensionRuleOpInterface>($_op.getOperation());
      return ::sprig::detail::cloneLocal(op, op.getDimensionRule(), builder, operands, sizes);
    }]>,
  ];
}

#endif // SPRIG_INTERFACES_DIMENSIONRULEINTERFACE_TD
