// RUN: sprig-opt %s --sprig-decompose --sprig-fuse | FileCheck %s
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse=fuse=false | FileCheck %s --check-prefix=APART
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse -remark-format=emitRemark --remarks-filter='fuse' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Five operations of a classifier become three kernels.
// CHECK-LABEL: func.func @mlp
// CHECK:         kernel.dispatch "matmul_add_relu"
// CHECK:         kernel.dispatch "matmul_add"
// CHECK:         kernel.dispatch "reduce_sub_exp_reduce_reciprocal_mul"
// CHECK-NOT:     kernel.dispatch
// APART-LABEL: func.func @mlp
// APART-COUNT-11: kernel.dispatch
// APART-NOT:     kernel.dispatch
// APART-LABEL: func.func @residual
// REMARK: one kernel of nn.matmul, nn.add, nn.relu
// REMARK: one kernel of nn.reduce, nn.sub, nn.exp, nn.reduce, nn.reciprocal, nn.mul
func.func @mlp(%x: tensor<64x784xf32>, %w0: tensor<256x784xf32>, %b0: tensor<256xf32>, %w1: tensor<10x256xf32>,
               %b1: tensor<10xf32>) -> tensor<64x10xf32> {
  %0 = nn.linear %x, %w0, %b0 : tensor<64x784xf32>, tensor<256x784xf32>, tensor<256xf32>
  %1 = nn.relu %0 : tensor<64x256xf32>
  %2 = nn.linear %1, %w1, %b1 : tensor<64x256xf32>, tensor<10x256xf32>, tensor<10xf32>
  %3 = nn.softmax %2 axis = 1 : tensor<64x10xf32>
  return %3 : tensor<64x10xf32>
}

