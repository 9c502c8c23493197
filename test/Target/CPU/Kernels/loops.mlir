// RUN: sprig-opt %s --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v3 --canonicalize | FileCheck %s

// Contiguous dimensions run together; several vectors an iteration; no scalar loop.
// CHECK-LABEL: func.func @kernel_0
// CHECK-SAME:    sprig.tiles = 1
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} step %c32
// CHECK-COUNT-2:     vector.load
// CHECK-COUNT-2:     arith.addf
// CHECK-COUNT-2:     vector.store
// CHECK:           vector.maskedload
// CHECK:           vector.maskedstore
// CHECK-NOT:     memref.load
func.func @add(%a: tensor<3x5x100xf32>, %b: tensor<3x5x100xf32>) -> tensor<3x5x100xf32> {
  %0 = nn.add %a, %b : tensor<3x5x100xf32>, tensor<3x5x100xf32>
  return %0 : tensor<3x5x100xf32>
}

// A softmax of spelled-out primitives: three passes over a block of rows, the exponentials kept in scratch for the last
// one; the trees of all rows at once, on vectors that hold parts of several.
// CHECK-LABEL: func.func @kernel_1
// CHECK-SAME:    sprig.scratch = 4416
// CHECK:         scf.for
// CHECK:           arith.maximumf {{.*}} : vector<16xf32>
// CHECK:           vector.store
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23]
// CHECK:         vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK:         arith.maximumf {{.*}} : vector<16xf32>
// CHECK:         scf.for
// CHECK-COUNT-2:   math.exp
// CHECK:           arith.addf {{.*}} : vector<16xf32>
// CHECK:           vector.store
// CHECK-NOT:     math.exp
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 16,
// CHECK:         vector.shuffle {{.*}} [1, 3, 5, 7, 9,
// CHECK:         scf.for
// CHECK:           arith.divf
// CHECK:           vector.store
func.func @softmax(%x: tensor<9x32xf32>) -> tensor<9x32xf32> {
  %0 = nn.reduce max %x axes = [1] {keep_dims} : tensor<9x32xf32>
  %1 = nn.sub %x, %0 : tensor<9x32xf32>, tensor<9x1xf32>
  %2 = nn.exp %1 : tensor<9x32xf32>
  %3 = nn.reduce sum %2 axes = [1] {keep_dims} : tensor<9x32xf32>
  %4 = nn.div %2, %3 : tensor<9x32xf32>, tensor<9x1xf32>
  return %4 : tensor<9x32xf32>
}

// Where the innermost dimension stays, lanes are rows side by side and each sum is one chain: no tree.
// CHECK-LABEL: func.func @kernel_2
// CHECK:         arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT:     vector.shuffle
// CHECK:         vector.store
func.func @columns(%x: tensor<9x32xf32>) -> tensor<32xf32> {
  %0 = nn.reduce sum %x axes = [0] : tensor<9x32xf32>
  return %0 : tensor<32xf32>
}

// Integer division is checked: the status gets code 2 and the operation's number.
// CHECK-LABEL: func.func @kernel_3
// CHECK:         vector.reduction <or>
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK:         arith.select
func.func @divide(%a: tensor<32xi32>, %b: tensor<32xi32>) -> tensor<32xi32> {
  %0 = nn.div %a, %b : tensor<32xi32>, tensor<32xi32>
  return %0 : tensor<32xi32>
}

// Channels are lanes of a channels-last pool.
// CHECK-LABEL: func.func @kernel_4
// CHECK:         scf.for
// CHECK:         vector.load {{.*}} vector<16xf32>
// CHECK:         arith.maximumf
func.func @pool(%x: tensor<1x4x4x16xf32>) -> tensor<1x2x2x16xf32> {
  %0 = nn.pool max %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
                       padding = array<i64: 0, 0, 0, 0>, channels_last} : tensor<1x4x4x16xf32>
  return %0 : tensor<1x2x2x16xf32>
}

// A transpose of the innermost dimension turns blocks of 16x16 in registers.
// CHECK-LABEL: func.func @kernel_5
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
func.func @transpose(%x: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = nn.transpose %x [1, 0] : tensor<64x32xf32>
  return %0 : tensor<32x64xf32>
}

// An index is counted from the end where negative, and checked.
// CHECK-LABEL: func.func @kernel_6
// CHECK:         arith.cmpi slt
// CHECK:         arith.cmpi uge
// CHECK:         llvm.store
// CHECK:         vector.load {{.*}} vector<16xf32>
func.func @gather(%x: tensor<30x16xf32>, %i: tensor<5xi64>) -> tensor<5x16xf32> {
  %0 = nn.gather %x, %i axis = 0 : tensor<30x16xf32>, tensor<5xi64>
  return %0 : tensor<5x16xf32>
}

// A pad fills what lies outside and copies the rows between, vectors at a time.
// CHECK-LABEL: func.func @kernel_7
// CHECK:         scf.if
// CHECK:           vector.load
// CHECK:           vector.store
// CHECK:         } else {
// CHECK:           vector.store
func.func @pad(%x: tensor<1x4x4x16xf32>, %v: tensor<f32>) -> tensor<1x6x6x16xf32> {
  %0 = nn.pad constant %x, %v low = [0, 1, 1, 0] high = [0, 1, 1, 0] : tensor<1x4x4x16xf32>, tensor<f32>
  return %0 : tensor<1x6x6x16xf32>
}
