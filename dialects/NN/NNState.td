//===- NNState.td - Parameters and other state ----------------------------------------------------------------------------===//

#ifndef SPRIG_NN_NNSTATE_TD
#define SPRIG_NN_NNSTATE_TD

include "dialects/NN/NNBase.td"

def NN_ParamOp : NN_Op<"param", [Symbol]> {
  let summary = "a parameter: state with the model's own name and layout, shared by the entries of a module";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value, OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = "$sym_name attr-dict `=` $value";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() { return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType()); }
  }];
  let hasVerifier = 1;
}
def NN_GetParamOp : NN_Op<"get_param", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

#endif // SPRIG_NN_NNSTATE_TD