// A residual joins the epilogue as an operand; the value that two consumers need is the only result.
// CHECK-LABEL: func.func @residual
// CHECK:         %[[SUM:.*]] = kernel.dispatch "matmul_add_add_relu"
// CHECK:         kernel.dispatch "matmul"
// CHECK-SAME:      %[[SUM]]
func.func @residual(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.add %0, %b : tensor<4x8xf32>, tensor<8xf32>
  %2 = nn.add %1, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %3 = nn.relu %2 : tensor<4x8xf32>
  %4 = nn.matmul %3, %w : tensor<4x8xf32>, tensor<8x8xf32>
  return %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A value that is needed inside and outside is a result too: written once, and not read to compute what follows.
// CHECK-LABEL: func.func @escapes
// CHECK:         kernel.dispatch "matmul_relu"
// CHECK-SAME:      -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NOT:     kernel.dispatch
func.func @escapes(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.relu %0 : tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A window's loop would be gone through again for each result.
// CHECK-LABEL: func.func @escapes_from_loop
// CHECK:         kernel.dispatch "pool"
// CHECK:         kernel.dispatch "relu"
// REMARK: nn.pool keeps its consumers apart: several of the values are used elsewhere
func.func @escapes_from_loop(%x: tensor<2x4x4x8xf32>) -> (tensor<2x2x2x8xf32>, tensor<2x2x2x8xf32>) {
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
                       padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<2x4x4x8xf32>
  %1 = nn.relu %0 : tensor<2x2x2x8xf32>
  return %0, %1 : tensor<2x2x2x8xf32>, tensor<2x2x2x8xf32>
}

// An optimizer's update joins the gradient: three results, and the decayed moments, which nothing else uses.
// CHECK-LABEL: func.func @update
// CHECK:         kernel.dispatch "mul_mul_matmul_mul_add_mul_mul_add_sqrt_add_div_mul_sub"
// CHECK-SAME:      -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>)
// CHECK-NOT:     kernel.dispatch
func.func @update(%x: tensor<4x6xf32>, %dy: tensor<4x8xf32>, %w: tensor<8x6xf32>, %m: tensor<8x6xf32>, %v: tensor<8x6xf32>,
                  %beta1: tensor<f32>, %rest1: tensor<f32>, %beta2: tensor<f32>, %rest2: tensor<f32>, %epsilon: tensor<f32>,
                  %rate: tensor<f32>) -> (tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>) {
  %m0 = nn.mul %m, %beta1 : tensor<8x6xf32>, tensor<f32>
  %v0 = nn.mul %v, %beta2 : tensor<8x6xf32>, tensor<f32>
  %g = nn.matmul %dy, %x {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
  %m1 = nn.mul %g, %rest1 : tensor<8x6xf32>, tensor<f32>
  %m2 = nn.add %m0, %m1 : tensor<8x6xf32>, tensor<8x6xf32>
  %g2 = nn.mul %g, %g : tensor<8x6xf32>, tensor<8x6xf32>
  %v1 = nn.mul %g2, %rest2 : tensor<8x6xf32>, tensor<f32>
  %v2 = nn.add %v0, %v1 : tensor<8x6xf32>, tensor<8x6xf32>
  %root = nn.sqrt %v2 : tensor<8x6xf32>
  %denominator = nn.add %root, %epsilon : tensor<8x6xf32>, tensor<f32>
  %ratio = nn.div %m2, %denominator : tensor<8x6xf32>, tensor<8x6xf32>
  %step = nn.mul %ratio, %rate : tensor<8x6xf32>, tensor<f32>
  %w1 = nn.sub %w, %step : tensor<8x6xf32>, tensor<8x6xf32>
  return %w1, %m2, %v2 : tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>
}

// A relu's mask, for the gradient that it cuts, is a second result: one byte to write and to read, not the four of the
// value.
// CHECK-LABEL: func.func @masked
// CHECK:         kernel.dispatch "matmul_relu_compare"
// CHECK-SAME:      -> (tensor<4x8xf32>, tensor<4x8xi1>)
// CHECK:         kernel.dispatch "matmul_select"
// CHECK-NOT:     kernel.dispatch
func.func @masked(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %dy: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.relu %0 : tensor<4x8xf32>
  %2 = nn.compare gt %1, %zero : tensor<4x8xf32>, tensor<f32>
  %3 = nn.matmul %1, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %4 = nn.add %3, %dy : tensor<4x8xf32>, tensor<4x8xf32>
  %5 = nn.matmul %4, %w {transpose_rhs} : tensor<4x8xf32>, tensor<8x8xf32>
  %6 = nn.select %2, %5, %zero : tensor<4x8xi1>, tensor<4x8xf32>, tensor<f32>
  return %1, %6 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A second product's bias stays with it, though the first product's epilogue alone needs the sum.
// CHECK-LABEL: func.func @two_products
// CHECK-DAG:     kernel.dispatch "matmul_add" (
// CHECK-DAG:     kernel.dispatch "matmul_add_add" (
// CHECK-NOT:     kernel.dispatch
func.func @two_products(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.add %0, %b : tensor<4x8xf32>, tensor<8xf32>
  %2 = nn.matmul %x, %v : tensor<4x8xf32>, tensor<8x8xf32>
  %3 = nn.add %2, %b : tensor<4x8xf32>, tensor<8xf32>
  %4 = nn.add %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// What the product itself reads is computed before it, though only its epilogue uses it besides.
// CHECK-LABEL: func.func @feeds_root
// CHECK:         kernel.dispatch "sin"
// CHECK:         kernel.dispatch "matmul_sub"
// CHECK-NOT:     kernel.dispatch
func.func @feeds_root(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.sin %x : tensor<8x8xf32>
  %1 = nn.matmul %0, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = nn.sub %1, %0 : tensor<8x8xf32>, tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// The derivative of a tanh is computed from its value where it is needed: the value is kept anyway.
// CHECK-LABEL: func.func @kept_value
// CHECK:         kernel.dispatch "matmul_tanh"
// CHECK-SAME:      -> tensor<4x8xf32>
// CHECK:         kernel.dispatch "mul_sub_matmul_mul"
// CHECK-NOT:     kernel.dispatch
func.func @kept_value(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.matmul %x, %w {transpose_rhs} : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.tanh %0 : tensor<4x8xf32>
  %2 = nn.mul %1, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  %3 = nn.sub %one, %2 : tensor<f32>, tensor<4x8xf32>
  %4 = nn.matmul %1, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %5 = nn.mul %4, %3 : tensor<4x8xf32>, tensor<4x8xf32>
  return %1, %5 : tensor<4x8xf32>, tensor<4x8xf32>
}

// What a sum over rows needs is computed in its loop, from a value that is written anyway; sums of one value share it.
// CHECK-LABEL: func.func @left_to_reader
// CHECK:         kernel.dispatch "matmul_add"
// CHECK-SAME:      -> tensor<4x8xf32>
// CHECK:         kernel.dispatch "mul_reduce_reduce"
// CHECK-NOT:     kernel.dispatch
func.func @left_to_reader(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.add %0, %b : tensor<4x8xf32>, tensor<8xf32>
  %2 = nn.mul %1, %1 : tensor<4x8xf32>, tensor<4x8xf32>
  %3 = nn.reduce sum %2 axes = [1] : tensor<4x8xf32>
  %4 = nn.reduce sum %1 axes = [1] : tensor<4x8xf32>
  return %3, %4, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
}

// A layer norm that the model spelled out, with the sum in front of it as a second result.
// CHECK-LABEL: func.func @norm
// CHECK:         kernel.dispatch "add_reduce_mul_sub_mul_reduce_mul_add_sqrt_div_mul"
// CHECK-SAME:      -> (tensor<6x32xf32>, tensor<6x32xf32>)
// CHECK-NOT:     kernel.dispatch
func.func @norm(%x: tensor<6x32xf32>, %y: tensor<6x32xf32>, %scale: tensor<32xf32>) -> (tensor<6x32xf32>, tensor<6x32xf32>) {
  %n = nn.constant dense<0.03125> : tensor<f32>
  %epsilon = nn.constant dense<1.0e-05> : tensor<f32>
  %s = nn.add %x, %y : tensor<6x32xf32>, tensor<6x32xf32>
  %0 = nn.reduce sum %s axes = [1] {keep_dims} : tensor<6x32xf32>
  %1 = nn.mul %0, %n : tensor<6x1xf32>, tensor<f32>
  %2 = nn.sub %s, %1 : tensor<6x32xf32>, tensor<6x1xf32>
  %3 = nn.mul %2, %2 : tensor<6x32xf32>, tensor<6x32xf32>
  %4 = nn.reduce sum %3 axes = [1] {keep_dims} : tensor<6x32xf32>
  %5 = nn.mul %4, %n : tensor<6x1xf32>, tensor<f32>
  %6 = nn.add %5, %epsilon : tensor<6x1xf32>, tensor<f32>
  %7 = nn.sqrt %6 : tensor<6x1xf32>
  %8 = nn.div %2, %7 : tensor<6x32xf32>, tensor<6x1xf32>
  %9 = nn.mul %8, %scale : tensor<6x32xf32>, tensor<32xf32>
  return %s, %9 : tensor<6x32xf32>, tensor<6x32xf32>
}

// Reductions over other axes are other loops.
// CHECK-LABEL: func.func @other_axes
// CHECK:         kernel.dispatch "reduce"
// CHECK:         kernel.dispatch "reduce"
func.func @other_axes(%x: tensor<6x32xf32>) -> (tensor<6x1xf32>, tensor<1x32xf32>) {
  %0 = nn.reduce sum %x axes = [1] {keep_dims} : tensor<6x32xf32>
  %1 = nn.reduce sum %x axes = [0] {keep_dims} : tensor<6x32xf32>
  return %0, %1 : tensor<6x1xf32>, tensor<1x32xf32>
}

// What lies between two members and outside of their group keeps them apart.
// CHECK-LABEL: func.func @no_circle
// CHECK:         kernel.dispatch "exp"
// CHECK:         kernel.dispatch "transpose"
// CHECK:         kernel.dispatch "add"
func.func @no_circle(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.exp %x : tensor<8x8xf32>
  %1 = nn.transpose %0 [1, 0] : tensor<8x8xf32>
  %2 = nn.add %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Views that keep the innermost dimension are read in place by each consumer; splat constants move inside.
// CHECK-LABEL: func.func @views
// CHECK:         kernel.dispatch "mul"
// CHECK-SAME:      tensor<2x3x4x8xf32>
// CHECK:           nn.transpose
// CHECK:           nn.slice
// CHECK:           nn.constant
// CHECK:           nn.mul
// CHECK-NOT:     kernel.dispatch
func.func @views(%x: tensor<2x3x4x8xf32>) -> tensor<2x4x3x6xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.transpose %x [0, 2, 1, 3] : tensor<2x3x4x8xf32>
  %1 = nn.slice %0 starts = [0, 0, 0, 1] sizes = [2, 4, 3, 6] steps = [1, 1, 1, 1] : tensor<2x4x3x8xf32>
  %2 = nn.mul %1, %two : tensor<2x4x3x6xf32>, tensor<f32>
  return %2 : tensor<2x4x3x6xf32>
}

// Reshapes stay between dispatches.
// CHECK-LABEL: func.func @flatten
// CHECK:         kernel.dispatch "pool_relu"
// CHECK:         nn.reshape
// CHECK:         kernel.dispatch "matmul"
func.func @flatten(%x: tensor<2x4x4x8xf32>, %w: tensor<32x5xf32>) -> tensor<2x5xf32> {
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
                       padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<2x4x4x8xf32>
  %1 = nn.relu %0 : tensor<2x2x2x8xf32>
  %2 = nn.reshape %1 : tensor<2x2x2x8xf32> to tensor<2x32xf32>
  %3 = nn.matmul %2, %w : tensor<2x32xf32>, tensor<32x5xf32>
  return %3 : tensor<2x5xf32>
}

// A circle through another group: %2 needs both the product's epilogue and a row sum of it.
// CHECK-LABEL: func.func @row_sum_of_epilogue
// CHECK:         kernel.dispatch "matmul_relu"
// CHECK:         kernel.dispatch "reduce_div"
func.func @row_sum_of_epilogue(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.relu %0 : tensor<4x8xf32>
  %2 = nn.reduce sum %1 axes = [1] {keep_dims} : tensor<4x8xf32>
  %3 = nn.div %1, %2 : tensor<4x8xf32>, tensor<4x1xf32>
  return %3 : tensor<4x8xf32>
}

// A reduction that drops its dimensions keeps its consumers: the view comes last.
// CHECK-LABEL: func.func @root_mean_square
// CHECK:         %[[ROWS:.*]] = kernel.dispatch "mul_reduce_mul_sqrt"
// CHECK:         %[[VIEW:.*]] = nn.reshape %[[ROWS]] : tensor<6x1xf32> to tensor<6xf32>
// CHECK-NEXT:    return %[[VIEW]]
func.func @root_mean_square(%x: tensor<6x32xf32>) -> tensor<6xf32> {
  %n = nn.constant dense<0.03125> : tensor<f32>
  %0 = nn.mul %x, %x : tensor<6x32xf32>, tensor<6x32xf32>
  %1 = nn.reduce sum %0 axes = [1] : tensor<6x32xf32>
  %2 = nn.mul %1, %n : tensor<6xf32>, tensor<f32>
  %3 = nn.sqrt %2 : tensor<6xf32>
  return %3 : tensor<6xf32>
}

// Bytes are dequantised where they are read, so that bytes are written.
// CHECK-LABEL: func.func @sum_of_two_products
// CHECK:         kernel.dispatch "matmul_quantize" {{.*}} -> tensor<6x8xui8>
// CHECK:         kernel.dispatch "matmul_quantize_dequantize_dequantize_add" {{.*}} -> tensor<6x8xf32>
// CHECK-LABEL: func.func @sum_of_bytes
// CHECK:         kernel.dispatch "matmul_quantize" {{.*}} -> tensor<6x8xui8>
// CHECK:         kernel.dispatch "cast_reduce" {{.*}} -> tensor<6xi32>
func.func @sum_of_two_products(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %v: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<6x8xf32> {
  %0 = nn.matmul %x, %w : tensor<6x4xf32>, tensor<4x8xf32>
  %1 = nn.quantize %0, %s, %z : tensor<6x8xf32>, tensor<f32>, tensor<ui8>
  %2 = nn.dequantize %1, %s, %z : tensor<6x8xui8>, tensor<f32>, tensor<ui8>
  %3 = nn.matmul %x, %v : tensor<6x4xf32>, tensor<4x8xf32>
  %4 = nn.quantize %3, %s, %z : tensor<6x8xf32>, tensor<f32>, tensor<ui8>
  %5 = nn.dequantize %4, %s, %z : tensor<6x8xui8>, tensor<f32>, tensor<ui8>
  %6 = nn.add %2, %5 : tensor<6x8xf32>, tensor<6x8xf32>
  return %6 : tensor<6x8xf32>
}

func.func @sum_of_bytes(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<6xi32> {
  %0 = nn.matmul %x, %w : tensor<6x4xf32>, tensor<4x8xf32>
  %1 = nn.quantize %0, %s, %z : tensor<6x8xf32>, tensor<f32>, tensor<ui8>
  %2 = nn.cast %1 : tensor<6x8xui8> to tensor<6x8xi32>
  %3 = nn.reduce sum %2 axes = [1] : tensor<6x8xi32>
  return %3 : tensor<6xi32>
}

// A view between a product and its bias moves after both.
// CHECK-LABEL: func.func @view_in_between
// CHECK:         %[[ROWS:.*]] = kernel.dispatch "matmul_add_relu"
// CHECK:         nn.reshape %[[ROWS]] : tensor<6x8xf32> to tensor<2x3x8xf32>
func.func @view_in_between(%x: tensor<6x4xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %0 = nn.matmul %x, %w : tensor<6x4xf32>, tensor<4x8xf32>
  %1 = nn.reshape %0 : tensor<6x8xf32> to tensor<2x3x8xf32>
  %2 = nn.add %1, %b : tensor<2x3x8xf32>, tensor<8xf32>
  %3 = nn.relu %2 : tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// After a product other values of the whole shape are seen through views too: the gradient of a layer's input, a product
// of flattened rows, is cut by what the forward pass has left in its own shape.
// CHECK-LABEL: func.func @flattened_rows
// CHECK:         %[[MASK:.*]] = nn.reshape %{{.*}} : tensor<2x3x8xi1> to tensor<6x8xi1>
// CHECK:         kernel.dispatch "matmul_select"
// CHECK-NOT:     kernel.dispatch
func.func @flattened_rows(%dy: tensor<6x5xf32>, %w: tensor<5x8xf32>, %mask: tensor<2x3x8xi1>) -> tensor<2x3x8xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.matmul %dy, %w : tensor<6x5xf32>, tensor<5x8xf32>
  %1 = nn.reshape %0 : tensor<6x8xf32> to tensor<2x3x8xf32>
  %2 = nn.select %mask, %1, %zero : tensor<2x3x8xi1>, tensor<2x3x8xf32>, tensor<f32>
  return %2 : tensor<2x3x8xf32>
}

// A kernel of several results writes all of them, though only one is read.
// CHECK-LABEL: func.func @order_alone
// CHECK:         %[[BOTH:.*]]:2 = kernel.dispatch "top_k"
// CHECK:         return %[[BOTH]]#1
func.func @order_alone(%x: tensor<5xf32>) -> tensor<5xi64> {
  %values, %indices = nn.top_k %x {k = 5 : i64, axis = 0 : i64} : tensor<5xf32>
  return %indices : tensor<5xi64>
}

// What ranks do together keeps its order: one kernel for both products would need the second sum before the first
// product is gathered.
// CHECK-LABEL: func.func @collectives
// CHECK: %[[A:.*]] = dist.reduce_scatter sum %arg0
// CHECK: %[[P:.*]]:2 = kernel.dispatch "exp_mul" ({{.*}} = %[[A]] :
// CHECK: dist.all_gather %[[P]]#1
// CHECK: %[[C:.*]] = dist.reduce_scatter sum %arg1
// CHECK: %[[Q:.*]] = kernel.dispatch "mul" ({{.*}} = %[[P]]#0 : {{.*}} = %[[C]] :
// CHECK: dist.all_gather %[[Q]]
dist.mesh @mesh ["data"] [2]
func.func @collectives(%x: tensor<4xf32>, %y: tensor<4xf32>, %w: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = nn.exp %w : tensor<2xf32>
  %a = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  %p = nn.mul %s, %a : tensor<2xf32>, tensor<2xf32>
  %b = dist.all_gather %p on @mesh ["data"] : tensor<2xf32> -> tensor<4xf32>
  %c = dist.reduce_scatter sum %y on @mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  %q = nn.mul %s, %c : tensor<2xf32>, tensor<2xf32>
  %d = dist.all_gather %q on @mesh ["data"] : tensor<2xf32> -> tensor<4xf32>
  return %b, %d : tensor<4xf32>, tensor<4xf32>
}
