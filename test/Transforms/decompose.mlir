// RUN: %sprig-opt %s --sprig-decompose --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[V0:.*]] = nn.cast %arg0 : tensor<2x3xf16> to tensor<2x3xf32>
// CHECK: %[[V1:.*]] = nn.reduce max %[[V0]] axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[V2:.*]] = nn.sub %[[V0]], %[[V1]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK: %[[V3:.*]] = nn.exp %[[V2]] : tensor<2x3xf32>
// CHECK: %[[V4:.*]] = nn.reduce sum %[[V3]] axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[V5:.*]] = nn.reciprocal %[[V4]] : tensor<2x1xf32>
// CHECK: %[[V6:.*]] = nn.mul %[[V3]], %[[V5]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK: %[[V7:.*]] = nn.cast %[[V6]] : tensor<2x3xf32> to tensor<2x3xf16>
// CHECK: return %[[V7]] : tensor<2x3xf16>
func.func @softmax(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %0 = nn.softmax %x axis = 1 : tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}

// Rows of -inf alone: exp(-inf - a number) / 1.
// CHECK-LABEL: func.func @masked_softmax(
// CHECK-DAG: %[[LOW:.*]] = nn.constant dense<-3.40282347E+38> : tensor<f32>
// CHECK-DAG: %[[ONE:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[M:.*]] = nn.reduce max %arg0 axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[TOP:.*]] = nn.max %[[M]], %[[LOW]]
// CHECK: %[[D:.*]] = nn.sub %arg0, %[[TOP]]
// CHECK: %[[E:.*]] = nn.exp %[[D]]
// CHECK: %[[S:.*]] = nn.reduce sum %[[E]] axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[SUM:.*]] = nn.max %[[S]], %[[ONE]]
// CHECK: %[[R:.*]] = nn.reciprocal %[[SUM]]
// CHECK: nn.mul %[[E]], %[[R]]
func.func @masked_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.softmax %x axis = 1 {masked} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[V0:.*]] = nn.reduce max %arg0 axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[V1:.*]] = nn.sub %arg0, %[[V0]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK: %[[V2:.*]] = nn.exp %[[V1]] : tensor<2x3xf32>
// CHECK: %[[V3:.*]] = nn.reduce sum %[[V2]] axes = [1] {keep_dims} : tensor<2x3xf32>
// CHECK: %[[V4:.*]] = nn.log %[[V3]] : tensor<2x1xf32>
// CHECK: %[[V5:.*]] = nn.sub %[[V1]], %[[V4]] : tensor<2x3xf32>, tensor<2x1xf32>
// CHECK: return %[[V5]] : tensor<2x3xf32>
func.func @log_softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.log_softmax %x axis = 1 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @layer_norm(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<4.000000e+00> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.cast %arg0 : tensor<2x4xbf16> to tensor<2x4xf32>
// CHECK: %[[V3:.*]] = nn.reduce sum %[[V2]] axes = [1] {keep_dims} : tensor<2x4xf32>
// CHECK: %[[V4:.*]] = nn.div %[[V3]], %[[V1]] : tensor<2x1xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.sub %[[V2]], %[[V4]] : tensor<2x4xf32>, tensor<2x1xf32>
// CHECK: %[[V6:.*]] = nn.mul %[[V5]], %[[V5]] : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK: %[[V7:.*]] = nn.reduce sum %[[V6]] axes = [1] {keep_dims} : tensor<2x4xf32>
// CHECK: %[[V8:.*]] = nn.div %[[V7]], %[[V1]] : tensor<2x1xf32>, tensor<f32>
// CHECK: %[[V9:.*]] = nn.add %[[V8]], %[[V0]] : tensor<2x1xf32>, tensor<f32>
// CHECK: %[[V10:.*]] = nn.rsqrt %[[V9]] : tensor<2x1xf32>
// CHECK: %[[V11:.*]] = nn.mul %[[V5]], %[[V10]] : tensor<2x4xf32>, tensor<2x1xf32>
// CHECK: %[[V12:.*]] = nn.cast %arg1 : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[V13:.*]] = nn.mul %[[V11]], %[[V12]] : tensor<2x4xf32>, tensor<4xf32>
// CHECK: %[[V14:.*]] = nn.cast %arg1 : tensor<4xbf16> to tensor<4xf32>
// CHECK: %[[V15:.*]] = nn.add %[[V13]], %[[V14]] : tensor<2x4xf32>, tensor<4xf32>
// CHECK: %[[V16:.*]] = nn.cast %[[V15]] : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK: return %[[V16]] : tensor<2x4xbf16>
func.func @layer_norm(%x: tensor<2x4xbf16>, %s: tensor<4xbf16>) -> tensor<2x4xbf16> {
  %0 = nn.layer_norm %x, %s, %s axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x4xbf16>, tensor<4xbf16>, tensor<4xbf16>
  return %0 : tensor<2x4xbf16>
}

// CHECK-LABEL: func.func @rms_norm(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<4.000000e+00> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.mul %arg0, %arg0 : tensor<2x4xf32>, tensor<2x4xf32>
// CHECK: %[[V3:.*]] = nn.reduce sum %[[V2]] axes = [1] {keep_dims} : tensor<2x4xf32>
// CHECK: %[[V4:.*]] = nn.div %[[V3]], %[[V1]] : tensor<2x1xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.add %[[V4]], %[[V0]] : tensor<2x1xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = nn.rsqrt %[[V5]] : tensor<2x1xf32>
// CHECK: %[[V7:.*]] = nn.mul %arg0, %[[V6]] : tensor<2x4xf32>, tensor<2x1xf32>
// CHECK: %[[V8:.*]] = nn.mul %[[V7]], %arg1 : tensor<2x4xf32>, tensor<4xf32>
// CHECK: return %[[V8]] : tensor<2x4xf32>
func.func @rms_norm(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = nn.rms_norm %x, %s axis = 1 {epsilon = 1.0e-5 : f64} : tensor<2x4xf32>, tensor<4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @group_norm(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<9.99999974E-6> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<8.000000e+00> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.reshape %arg0 : tensor<2x6x4xf32> to tensor<2x3x8xf32>
// CHECK: %[[V3:.*]] = nn.reduce sum %[[V2]] axes = [2] {keep_dims} : tensor<2x3x8xf32>
// CHECK: %[[V4:.*]] = nn.div %[[V3]], %[[V1]] : tensor<2x3x1xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.sub %[[V2]], %[[V4]] : tensor<2x3x8xf32>, tensor<2x3x1xf32>
// CHECK: %[[V6:.*]] = nn.mul %[[V5]], %[[V5]] : tensor<2x3x8xf32>, tensor<2x3x8xf32>
// CHECK: %[[V7:.*]] = nn.reduce sum %[[V6]] axes = [2] {keep_dims} : tensor<2x3x8xf32>
// CHECK: %[[V8:.*]] = nn.div %[[V7]], %[[V1]] : tensor<2x3x1xf32>, tensor<f32>
// CHECK: %[[V9:.*]] = nn.add %[[V8]], %[[V0]] : tensor<2x3x1xf32>, tensor<f32>
// CHECK: %[[V10:.*]] = nn.rsqrt %[[V9]] : tensor<2x3x1xf32>
// CHECK: %[[V11:.*]] = nn.mul %[[V5]], %[[V10]] : tensor<2x3x8xf32>, tensor<2x3x1xf32>
// CHECK: %[[V12:.*]] = nn.reshape %[[V11]] : tensor<2x3x8xf32> to tensor<2x6x4xf32>
// CHECK: %[[V13:.*]] = nn.reshape %arg1 : tensor<6xf32> to tensor<6x1xf32>
// CHECK: %[[V14:.*]] = nn.mul %[[V12]], %[[V13]] : tensor<2x6x4xf32>, tensor<6x1xf32>
// CHECK: %[[V15:.*]] = nn.reshape %arg1 : tensor<6xf32> to tensor<6x1xf32>
// CHECK: %[[V16:.*]] = nn.add %[[V14]], %[[V15]] : tensor<2x6x4xf32>, tensor<6x1xf32>
// CHECK: return %[[V16]] : tensor<2x6x4xf32>
func.func @group_norm(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>) -> tensor<2x6x4xf32> {
  %0 = nn.group_norm %x, %s, %s {groups = 3 : i64, epsilon = 1.0e-5 : f64} : tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>
  return %0 : tensor<2x6x4xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<9.99999974E-6> : tensor<f32>
// CHECK: %[[V1:.*]] = nn.add %arg1, %[[V0]] : tensor<6xf32>, tensor<f32>
// CHECK: %[[V2:.*]] = nn.rsqrt %[[V1]] : tensor<6xf32>
// CHECK: %[[V3:.*]] = nn.mul %arg1, %[[V2]] : tensor<6xf32>, tensor<6xf32>
// CHECK: %[[V4:.*]] = nn.reshape %arg1 : tensor<6xf32> to tensor<6x1xf32>
// CHECK: %[[V5:.*]] = nn.sub %arg0, %[[V4]] : tensor<2x6x4xf32>, tensor<6x1xf32>
// CHECK: %[[V6:.*]] = nn.reshape %[[V3]] : tensor<6xf32> to tensor<6x1xf32>
// CHECK: %[[V7:.*]] = nn.mul %[[V5]], %[[V6]] : tensor<2x6x4xf32>, tensor<6x1xf32>
// CHECK: %[[V8:.*]] = nn.reshape %arg1 : tensor<6xf32> to tensor<6x1xf32>
// CHECK: %[[V9:.*]] = nn.add %[[V7]], %[[V8]] : tensor<2x6x4xf32>, tensor<6x1xf32>
// CHECK: return %[[V9]] : tensor<2x6x4xf32>
func.func @batch_norm(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>) -> tensor<2x6x4xf32> {
  %0 = nn.batch_norm %x, %s, %s, %s, %s {epsilon = 1.0e-5 : f64} : tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>
  return %0 : tensor<2x6x4xf32>
}

// CHECK-LABEL: func.func @linear(
// CHECK: %[[V0:.*]] = nn.reshape %arg0 : tensor<3xf32> to tensor<1x3xf32>
// CHECK: %[[V1:.*]] = nn.matmul %[[V0]], %arg1 {transpose_rhs} : tensor<1x3xf32>, tensor<4x3xf32>
// CHECK: %[[V2:.*]] = nn.add %[[V1]], %arg2 : tensor<1x4xf32>, tensor<4xf32>
// CHECK: %[[V3:.*]] = nn.reshape %[[V2]] : tensor<1x4xf32> to tensor<4xf32>
// CHECK: return %[[V3]] : tensor<4xf32>
func.func @linear(%x: tensor<3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.linear %x, %w, %b : tensor<3xf32>, tensor<4x3xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @reduce_mean(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<3> : tensor<i32>
// CHECK: %[[V1:.*]] = nn.reduce sum %arg0 axes = [1] : tensor<2x3xi32>
// CHECK: %[[V2:.*]] = nn.div %[[V1]], %[[V0]] : tensor<2xi32>, tensor<i32>
// CHECK: return %[[V2]] : tensor<2xi32>
func.func @reduce_mean(%x: tensor<2x3xi32>) -> tensor<2xi32> {
  %0 = nn.reduce_mean %x axes = [1] : tensor<2x3xi32>
  return %0 : tensor<2xi32>
}

// CHECK-LABEL: func.func @avg_pool(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<6.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<{{\[\[}}{{\[\[}}4.000000e+00, 6.000000e+00, 4.000000e+00]]]]> : tensor<1x1x1x3xf32>
// CHECK: %[[V2:.*]] = nn.pool sum %arg0 {dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>, window = array<i64: 2, 3>} : tensor<1x1x4x5xf32>
// CHECK: %[[V3:.*]] = nn.div %[[V2]], %[[V1]] : tensor<1x1x2x3xf32>, tensor<1x1x1x3xf32>
// CHECK: %[[V4:.*]] = nn.pool sum %arg0 {dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 1>, strides = array<i64: 2, 2>, window = array<i64: 2, 3>} : tensor<1x1x4x5xf32>
// CHECK: %[[V5:.*]] = nn.div %[[V4]], %[[V0]] : tensor<1x1x2x3xf32>, tensor<1x1x1x1xf32>
// CHECK: return %[[V3]], %[[V5]] : tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>
func.func @avg_pool(%x: tensor<1x1x4x5xf32>) -> (tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>) {
  %0 = nn.avg_pool %x {window = array<i64: 2, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 1>, counted_padding = array<i64: 0, 0, 0, 0>} : tensor<1x1x4x5xf32>
  %1 = nn.avg_pool %x {window = array<i64: 2, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 1, 0, 1>, counted_padding = array<i64: 0, 1, 0, 1>} : tensor<1x1x4x5xf32>
  return %0, %1 : tensor<1x1x2x3xf32>, tensor<1x1x2x3xf32>
}

// CHECK-LABEL: func.func @mish(
// CHECK: %[[V0:.*]] = nn.abs %arg0 : tensor<2xf32>
// CHECK: %[[V1:.*]] = nn.neg %[[V0]] : tensor<2xf32>
// CHECK: %[[V2:.*]] = nn.exp %[[V1]] : tensor<2xf32>
// CHECK: %[[V3:.*]] = nn.log1p %[[V2]] : tensor<2xf32>
// CHECK: %[[V4:.*]] = nn.relu %arg0 : tensor<2xf32>
// CHECK: %[[V5:.*]] = nn.add %[[V4]], %[[V3]] : tensor<2xf32>, tensor<2xf32>
// CHECK: %[[V6:.*]] = nn.tanh %[[V5]] : tensor<2xf32>
// CHECK: %[[V7:.*]] = nn.mul %arg0, %[[V6]] : tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V7]] : tensor<2xf32>
func.func @mish(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.mish %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @hard_swish(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[V2:.*]] = nn.constant dense<0.166666672> : tensor<f32>
// CHECK: %[[V3:.*]] = nn.mul %arg0, %[[V2]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V4:.*]] = nn.add %[[V3]], %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.min %[[V4]], %[[V0]] {bound} : tensor<2xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = nn.relu %[[V5]] : tensor<2xf32>
// CHECK: %[[V7:.*]] = nn.mul %arg0, %[[V6]] : tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V7]] : tensor<2xf32>
func.func @hard_swish(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.hard_swish %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @gelu(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<0.797884583> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<4.471500e-02> : tensor<f32>
// CHECK-DAG: %[[V2:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V3:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[V4:.*]] = nn.constant dense<0.707106769> : tensor<f32>
// CHECK: %[[V5:.*]] = nn.mul %arg0, %[[V4]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = nn.erf %[[V5]] : tensor<2xf32>
// CHECK: %[[V7:.*]] = nn.mul %arg0, %[[V3]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V8:.*]] = nn.add %[[V6]], %[[V2]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V9:.*]] = nn.mul %[[V7]], %[[V8]] : tensor<2xf32>, tensor<2xf32>
// CHECK: %[[V10:.*]] = nn.mul %arg0, %arg0 : tensor<2xf32>, tensor<2xf32>
// CHECK: %[[V11:.*]] = nn.mul %[[V10]], %arg0 : tensor<2xf32>, tensor<2xf32>
// CHECK: %[[V12:.*]] = nn.mul %[[V11]], %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V13:.*]] = nn.add %arg0, %[[V12]] : tensor<2xf32>, tensor<2xf32>
// CHECK: %[[V14:.*]] = nn.mul %[[V13]], %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V15:.*]] = nn.tanh %[[V14]] : tensor<2xf32>
// CHECK: %[[V16:.*]] = nn.mul %arg0, %[[V3]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V17:.*]] = nn.add %[[V15]], %[[V2]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V18:.*]] = nn.mul %[[V16]], %[[V17]] : tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V9]], %[[V18]] : tensor<2xf32>, tensor<2xf32>
func.func @gelu(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = nn.gelu %x : tensor<2xf32>
  %1 = nn.gelu %x {tanh_approximation} : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.compare gt %arg0, %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V1:.*]] = nn.expm1 %arg0 : tensor<2xf32>
// CHECK: %[[V3:.*]] = nn.select %[[V2]], %arg0, %[[V1]] : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V3]] : tensor<2xf32>
func.func @elu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.elu %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @celu(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<2.000000e+00> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.compare gt %arg0, %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V3:.*]] = nn.div %arg0, %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V4:.*]] = nn.expm1 %[[V3]] : tensor<2xf32>
// CHECK: %[[V5:.*]] = nn.mul %[[V4]], %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = nn.select %[[V2]], %arg0, %[[V5]] : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V6]] : tensor<2xf32>
func.func @celu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.celu %x {alpha = 2.0 : f64} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @selu(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V2:.*]] = nn.constant dense<3.000000e+00> : tensor<f32>
// CHECK: %[[V6:.*]] = nn.compare gt %arg0, %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V3:.*]] = nn.expm1 %arg0 : tensor<2xf32>
// CHECK: %[[V4:.*]] = nn.mul %[[V3]], %[[V2]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.mul %arg0, %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V7:.*]] = nn.select %[[V6]], %[[V5]], %[[V4]] : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V7]] : tensor<2xf32>
func.func @selu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.selu %x {alpha = 1.5 : f64, gamma = 2.0 : f64} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @leaky_relu(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<0.00999999977> : tensor<f32>
// CHECK: %[[V2:.*]] = nn.mul %arg0, %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V3:.*]] = nn.compare gt %arg0, %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V4:.*]] = nn.select %[[V3]], %arg0, %[[V2]] : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V4]] : tensor<2xf32>
func.func @leaky_relu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.leaky_relu %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @hard_sigmoid(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: %[[V1:.*]] = nn.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[V2:.*]] = nn.constant dense<2.500000e-01> : tensor<f32>
// CHECK: %[[V3:.*]] = nn.mul %arg0, %[[V2]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V4:.*]] = nn.add %[[V3]], %[[V1]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V5:.*]] = nn.min %[[V4]], %[[V0]] {bound} : tensor<2xf32>, tensor<f32>
// CHECK: %[[V6:.*]] = nn.relu %[[V5]] : tensor<2xf32>
// CHECK: return %[[V6]] : tensor<2xf32>
func.func @hard_sigmoid(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.hard_sigmoid %x {alpha = 0.25 : f64, beta = 0.5 : f64} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @silu(
// CHECK: %[[V0:.*]] = nn.sigmoid %arg0 : tensor<2xf32>
// CHECK: %[[V1:.*]] = nn.mul %arg0, %[[V0]] : tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V1]] : tensor<2xf32>
func.func @silu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.silu %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @softsign(
// CHECK-DAG: %[[V0:.*]] = nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[V1:.*]] = nn.abs %arg0 : tensor<2xf32>
// CHECK: %[[V2:.*]] = nn.add %[[V1]], %[[V0]] : tensor<2xf32>, tensor<f32>
// CHECK: %[[V3:.*]] = nn.div %arg0, %[[V2]] : tensor<2xf32>, tensor<2xf32>
// CHECK: return %[[V3]] : tensor<2xf32>
func.func @softsign(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = nn.softsign %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
