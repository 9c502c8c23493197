//===- NNBase.td - The nn dialect, its types and op classes -----------------------------------------------------------===//

#ifndef SPRIG_NN_NNBASE_TD
#define SPRIG_NN_NNBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "dialects/Interfaces/OpInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::sprig::ir";
  let summary = "Neural networks: what front-ends produce";
  let description = [{
    Value semantics on ranked tensors of static shape. Primitives (elementwise, contraction, convolution, reduction,
    window, gather and scatter, shape) and composites, which decompose into primitives. Elementwise operations
    broadcast by NumPy's rules. Signed integers are signless MLIR types (`i8` to `i64`), unsigned ones are `ui8` to
    `ui64`, booleans are `i1`.
  }];
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
}

// Tensors of the dialect are ranked and static in shape.
def NN_FloatTensor : StaticShapeTensorOf<[F64, F32, F16, BF16]>;
def NN_IndexTensor : StaticShapeTensorOf<[I64, I32]>;
def NN_NumberTensor : StaticShapeTensorOf<[F64, F32, F16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8]>;
def NN_LogicTensor : StaticShapeTensorOf<[I1, I64, I32, I16, I8, UI64, UI32, UI16, UI8]>;
def NN_IntTensor : StaticShapeTensorOf<[I64, I32, I16, I8, UI64, UI32, UI16, UI8]>;
def NN_BoolTensor : StaticShapeTensorOf<[I1]>;
def NN_Tensor : StaticShapeTensorOf<[F64, F32, F16, BF16, I64, I32, I16, I8, UI64, UI32, UI16, UI8, I1]>;

class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic, traits>;

// Has a vector-Jacobian product of its own (Vjp*.cpp).
def NN_Vjp : DeclareOpInterfaceMethods<DifferentiableOpInterface>;

// The end of a description: a function of one operation, which stands alone. A test pipes each into sprig-opt.
class NN_Example<string arguments, string operation, string results> {
  string text = "\n\nExample:\n\n```mlir\nfunc.func @example(" # arguments # ") -> " # results # " {\n  %r = " # operation #
                "\n  return %r : " # results # "\n}\n```\n";
}

// Inference on an adaptor, as upstream's InferTypeOpAdaptor: an operation defines `inferTypes` (Infer*.cpp). A parser has
// put attributes of the dictionary in braces into `attributes`, not yet into `properties`, and has not filled in defaults;
// here they are complete.
def NN_InferTypes : TraitList<[
  DeclareOpInterfaceMethods<InferTypeOpInterface>,
  NativeOpTrait<"InferTypeOpAdaptor", [], [{
    static ::llvm::LogicalResult inferTypes(const ::sprig::ir::Inference &infer, Adaptor op);
  }], [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferredReturnTypes) {
      Properties complete;
      if (properties) complete = *properties.as<Properties *>();
      if (::mlir::failed(::sprig::ir::detail::completeProperties<$cppClass>(complete, context, location, attributes)))
        return ::mlir::failure();
      return inferTypes(::sprig::ir::Inference(location, getOperationName(), inferredReturnTypes),
                        Adaptor(operands, attributes, complete, regions));
    }
  }]>
]>;

// For extraClassDefinition, where the result has the type of the operand.
defvar NN_typeOfOperand = [{
  ::llvm::LogicalResult $cppClass::inferTypes(const Inference &infer, Adaptor op) {
    return infer.giveTypeOf(op.getOperand());
  }
}];

// A pure operation whose result types follow from operands and attributes; the inference is its verifier too.
class NN_InferredOp<string mnemonic, list<Trait> traits = [], Trait cost = CostOpInterface>
    : NN_Op<mnemonic, !listconcat(traits, [Pure, NN_InferTypes, cost])>;

// A composite: decomposes into simpler operations.
class NN_CompositeOp<string mnemonic, list<Trait> traits = [], Trait cost = CostOpInterface>
    : NN_InferredOp<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<DecomposableOpInterface>]), cost>;

class NN_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : NN_InferredOp<mnemonic, !listconcat(traits, [DeclareOpInterfaceMethods<ElementwiseOpInterface>])>;

// Operations whose flops are not one for each element of the result.
def NN_ContractionCost : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>;

#endif // SPRIG_NN_NNBASE_TD
