// RUN: sprig-opt %s --sprig-emit-kernels | FileCheck %s

// Attention scores: the right side is turned into a panel in scratch memory, 16 by 16 in registers; one tile a head.
// CHECK-LABEL: func.func @kernel_0
// CHECK-SAME: memref<2048xi8>
// CHECK-SAME: sprig.scratch = 2048 : i64, sprig.tiles = 6 : i64
// CHECK: memref.view %arg2
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-22: math.fma
// CHECK: return
func.func @scores(%q: tensor<2x3x32x16xf32>, %k: tensor<2x3x32x16xf32>) -> tensor<2x3x32x32xf32> {
  %r = kernel.dispatch "scores" (%q0 = %q : tensor<2x3x32x16xf32>, %k0 = %k : tensor<2x3x32x16xf32>) -> tensor<2x3x32x32xf32> {
    %0 = nn.matmul %q0, %k0 {transpose_rhs} : tensor<2x3x32x16xf32>, tensor<2x3x32x16xf32>
    kernel.yield %0 : tensor<2x3x32x32xf32>
  }
  return %r : tensor<2x3x32x32xf32>
}

// A small right side is read by rows where it lies; no scratch. The batch dimensions broadcast. Five columns after two
// whole vectors take half a vector.
// CHECK-LABEL: func.func @kernel_1
// CHECK-SAME: memref<0xi8>
// CHECK-SAME: sprig.tiles = 20 : i64
// CHECK: vector.maskedload {{.*}} into vector<8xf32>
// CHECK: math.fma {{.*}} : vector<8xf32>
// CHECK: return
func.func @broadcast(%x: tensor<4x1x2x3xf32>, %y: tensor<5x3x37xf32>) -> tensor<4x5x2x37xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<4x1x2x3xf32>, %y0 = %y : tensor<5x3x37xf32>) -> tensor<4x5x2x37xf32> {
    %0 = nn.matmul %x0, %y0 : tensor<4x1x2x3xf32>, tensor<5x3x37xf32>
    kernel.yield %0 : tensor<4x5x2x37xf32>
  }
  return %r : tensor<4x5x2x37xf32>
}

// One matrix for the whole batch: the rows of all its elements are one product.
// CHECK-LABEL: func.func @kernel_2
// CHECK-SAME: sprig.tiles = 1 : i64
// CHECK: %{{.*}}:13 = scf.for {{.*}} iter_args
// CHECK: return
func.func @shared(%x: tensor<13x1x7xf32>, %y: tensor<7x9xf32>) -> tensor<13x1x9xf32> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<13x1x7xf32>, %y0 = %y : tensor<7x9xf32>) -> tensor<13x1x9xf32> {
    %0 = nn.matmul %x0, %y0 : tensor<13x1x7xf32>, tensor<7x9xf32>
    kernel.yield %0 : tensor<13x1x9xf32>
  }
  return %r : tensor<13x1x9xf32>
}

// Integers wrap in their type.
// CHECK-LABEL: func.func @kernel_3
// CHECK: arith.muli {{.*}} vector<16xi8>
// CHECK: arith.addi {{.*}} vector<16xi8>
// CHECK: return
func.func @integers(%x: tensor<2x5xi8>, %y: tensor<5x9xi8>) -> tensor<2x9xi8> {
  %r = kernel.dispatch "mm" (%x0 = %x : tensor<2x5xi8>, %y0 = %y : tensor<5x9xi8>) -> tensor<2x9xi8> {
    %0 = nn.matmul %x0, %y0 : tensor<2x5xi8>, tensor<5x9xi8>
    kernel.yield %0 : tensor<2x9xi8>
  }
  return %r : tensor<2x9xi8>
}

// Packing at run time: a tile for each panel, the last one filled up with zeros.
// CHECK-LABEL: func.func @kernel_4
// CHECK-SAME: sprig.tiles = 3 : i64
// CHECK: vector.maskedload
// CHECK: vector.store
// CHECK: return
func.func @pack(%x: tensor<5x70xf32>) -> tensor<3x5x32xf32> {
  %r = kernel.dispatch "pack" (%x0 = %x : tensor<5x70xf32>) -> tensor<3x5x32xf32> {
    %0 = kernel.pack %x0 : tensor<5x70xf32>
    kernel.yield %0 : tensor<3x5x32xf32>
  }
  return %r : tensor<3x5x32xf32>
}
