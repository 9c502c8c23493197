//===- NNState.td - Parameters and other state ----------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNSTATE_TD
#define SPRIG_NN_NNSTATE_TD

include "dialects/NN/NNBase.td"

def NN_ParamOp : NN_Op<"param", [Symbol]> {
  let summary = "a parameter: state with the model's own name and layout, shared by the entries of a module";
  let description = [{
    Entries read it with nn.get_param; tied parameters are one symbol. `freeze` turns it into a constant.

    Example:

    ```mlir
    nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value, OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = "$sym_name attr-dict `=` $value";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType()); }
  }];
  let hasVerifier = 1;
}
def NN_GetParamOp : NN_Op<"get_param", [Pure, NoGradient, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter";
  let description = [{
    The type is that of the parameter.

    Example:

    ```mlir
    nn.param @weight = dense<[1.0, 2.0]> : tensor<2xf32>
    func.func @example() -> tensor<2xf32> {
      %r = nn.get_param @weight : tensor<2xf32>
      return %r : tensor<2xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def NN_SetParamOp : NN_Op<"set_param", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value that a parameter has after the function";
  let description = [{
    A function reads all parameters (nn.get_param) as they are when it starts and sets each at most once; what it sets
    takes effect when it ends. So a step is a function of state and inputs, and its updates may be done in place.

    Example:

    ```mlir
    nn.param @count = dense<0> : tensor<i64>
    func.func @example() -> tensor<i64> {
      %old = nn.get_param @count : tensor<i64>
      %one = nn.constant dense<1> : tensor<i64>
      %r = nn.add %old, %one : tensor<i64>, tensor<i64>
      nn.set_param @count, %r : tensor<i64>
      return %r : tensor<i64>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$param, NN_Tensor:$value);
  let assemblyFormat = "$param `,` $value attr-dict `:` type($value)";
}

#endif // SPRIG_NN_NNSTATE_TD
