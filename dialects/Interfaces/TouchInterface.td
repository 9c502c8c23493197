//===- TouchInterface.td - What of its operands and results an operation touches ----------------------------------------===//
//
// Dialects attach it to those operations that do not touch all (dialects/NN/Touch.cpp), so that headers of operations do
// not carry it.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_INTERFACES_TOUCHINTERFACE_TD
#define SPRIG_INTERFACES_TOUCHINTERFACE_TD

include "mlir/IR/OpBase.td"

def TouchOpInterface : OpInterface<"TouchOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    An operation that touches a part of an operand or of a result, or is told by data where to look. Other operations
    read every operand and write every result whole, one byte after the other. See sprig::touchedBy and
    sprig::touchedToMake, which are what cost models call.
  }];
  let methods = [
    InterfaceMethod<"What one execution reads of an operand.", "::sprig::Touched", "getTouchedOperand",
      (ins "unsigned":$index), /*methodBody=*/[{}], /*defaultImplementation=*/[{
      return ::sprig::wholeOf($_op->getOperand(index).getType());
    }]>,
    InterfaceMethod<"What one execution writes of a result.", "::sprig::Touched", "getTouchedResult",
      (ins "unsigned":$index), /*methodBody=*/[{}], /*defaultImplementation=*/[{
      return ::sprig::wholeOf($_op->getResult(index).getType());
    }]>,
  ];
}

#endif // SPRIG_INTERFACES_TOUCHINTERFACE_TD
