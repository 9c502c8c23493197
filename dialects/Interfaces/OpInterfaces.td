//===- OpInterfaces.td - What passes ask of operations ----------------------------------------------------------------===//
//
// Passes and targets work on these interfaces and never on lists of operations.
//
//===------------------------------------------------------------------------------------------------------------------===//

#ifndef SPRIG_INTERFACES_OPINTERFACES_TD
#define SPRIG_INTERFACES_OPINTERFACES_TD

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    An operation whose result element depends only on the operand elements at the same (broadcast) position. Operands
    broadcast to the result by NumPy's rules.
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the operation on scalars, or on 1-d vectors of them: the same code serves both. `args` are in storage form:
      integers signless (signedness is read off the operation's own types), i1 as i1, half types widened to f32. Returns
      a value of the compute type of the result (f32 for half types); the caller rounds it to the result's element type.
    }], "::mlir::Value", "buildScalar",
      (ins "::sprig::ScalarBuilder &":$builder, "::mlir::ValueRange":$args)>,
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    A composite: an operation that is an expression of simpler ones. Gradient, sharding and code of a composite follow
    from its decomposition.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the expression in front of the operation and returns the values that replace its results.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{
    An operation with a vector-Jacobian product. Composites without one are differentiated through their decomposition;
    operations through which no gradient flows have the trait NoGradient.
  }];
  let methods = [
    InterfaceMethod<[{
      Gives the cotangents of the operands that need one, as expressions of operands, results and cotangents of the
      results, which are themselves differentiable. Fails with a diagnostic where there is no such expression.
    }], "::mlir::LogicalResult", "buildVjp", (ins "::sprig::ir::VjpExpression &":$e)>,
  ];
}

// No gradient flows through the operation: its results are steps, counts or conditions, or nothing that depends on a
// real operand.
def NoGradient : NativeOpTrait<"NoGradient"> { let cppNamespace = "::sprig"; }
// The matrix product of operand 0, by rows, with operand 1, in whatever form that lies in memory.
def MatrixProduct : NativeOpTrait<"MatrixProduct"> { let cppNamespace = "::sprig"; }

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::sprig";
  let description = [{What the cost model knows of an operation: floating-point operations and bytes moved.}];
  let methods = [
    InterfaceMethod<[{
      Arithmetic operations of one execution; a fused multiply-add counts as two, a transcendental function as one.
    }], "int64_t", "getFlops", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
      return ::sprig::detail::countResultElements($_op.getOperation());
    }]>,
    InterfaceMethod<[{
      Bytes read and written when every operand is read once and every result written once.
    }], "int64_t", "getBytes", (ins), /*methodBody=*/[{}], /*defaultImplementation=*/[{
      return ::sprig::detail::countOperandAndResultBytes($_op.getOperation());
    }]>,
  ];
}

// What an operation is to fusion; see sprig::FusionKind.
class FusesAs<string kind> : ParamNativeOpTrait<"FusesAs", "::sprig::FusionKind::" # kind> {
  let cppNamespace = "::sprig";
}

// The result is operand 0 as it lies in memory: no element moves, no kernel computes it, and other operands are not read.
// See sprig::storageOf.
def SharesStorage : NativeOpTrait<"SharesStorage"> { let cppNamespace = "::sprig"; }

#endif // SPRIG_INTERFACES_OPINTERFACES_TD
