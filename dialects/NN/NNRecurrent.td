//===- NNRecurrent.td - Loops over time and recurrent layers --------------------------------------------------------------===//

#ifndef SPRIG_NN_NNRECURRENT_TD
#define SPRIG_NN_NNRECURRENT_TD

include "dialects/NN/NNBase.td"

def NN_ScanOp : NN_Op<"scan", [IsolatedFromAbove, SingleBlockImplicitTerminator<"::sprig::ir::YieldOp">, Pure,
                               AttrSizedOperandSegments, NN_Vjp, NN_ContractionCost]> {
  let summary = "a loop of a fixed number of steps over the first dimension of its inputs";
  let description = [{
    Step t runs the region on slice t of every operand of `over` (without that dimension), on the values of `carry`,
    which start as given, and on the operands of `with`, the same in every step. The region yields first the next values
    of `carry`, then what the step puts out. Results are the last values of `carry`, then the outputs of all steps,
    stacked along a new first dimension. With `reverse` the steps run from the last slice to the first, and step t still
    reads and writes slice t. The region sees nothing but its arguments.

    Example:

    ```mlir
    func.func @example(%x: tensor<5x2x4xf32>, %h0: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<5x2x4xf32> {
      %h, %y = nn.scan steps = 5 over (%xt = %x : tensor<5x2x4xf32>) carry (%s = %h0 : tensor<2x4xf32>) with (%r = %w : tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<5x2x4xf32>) {
        %p = nn.matmul %s, %r {transpose_rhs} : tensor<2x4xf32>, tensor<4x4xf32>
        %0 = nn.add %xt, %p : tensor<2x4xf32>, tensor<2x4xf32>
        %n = nn.tanh %0 : tensor<2x4xf32>
        nn.yield %n, %n : tensor<2x4xf32>, tensor<2x4xf32>
      }
      return %y : tensor<5x2x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs, Variadic<NN_Tensor>:$initial, Variadic<NN_Tensor>:$invariants,
                       I64Attr:$steps, UnitAttr:$reverse);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getStep() { return getBody().front(); }
    unsigned getNumInputs() { return getInputs().size(); }
    unsigned getNumCarried() { return getInitial().size(); }
    unsigned getNumOutputs() { return getNumResults() - getNumCarried(); }
    /// The region's arguments, by what they are.
    ::llvm::ArrayRef<::mlir::BlockArgument> getInputArguments() {
      return getStep().getArguments().take_front(getNumInputs());
    }
    ::llvm::ArrayRef<::mlir::BlockArgument> getCarriedArguments() {
      return getStep().getArguments().slice(getNumInputs(), getNumCarried());
    }
    ::llvm::ArrayRef<::mlir::BlockArgument> getInvariantArguments() {
      return getStep().getArguments().drop_front(getNumInputs() + getNumCarried());
    }
  }];
}

// What all recurrent layers share: one direction, time first. Attributes and optional operands as ONNX has them.
class NN_RecurrentOp<string mnemonic, dag arguments_, dag results_, list<Trait> traits = []>
    : NN_InferredOp<mnemonic,
                    !listconcat(traits, [AttrSizedOperandSegments, DeclareOpInterfaceMethods<DecomposableOpInterface>]),
                    NN_ContractionCost> {
  let arguments = !con(arguments_, (ins OptionalAttr<StrArrayAttr>:$activations, OptionalAttr<DenseF64ArrayAttr>:$alphas,
                                        OptionalAttr<DenseF64ArrayAttr>:$betas, OptionalAttr<F64Attr>:$clip,
                                        UnitAttr:$reverse));
  let results = results_;
}

// As NN_Example, for several results.
class NN_RecurrentExample<string arguments, string names, string operation, string results> {
  string text = "\n\nExample:\n\n```mlir\nfunc.func @example(" # arguments # ") -> " # results # " {\n  %y, " # names # " = " #
                operation # "\n  return %y : " # results # "\n}\n```\n";
}

defvar recurrentText = [{

    `activations` names the functions (sigmoid, tanh, relu, affine, leaky_relu, elu, hard_sigmoid, scaled_tanh, softsign,
    softplus, thresholded_relu), `alphas` and `betas` give one parameter of each; `clip` bounds the arguments of
    activations. `reverse` runs from the last step to the first. With `lengths` [B], row b stops after that many steps:
    its outputs are zero from there on and its state stays. It decomposes into the products of all
    inputs and an nn.scan.
  }];

defvar gateText = [{
    `gate_blocks` says where gates lie that are in another order: the k-th one is block gate_blocks[k] of `weight`,
    `recurrence` and both halves of `bias`.
  }];

def NN_RnnOp : NN_RecurrentOp<"rnn",
    (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$recurrence, NN_FloatTensor:$initial_h,
         Optional<NN_FloatTensor>:$bias, Optional<NN_IndexTensor>:$lengths),
    (outs NN_FloatTensor:$outputs, NN_FloatTensor:$last_h)> {
  let summary = "a recurrent layer without gates (ONNX RNN)";
  let description = [{
    h = f(x W^T + Wb + h R^T + Rb): `input` [T, B, I], `weight` [H, I], `recurrence` [H, H], `initial_h` [B, H], `bias`
    [2H] = Wb and Rb. Results: h of every step [T, B, H] and the last one. The default activation is tanh.
  }] # recurrentText #
      NN_RecurrentExample<"%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>, %h: tensor<2x4xf32>, %b: tensor<8xf32>",
                 "%last", "nn.rnn %x, %w, %r from %h bias %b : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<8xf32>",
                 "tensor<5x2x4xf32>">.text;
  let assemblyFormat = "$input `,` $weight `,` $recurrence `from` $initial_h (`bias` $bias^)? (`lengths` $lengths^)? attr-dict `:` type(operands)";
}

def NN_GruOp : NN_RecurrentOp<"gru",
    (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$recurrence, NN_FloatTensor:$initial_h,
         Optional<NN_FloatTensor>:$bias, Optional<NN_IndexTensor>:$lengths, UnitAttr:$linear_before_reset,
         OptionalAttr<DenseI64ArrayAttr>:$gate_blocks),
    (outs NN_FloatTensor:$outputs, NN_FloatTensor:$last_h)> {
  let summary = "gated recurrent units (ONNX GRU)";
  let description = [{
    z = f(x Wz^T + h Rz^T), r = f(x Wr^T + h Rr^T), n = g(x Wn^T + (r h) Rn^T), h = (1 - z) n + z h, each product with
    its biases; with `linear_before_reset` n = g(x Wn^T + r (h Rn^T + Rbn)). `input` [T, B, I], `weight` [3H, I] and
    `recurrence` [3H, H] in the order z, r, n, `initial_h` [B, H], `bias` [6H]. Results: h of every step [T, B, H] and
    the last one. The default activations are sigmoid (f) and tanh (g). Without `linear_before_reset` the blocks of z and
    r lie side by side.
  }] # gateText # recurrentText #
      NN_RecurrentExample<"%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>",
                 "%last", "nn.gru %x, %w, %r from %h {linear_before_reset, reverse} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>",
                 "tensor<5x2x4xf32>">.text;
  let assemblyFormat = "$input `,` $weight `,` $recurrence `from` $initial_h (`bias` $bias^)? (`lengths` $lengths^)? attr-dict `:` type(operands)";
}

def NN_LstmOp : NN_RecurrentOp<"lstm",
    (ins NN_FloatTensor:$input, NN_FloatTensor:$weight, NN_FloatTensor:$recurrence, NN_FloatTensor:$initial_h,
         NN_FloatTensor:$initial_c, Optional<NN_FloatTensor>:$bias, Optional<NN_FloatTensor>:$peephole,
         Optional<NN_IndexTensor>:$lengths, UnitAttr:$input_forget, OptionalAttr<DenseI64ArrayAttr>:$gate_blocks),
    (outs NN_FloatTensor:$outputs, NN_FloatTensor:$last_h, NN_FloatTensor:$last_c)> {
  let summary = "long short-term memory (ONNX LSTM)";
  let description = [{
    i, o, f = f(x W^T + h R^T + p c), n = g(x Wn^T + h Rn^T), c = f c + i n, h = o k(c), each product with its biases;
    o sees the new c. With `input_forget` f = 1 - i. `input` [T, B, I], `weight` [4H, I] and `recurrence` [4H, H] in the
    order i, o, f, n, `initial_h` and `initial_c` [B, H], `bias` [8H], `peephole` [3H] in the order i, o, f. Results: h
    of every step [T, B, H], the last h and the last c. The default activations are sigmoid (f), tanh (g), tanh (k).
  }] # gateText # recurrentText #
      NN_RecurrentExample<"%x: tensor<5x2x3xf32>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %p: tensor<12xf32>",
                 "%last_h, %last_c", "nn.lstm %x, %w, %r from %h, %c peephole %p : tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<12xf32>",
                 "tensor<5x2x4xf32>">.text;
  let assemblyFormat = "$input `,` $weight `,` $recurrence `from` $initial_h `,` $initial_c (`bias` $bias^)? (`peephole` $peephole^)? (`lengths` $lengths^)? attr-dict `:` type(operands)";
}

def NN_RecurrentF32Tensor : StaticShapeTensorOf<[F32]>;
def NN_RecurrentByteTensor : StaticShapeTensorOf<[I8, UI8]>;

def NN_LstmIntegerOp : NN_RecurrentOp<"lstm_integer",
    (ins NN_RecurrentF32Tensor:$input, NN_RecurrentByteTensor:$weight, NN_RecurrentByteTensor:$recurrence,
         NN_RecurrentF32Tensor:$weight_scale, NN_RecurrentByteTensor:$weight_zero,
         NN_RecurrentF32Tensor:$recurrence_scale, NN_RecurrentByteTensor:$recurrence_zero,
         NN_RecurrentF32Tensor:$initial_h, NN_RecurrentF32Tensor:$initial_c, Optional<NN_RecurrentF32Tensor>:$bias,
         Optional<NN_RecurrentF32Tensor>:$peephole, Optional<NN_IndexTensor>:$lengths, UnitAttr:$input_forget),
    (outs NN_RecurrentF32Tensor:$outputs, NN_RecurrentF32Tensor:$last_h, NN_RecurrentF32Tensor:$last_c), [NoGradient]> {
  let summary = "long short-term memory on products of bytes (com.microsoft DynamicQuantizeLSTM)";
  let description = [{
    nn.lstm with `weight` [I, 4H] and `recurrence` [H, 4H] of bytes, whose elements are (w - zero) * scale: scales and
    zero points are one number or one for each column [4H]. Its products are sums of bytes in 32-bit integers.
    The input is rounded to ui8 once, the state before each step, with the scale and the zero point that the extremes of
    the whole tensor and 0 give: scale = (high - low) / 255, 1 where that is 0, zero = round(-low / scale). A sum becomes
    f32 times the product of both scales. Terms of a gate are added in this order: input, state, peephole, both biases,
    which are added first. `initial_h` and `initial_c` are [B, H], `bias` is [8H], `peephole` [3H]; the order of gates and
    all else is that of nn.lstm.

    With `lengths` only the steps below the largest length count for the input's extremes; with `reverse`, too, each row
    begins at its own last step. All rows take their first step together, then their second, and a row that has put out
    zeros counts as these.
  }] # recurrentText #
      NN_RecurrentExample<"%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %s: tensor<f32>, %z: tensor<i8>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>",
                 "%last_h, %last_c", "nn.lstm_integer %x, %w, %r scales %s, %z, %s, %z from %h, %c : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<2x4xf32>, tensor<2x4xf32>",
                 "tensor<5x2x4xf32>">.text;
  let assemblyFormat = [{
    $input `,` $weight `,` $recurrence `scales` $weight_scale `,` $weight_zero `,` $recurrence_scale `,` $recurrence_zero
    `from` $initial_h `,` $initial_c (`bias` $bias^)? (`peephole` $peephole^)? (`lengths` $lengths^)? attr-dict `:` type(operands)
  }];
}

#endif // SPRIG_NN_NNRECURRENT_TD
