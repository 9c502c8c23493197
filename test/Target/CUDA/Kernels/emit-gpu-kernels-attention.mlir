// Attention is one kernel where that takes no longer than kernels of its parts; the scores of a block's rows lie in its
// shared memory.
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse=target=cuda --sprig-emit-gpu-kernels | FileCheck %s
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse=target=cuda -remark-format=emitRemark --remarks-filter='fuse' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: sprig-opt %s --sprig-decompose --sprig-fuse='target=cuda tf32' -remark-format=emitRemark --remarks-filter='fuse' -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TF32

// Four queries of 64 elements and 35 scores of each, as far as tiles of them go, in rows of 68: so rows lie at different
// banks. Both products are chains of multiply-adds in order; a warp has a row of scores.
// CHECK:       gpu.func @kernel_0(%{{.*}}: memref<255x64xf32>, %{{.*}}: memref<35x64xf32>, %{{.*}}: memref<35x8xf32>, %{{.*}}: memref<255x8xf32>
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>, sprig.scratch = 0 : i64, sprig.tiles = 64 : i64
// CHECK:         memref.view {{.*}} to memref<272xf32, #gpu.address_space<workgroup>>
// CHECK:         memref.view {{.*}} to memref<272xf32, #gpu.address_space<workgroup>>
// CHECK:         gpu.barrier
// CHECK:         math.fma
// CHECK:         gpu.barrier
// CHECK:         gpu.shuffle
// CHECK:         math.exp
// CHECK:         gpu.barrier
// CHECK:         math.fma
// CHECK-NOT:     gpu.func
// REMARK:      one kernel without scores in memory of nn.matmul, nn.reduce, nn.sub, nn.exp, nn.reduce, nn.reciprocal, nn.mul, nn.matmul
// TF32:        the product and the reduction before it stay apart: tensor cores compute its products
func.func @few_keys(%q: tensor<255x64xf32>, %k: tensor<35x64xf32>, %v: tensor<35x8xf32>) -> tensor<255x8xf32> {
  %0 = nn.matmul %q, %k {transpose_rhs} : tensor<255x64xf32>, tensor<35x64xf32>
  %1 = nn.softmax %0 axis = 1 : tensor<255x35xf32>
  %2 = nn.matmul %1, %v : tensor<255x35xf32>, tensor<35x8xf32>
  return %2 : tensor<255x8xf32>
}

// One row of a decoder, which a block shares: the scores of as many keys are not many.
// CHECK:       gpu.func @kernel_1(
// CHECK-SAME:    sprig.tiles = 12 : i64
// CHECK-NOT:   gpu.func
// REMARK:      one kernel without scores in memory
// TF32:        one kernel without scores in memory
func.func @one_query(%q: tensor<12x1x64xf32>, %k: tensor<12x512x64xf32>, %v: tensor<12x512x64xf32>) -> tensor<12x1x64xf32> {
  %0 = nn.matmul %q, %k {transpose_rhs} : tensor<12x1x64xf32>, tensor<12x512x64xf32>
  %1 = nn.softmax %0 axis = 2 : tensor<12x1x512xf32>
  %2 = nn.matmul %1, %v : tensor<12x1x512xf32>, tensor<12x512x64xf32>
  return %2 : tensor<12x1x64xf32>
}

// Twelve blocks would read what the whole GPU can.
// CHECK:       gpu.func @kernel_2(
// CHECK:       gpu.func @kernel_3(
// CHECK:       gpu.func @kernel_4(
// REMARK:      the product and the reduction before it stay apart: 12 blocks of 1 rows and 4096 keys take {{.*}} us by the model, kernels of their own {{.*}} us
func.func @one_query_of_long_keys(%q: tensor<12x1x64xf32>, %k: tensor<12x4096x64xf32>, %v: tensor<12x4096x64xf32>) -> tensor<12x1x64xf32> {
  %0 = nn.matmul %q, %k {transpose_rhs} : tensor<12x1x64xf32>, tensor<12x4096x64xf32>
  %1 = nn.softmax %0 axis = 2 : tensor<12x1x4096xf32>
  %2 = nn.matmul %1, %v : tensor<12x1x4096xf32>, tensor<12x4096x64xf32>
  return %2 : tensor<12x1x64xf32>
}

// CHECK:       gpu.func @kernel_5(
// CHECK:       gpu.func @kernel_6(
// CHECK:       gpu.func @kernel_7(
// REMARK:      the product and the reduction before it stay apart: a row of 40000 scores and one of 8 elements of the left side take with slices {{[0-9]+}} bytes of shared memory, of which a block has 98304
func.func @too_long(%q: tensor<4x8xf32>, %k: tensor<40000x8xf32>, %v: tensor<40000x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.matmul %q, %k {transpose_rhs} : tensor<4x8xf32>, tensor<40000x8xf32>
  %1 = nn.softmax %0 axis = 1 : tensor<4x40000xf32>
  %2 = nn.matmul %1, %v : tensor<4x40000xf32>, tensor<40000x8xf32>
  return %2 : tensor<4x8xf32>
}

// CHECK:       gpu.func @kernel_8(
// CHECK:       gpu.func @kernel_9(
// CHECK:       gpu.func @kernel_10(
// REMARK:      the product and the reduction before it stay apart: CUDA has a kernel for f32 alone
func.func @half(%q: tensor<8x8xf16>, %k: tensor<8x8xf16>, %v: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = nn.matmul %q, %k : tensor<8x8xf16>, tensor<8x8xf16>
  %1 = nn.softmax %0 axis = 1 : tensor<8x8xf16>
  %2 = nn.matmul %1, %v : tensor<8x8xf16>, tensor<8x8xf16>
  return %2 : tensor<8x8xf16>
}

// In a branch other parts of the kernel may need shared memory too.
// REMARK:      the product and the reduction before it stay apart: a row of 14000 scores and one of 1 elements of the left side take with slices {{[0-9]+}} bytes of shared memory, of which a block has 52224
func.func @in_a_branch(%which: tensor<i1>, %q: tensor<1x1xf32>, %k: tensor<1x14000xf32>, %v: tensor<14000x1xf32>) -> tensor<1x1xf32> {
  %r = nn.cond %which with (%a = %q : tensor<1x1xf32>, %b = %k : tensor<1x14000xf32>, %c = %v : tensor<14000x1xf32>) -> tensor<1x1xf32> {
    %0 = nn.matmul %a, %b : tensor<1x1xf32>, tensor<1x14000xf32>
    %1 = nn.softmax %0 axis = 1 : tensor<1x14000xf32>
    %2 = nn.matmul %1, %c : tensor<1x14000xf32>, tensor<14000x1xf32>
    nn.yield %2 : tensor<1x1xf32>
  } else {
    nn.yield %a : tensor<1x1xf32>
  }
  return %r : tensor<1x1xf32>
}
