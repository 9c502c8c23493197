// RUN: %sprig-opt %s --split-input-file --sprig-decompose --sprig-independent-samples --sprig-split-samples=samples=2 | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-decompose --sprig-independent-samples --sprig-split-samples=architectures=x86-64-v3 | FileCheck %s --check-prefix=COST
// RUN: %sprig-opt %s --split-input-file --sprig-independent-samples --sprig-split-samples=architectures=x86-64-v3 -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Shapes, views and what is the same for all samples follow.
// CHECK: func.func @network(%[[X:.*]]: tensor<2x3x8x8xf32>) -> tensor<2x5x4xf32> attributes {kernel.pieces = 4 : i64, nn.independent_samples}
// CHECK: nn.conv %[[X]], {{.*}} : tensor<2x3x8x8xf32>, tensor<4x3x1x1xf32>
// CHECK: nn.reshape {{.*}} : tensor<2x4x8x8xf32> to tensor<2x4x64xf32>
// CHECK: nn.slice {{.*}} starts = [0, 0, 60] sizes = [2, 4, 4] steps = [1, 1, 1]
// CHECK: %[[TOKEN:.*]] = nn.slice {{.*}} starts = [0, 0, 0] sizes = [2, 1, 4] steps = [1, 1, 1] : tensor<8x1x4xf32>
// CHECK: nn.concat %[[TOKEN]], {{.*}} axis = 1 : tensor<2x1x4xf32>, tensor<2x4x4xf32>
// CHECK: %[[HALF:.*]] = nn.constant dense<5.000000e-01> : tensor<2x1x1xf32>
// CHECK: nn.add {{.*}}, %[[HALF]] : tensor<2x5x4xf32>, tensor<2x1x1xf32>
// It is too small to be worth it.
// COST: func.func @network({{.*}}: tensor<8x3x8x8xf32>)
// REMARK: 'network': 8 samples go through it together in {{.*}} us; no pieces of them are expected to take less
func.func @network(%x: tensor<8x3x8x8xf32>) -> tensor<8x5x4xf32> {
  %w = nn.constant dense<0.5> : tensor<4x3x1x1xf32>
  %token = nn.constant dense<[[[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0, 4.0]]]> : tensor<8x1x4xf32>
  %half = nn.constant dense<0.5> : tensor<8x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<8x3x8x8xf32>, tensor<4x3x1x1xf32>
  %1 = nn.reshape %0 : tensor<8x4x8x8xf32> to tensor<8x4x64xf32>
  %2 = nn.slice %1 starts = [0, 0, 60] sizes = [8, 4, 4] steps = [1, 1, 1] : tensor<8x4x64xf32>
  %3 = nn.concat %token, %2 axis = 1 : tensor<8x1x4xf32>, tensor<8x4x4xf32>
  %4 = nn.add %3, %half : tensor<8x5x4xf32>, tensor<8x1x1xf32>
  return %4 : tensor<8x5x4xf32>
}

// -----

// Arrays of 4 MB leave the second-level cache, those of a sample do not.
// CHECK: func.func @wide(%{{.*}}: tensor<2x64x32x32xf32>)
// COST: func.func @wide(%{{.*}}: tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32> attributes {kernel.pieces = 16 : i64, nn.independent_samples}
// REMARK: 'wide': 16 samples go through it in pieces of 1, in {{.*}} us; together
func.func @wide(%x: tensor<16x64x32x32xf32>) -> tensor<16x64x32x32xf32> {
  %w = nn.constant dense<0.5> : tensor<8x64x1x1xf32>
  %v = nn.constant dense<0.5> : tensor<64x8x1x1xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<16x64x32x32xf32>, tensor<8x64x1x1xf32>
  %1 = nn.conv %0, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>} : tensor<16x8x32x32xf32>, tensor<64x8x1x1xf32>
  return %1 : tensor<16x64x32x32xf32>
}

// -----

// Views of an argument.
// CHECK: func.func @views(%[[X:.*]]: tensor<2x6x48xf32>) -> tensor<2x6x16xf32>
// CHECK: nn.slice %[[X]] starts = [0, 0, 0] sizes = [2, 6, 16] steps = [1, 1, 1] : tensor<2x6x48xf32>
// CHECK: nn.reshape {{.*}} : tensor<2x6x16xf32> to tensor<2x6x2x8xf32>
func.func @views(%x: tensor<4x6x48xf32>) -> tensor<4x6x16xf32> {
  %0 = nn.slice %x starts = [0, 0, 0] sizes = [4, 6, 16] steps = [1, 1, 1] : tensor<4x6x48xf32>
  %1 = nn.reshape %0 : tensor<4x6x16xf32> to tensor<4x6x2x8xf32>
  %2 = nn.relu %1 : tensor<4x6x2x8xf32>
  %3 = nn.reshape %2 : tensor<4x6x2x8xf32> to tensor<4x6x16xf32>
  return %3 : tensor<4x6x16xf32>
}

// -----

// What does not divide the samples, samples that meet, and loops over time stay.
// CHECK: func.func @odd(%{{.*}}: tensor<5x4xf32>)
func.func @odd(%x: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = nn.relu %x : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

// CHECK: func.func @meet(%{{.*}}: tensor<4x4xf32>)
func.func @meet(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.softmax %x axis = 0 : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK: func.func @loop(%{{.*}}: tensor<4x6x3xf32>)
func.func @loop(%x: tensor<4x6x3xf32>) -> tensor<4x6x3xf32> {
  %zero = nn.constant dense<0.0> : tensor<4x3xf32>
  %steps = nn.transpose %x [1, 0, 2] : tensor<4x6x3xf32>
  %last, %all = nn.scan steps = 6 over (%s = %steps : tensor<6x4x3xf32>) carry (%h = %zero : tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<6x4x3xf32>) {
    %1 = nn.add %h, %s : tensor<4x3xf32>, tensor<4x3xf32>
    nn.yield %1, %1 : tensor<4x3xf32>, tensor<4x3xf32>
  }
  %0 = nn.transpose %all [1, 0, 2] : tensor<6x4x3xf32>
  return %0 : tensor<4x6x3xf32>
}

// -----

// Shardings are of whole values.
// CHECK: func.func @sharded(%{{.*}}: tensor<4x4xf32> {dist.sharding
dist.mesh @mesh ["data"] [2]
func.func @sharded(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<4x4xf32> {
  %0 = nn.relu %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
