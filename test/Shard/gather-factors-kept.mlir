// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors))" | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors{always=true}))" | FileCheck %s --check-prefix=ALWAYS

// Sums over ranks that stay all-reduces.
// CHECK-NOT: dist.all_gather

dist.mesh @mesh ["data"] [2]
dist.mesh @alone ["data"] [1]

// Below 64 KB; of more than 64 rows of others; of which less than half of the bytes would move: by `always`, which asks
// for fewer bytes alone.
// CHECK-LABEL: @small
// CHECK: dist.all_reduce
// ALWAYS-LABEL: @small
// ALWAYS-NOT: dist.all_reduce
func.func @small(%x: tensor<16x128xf32>, %y: tensor<16x127xf32>) -> tensor<127x128xf32> {
  %p = nn.matmul %y, %x {transpose_lhs} : tensor<16x127xf32>, tensor<16x128xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] : tensor<127x128xf32>
  return %sum : tensor<127x128xf32>
}
// CHECK-LABEL: @many
// CHECK: dist.all_reduce
// ALWAYS-LABEL: @many
// ALWAYS-NOT: dist.all_reduce
func.func @many(%x: tensor<65x512xf32>) -> tensor<512x512xf32> {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<65x512xf32>, tensor<65x512xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] : tensor<512x512xf32>
  return %sum : tensor<512x512xf32>
}
// CHECK-LABEL: @bytes
// CHECK: dist.all_reduce
// ALWAYS-LABEL: @bytes
// ALWAYS-NOT: dist.all_reduce
func.func @bytes(%x: tensor<33x128xf32>) -> tensor<128x128xf32> {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<33x128xf32>, tensor<33x128xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}

// ALWAYS-LABEL: @more
// ALWAYS-NOT: dist.all_gather
// CHECK-LABEL: @more
// CHECK: dist.all_reduce
func.func @more(%x: tensor<64x128xf32>) -> tensor<128x128xf32> {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<64x128xf32>, tensor<64x128xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}

// Another reduction, an algorithm that somebody chose, several values, and one rank.
// CHECK-LABEL: @kinds
// CHECK: dist.all_reduce mean
// CHECK: dist.all_reduce sum %{{.*}} by "tree"
// CHECK: dist.all_reduce sum
// CHECK: dist.all_reduce sum %{{.*}} on @alone
func.func @kinds(%x: tensor<16x128xf32>) {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %0 = dist.all_reduce mean %p on @mesh ["data"] : tensor<128x128xf32>
  %q = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %1 = dist.all_reduce sum %q on @mesh ["data"] by "tree" : tensor<128x128xf32>
  %r = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %2:2 = dist.all_reduce sum %r, %x on @mesh ["data"] : tensor<128x128xf32>, tensor<16x128xf32>
  %s = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %3 = dist.all_reduce sum %s on @alone ["data"] : tensor<128x128xf32>
  return
}

// No product of two matrices alone: passes that were summed, products side by side, one that somebody else reads, and
// what was added to it.
// CHECK-LABEL: @forms
// CHECK-COUNT-5: dist.all_reduce
func.func @forms(%x: tensor<16x128xf32>, %b: tensor<2x16x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %q = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %passes = nn.add %p, %q : tensor<128x128xf32>, tensor<128x128xf32>
  %0 = dist.all_reduce sum %passes on @mesh ["data"] : tensor<128x128xf32>
  %batch = nn.matmul %b, %b {transpose_lhs} : tensor<2x16x128xf32>, tensor<2x16x128xf32>
  %1 = dist.all_reduce sum %batch on @mesh ["data"] : tensor<2x128x128xf32>
  %read = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %2 = dist.all_reduce sum %read on @mesh ["data"] : tensor<128x128xf32>
  %r = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %more = nn.mul %r, %w : tensor<128x128xf32>, tensor<128x128xf32>
  %3 = dist.all_reduce sum %more on @mesh ["data"] : tensor<128x128xf32>
  %4 = dist.all_reduce sum %w on @mesh ["data"] : tensor<128x128xf32>
  return %read : tensor<128x128xf32>
}

// Rows of a factor that nobody gathers.
// CHECK-LABEL: @bias
// CHECK: dist.all_reduce
func.func @bias(%y: tensor<16x128xf32>) -> tensor<128xf32> {
  %b = nn.reduce sum %y axes = [0] : tensor<16x128xf32>
  %sum = dist.all_reduce sum %b on @mesh ["data"] : tensor<128xf32>
  return %sum : tensor<128xf32>
}

// One rank's program: a sum that is not said to be late may be of another form elsewhere.
// CHECK-LABEL: @prompt
// CHECK: dist.all_reduce
func.func @prompt(%x: tensor<5x128xf32>) -> tensor<128x128xf32> attributes {dist.rank = 0 : i64, dist.samples = 9 : i64} {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<5x128xf32>, tensor<5x128xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}

// Five rows that are not the samples, be they five, too.
// CHECK-LABEL: @rows
// CHECK-COUNT-2: dist.all_reduce
func.func @rows(%x: tensor<5x128xf32>, %w: tensor<4x5x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>) attributes {dist.rank = 0 : i64, dist.samples = 9 : i64} {
  %v = nn.reshape %w : tensor<4x5x128xf32> to tensor<20x128xf32>
  %p = nn.matmul %v, %v {transpose_lhs} : tensor<20x128xf32>, tensor<20x128xf32>
  %0 = dist.all_reduce sum %p on @mesh ["data"] {dist.late} : tensor<128x128xf32>
  %t = nn.reduce sum %w axes = [0] : tensor<4x5x128xf32>
  %q = nn.matmul %t, %t {transpose_lhs} : tensor<5x128xf32>, tensor<5x128xf32>
  %1 = dist.all_reduce sum %q on @mesh ["data"] {dist.late} : tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// A rank of one sample has programs of another form.
// CHECK-LABEL: @one
// CHECK: dist.all_reduce
func.func @one(%x: tensor<2x128xf32>) -> tensor<128x128xf32> attributes {dist.rank = 0 : i64, dist.samples = 3 : i64} {
  %p = nn.matmul %x, %x {transpose_lhs} : tensor<2x128xf32>, tensor<2x128xf32>
  %sum = dist.all_reduce sum %p on @mesh ["data"] {dist.late} : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}
