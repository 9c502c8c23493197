//===- IndexRangeInterface.td - Which integers an operation can work with -------------------------------------------------===//
//
// Dialects attach it to their operations (dialects/NN/IndexRanges.cpp), so that headers of operations do not carry it.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_INTERFACES_INDEXRANGEINTERFACE_TD
#define SPRIG_INTERFACES_INDEXRANGEINTERFACE_TD

include "mlir/IR/OpBase.td"

def IndexRangeOpInterface : OpInterface<"IndexRangeOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    An operation that takes integers of a range alone, or whose integer results follow from integer operands, so that
    what is asked of the results can be asked of the operands. See sprig::IndexRanges.
  }];
  let methods = [
    InterfaceMethod<[{
      Narrows the ranges of operands to what the operation can work with and to what gives results in their ranges.
    }], "void", "narrowOperands", (ins "::sprig::IndexRanges &":$ranges)>,
  ];
}

#endif // SPRIG_INTERFACES_INDEXRANGEINTERFACE_TD
