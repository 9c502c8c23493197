// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors))" --remarks-filter=schedule --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// Half the bytes or fewer move, counted in messages.
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors),sprig-expand-collectives)" -o %t.gathered
// RUN: %sprig-opt %s --sprig-expand-collectives -o %t.summed
// RUN: %python %S/Inputs/sent.py %t.gathered @layer 16384 @attention 25088 @uneven 15360
// RUN: %python %S/Inputs/sent.py %t.summed @layer 65536 @attention 132096 @uneven 65536
// The same product, of whose rows each rank has a half.
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors{divide}))" | FileCheck %s --check-prefix=DIVIDED
// Shares by weights, of all ranks.
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(func.func(sprig-gather-factors{weights=5,7}))" | FileCheck %s --check-prefix=WEIGHED
// DIVIDED-LABEL: @layer
// DIVIDED: %[[T:.*]] = nn.transpose %{{.*}} [1, 0] : tensor<32x128xf32>
// DIVIDED: %[[P:.*]] = dist.part %[[T]] on @mesh ["data"] : tensor<128x32xf32> -> tensor<64x32xf32>
// DIVIDED: %[[DW:.*]] = nn.matmul %[[P]], %{{.*}} : tensor<64x32xf32>, tensor<32x128xf32>
// DIVIDED: dist.all_gather %[[DW]] on @mesh ["data"] : tensor<64x128xf32> -> tensor<128x128xf32>

dist.mesh @mesh ["data"] [2]
dist.mesh @grid ["data", "model"] [2, 2]

// A weight of 64 KB and 16 samples of each rank: the rows of both, and the product of all of them. Factors go as soon as
// they are there.
// CHECK-LABEL: @layer
// CHECK-SAME: (%[[X:.*]]: tensor<16x128xf32>, %[[Y:.*]]: tensor<16x128xf32>)
// CHECK-DAG: %[[GX:.*]] = dist.all_gather %[[X]] on @mesh ["data"] : tensor<16x128xf32> -> tensor<32x128xf32>
// CHECK-DAG: %[[GD:.*]] = dist.all_gather %[[D:.*]] on @mesh ["data"] : tensor<16x128xf32> -> tensor<32x128xf32>
// CHECK-DAG: %[[D]] = nn.relu %[[Y]]
// CHECK: nn.exp
// CHECK: %[[DW:.*]] = nn.matmul %[[GD]], %[[GX]] {transpose_lhs}
// CHECK-NEXT: return %{{.*}}, %[[DW]]
// REMARK: 'layer': factors of w are gathered: a rank sends 16384 bytes in place of 65536
func.func @layer(%x: tensor<16x128xf32>, %y: tensor<16x128xf32>) -> (tensor<16x128xf32>, tensor<128x128xf32>) {
  %d = nn.relu %y : tensor<16x128xf32>
  %e = nn.exp %d : tensor<16x128xf32>
  %dw = nn.matmul %d, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %sum = dist.all_reduce sum %dw on @mesh ["data"] : tensor<128x128xf32> loc("w")
  return %e, %sum : tensor<16x128xf32>, tensor<128x128xf32>
}

// Rows of a time axis, and two products of one factor, which is gathered once. A sum over the rows of a factor needs no
// all-reduce then, another one does.
// CHECK-LABEL: @attention
// CHECK-SAME: (%[[X:.*]]: tensor<4x4x128xf32>, %[[Q:.*]]: tensor<4x4x128xf32>, %[[K:.*]]: tensor<4x4x128xf32>, %[[B:.*]]: tensor<4x4x128xf32>)
// CHECK-DAG: %[[RX:.*]] = nn.reshape %[[X]] : tensor<4x4x128xf32> to tensor<16x128xf32>
// CHECK-DAG: %[[GX:.*]] = dist.all_gather %[[RX]] on @mesh ["data"] {dist.late}
// CHECK-DAG: %[[RQ:.*]] = nn.reshape %[[Q]]
// CHECK-DAG: %[[GQ:.*]] = dist.all_gather %[[RQ]]
// CHECK-DAG: %[[RK:.*]] = nn.reshape %[[K]]
// CHECK-DAG: %[[GK:.*]] = dist.all_gather %[[RK]]
// CHECK-NOT: dist.all_gather
// CHECK-DAG: %[[DQ:.*]] = nn.matmul %[[GQ]], %[[GX]] {transpose_lhs}
// CHECK-DAG: %[[DK:.*]] = nn.matmul %[[GX]], %[[GK]] {transpose_lhs}
// In the sum's own dimensions.
// CHECK-DAG: %[[GQ3:.*]] = nn.reshape %[[GQ]] : tensor<32x128xf32> to tensor<8x4x128xf32>
// CHECK-DAG: %[[DB:.*]] = nn.reduce sum %[[GQ3]] axes = [0, 1]
// CHECK-DAG: %[[SB:.*]] = dist.all_reduce sum
// CHECK: return %[[DQ]], %[[DK]], %[[DB]], %[[SB]]
// REMARK: 'attention': factors of q and k are gathered, and with them q.bias: a rank sends 24576 bytes in place of 131584
func.func @attention(%x: tensor<4x4x128xf32>, %q: tensor<4x4x128xf32>, %k: tensor<4x4x128xf32>, %b: tensor<4x4x128xf32>)
    -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>) {
  %x0 = nn.reshape %x : tensor<4x4x128xf32> to tensor<16x128xf32>
  %q0 = nn.reshape %q : tensor<4x4x128xf32> to tensor<16x128xf32>
  %dq = nn.matmul %q0, %x0 {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %x1 = nn.reshape %x : tensor<4x4x128xf32> to tensor<16x128xf32>
  %k0 = nn.reshape %k : tensor<4x4x128xf32> to tensor<16x128xf32>
  %dk = nn.matmul %x1, %k0 {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %db = nn.reduce sum %q axes = [0, 1] : tensor<4x4x128xf32>
  %other = nn.reduce sum %b axes = [0, 1] : tensor<4x4x128xf32>
  %sq = dist.all_reduce sum %dq on @mesh ["data"] {dist.late} : tensor<128x128xf32> loc("q")
  %sk = dist.all_reduce sum %dk on @mesh ["data"] {dist.late} : tensor<128x128xf32> loc("k")
  %sb = dist.all_reduce sum %db on @mesh ["data"] {dist.late} : tensor<128xf32> loc("q.bias")
  %so = dist.all_reduce sum %other on @mesh ["data"] {dist.late} : tensor<128xf32>
  return %sq, %sk, %sb, %so : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128xf32>, tensor<128xf32>
}

// Through what is linear. What scales the product scales the smaller factor, since ranks may scale by different numbers;
// where rows lie last, they are put first.
// CHECK-LABEL: @linear
// CHECK-SAME: (%[[X:.*]]: tensor<128x16xf32>, %[[Y:.*]]: tensor<256x16xf32>, %[[S:.*]]: tensor<f32>)
// CHECK-DAG: %[[XT:.*]] = nn.transpose %[[X]] [1, 0]
// CHECK-DAG: %[[XS:.*]] = nn.mul %[[XT]], %[[S]]
// CHECK-DAG: %[[GX:.*]] = dist.all_gather %[[XS]]
// CHECK-DAG: %[[YT:.*]] = nn.transpose %[[Y]] [1, 0]
// CHECK-DAG: %[[GY:.*]] = dist.all_gather %[[YT]]
// CHECK: %[[P:.*]] = nn.matmul %[[GX]], %[[GY]] {transpose_lhs} : tensor<32x128xf32>, tensor<32x256xf32>
// CHECK-NEXT: %[[T:.*]] = nn.transpose %[[P]] [1, 0]
// CHECK-NEXT: %[[R:.*]] = nn.reshape %[[T]] : tensor<256x128xf32> to tensor<32768xf32>
// CHECK-NEXT: return %[[R]]
func.func @linear(%x: tensor<128x16xf32>, %y: tensor<256x16xf32>, %s: tensor<f32>) -> tensor<32768xf32> {
  %p = nn.matmul %x, %y {transpose_rhs} : tensor<128x16xf32>, tensor<256x16xf32>
  %m = nn.mul %s, %p : tensor<f32>, tensor<128x256xf32>
  %t = nn.transpose %m [1, 0] : tensor<128x256xf32>
  %r = nn.reshape %t : tensor<256x128xf32> to tensor<32768xf32>
  %sum = dist.all_reduce sum %r on @mesh ["data"] : tensor<32768xf32>
  return %sum : tensor<32768xf32>
}

// Of groups that differ each gathers for itself.
// CHECK-LABEL: @groups
// CHECK-DAG: dist.all_gather %{{.*}} on @grid ["data"] : tensor<16x128xf32> -> tensor<32x128xf32>
// CHECK-DAG: dist.all_gather %{{.*}} on @grid ["data", "model"] : tensor<16x128xf32> -> tensor<64x128xf32>
// CHECK-NOT: dist.all_reduce
// CHECK: return
func.func @groups(%x: tensor<16x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>) {
  %a = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %b = nn.matmul %x, %x {transpose_lhs} : tensor<16x128xf32>, tensor<16x128xf32>
  %0 = dist.all_reduce sum %a on @grid ["data"] : tensor<128x128xf32>
  %1 = dist.all_reduce sum %b on @grid ["data", "model"] : tensor<128x128xf32>
  return %0, %1 : tensor<128x128xf32>, tensor<128x128xf32>
}

// One rank's program: it has 5 of 9 samples, of 3 rows each. They are traced to what goes into the step.
// CHECK-LABEL: @uneven
// CHECK-SAME: (%[[X:.*]]: tensor<5x3x128xf32>
// CHECK: %[[RX:.*]] = nn.reshape %[[X]] : tensor<5x3x128xf32> to tensor<5x384xf32>
// CHECK-NEXT: %[[GX:.*]] = dist.all_gather %[[RX]] on @mesh ["data"] {dist.late} : tensor<5x384xf32> -> tensor<9x384xf32>
// CHECK-NEXT: %[[AX:.*]] = nn.reshape %[[GX]] : tensor<9x384xf32> to tensor<27x128xf32>
// CHECK: %[[GY:.*]] = dist.all_gather %{{.*}} : tensor<5x384xf32> -> tensor<9x384xf32>
// CHECK: %[[AY:.*]] = nn.reshape %[[GY]] : tensor<9x384xf32> to tensor<27x128xf32>
// CHECK: nn.matmul %[[AY]], %[[AX]] {transpose_lhs} : tensor<27x128xf32>, tensor<27x128xf32>
func.func @uneven(%x: tensor<5x3x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32>
    attributes {dist.rank = 0 : i64, dist.samples = 9 : i64} {
  %r = nn.reshape %x : tensor<5x3x128xf32> to tensor<15x128xf32>
  %y = nn.matmul %r, %w : tensor<15x128xf32>, tensor<128x128xf32>
  %z = nn.relu %y : tensor<15x128xf32>
  %dw = nn.matmul %z, %r {transpose_lhs} : tensor<15x128xf32>, tensor<15x128xf32>
  %sum = dist.all_reduce sum %dw on @mesh ["data"] {dist.late} : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}

// Shares by weights: it has 5 samples and the other rank 7, so it gives two of zeros besides.
// WEIGHED-LABEL: @weighed
// WEIGHED-SAME: (%[[X:.*]]: tensor<5x128xf32>
// WEIGHED: %[[PX:.*]] = nn.pad constant %[[X]], %{{.*}} low = [0, 0] high = [2, 0] : tensor<5x128xf32>
// WEIGHED-NEXT: %[[AX:.*]] = dist.all_gather %[[PX]] on @mesh ["data"] {dist.late} : tensor<7x128xf32> -> tensor<14x128xf32>
// WEIGHED: dist.all_gather %{{.*}} : tensor<7x128xf32> -> tensor<14x128xf32>
// WEIGHED: nn.matmul %{{.*}}, %[[AX]] {transpose_lhs} : tensor<14x128xf32>, tensor<14x128xf32>
func.func @weighed(%x: tensor<5x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32>
    attributes {dist.rank = 0 : i64, dist.samples = 12 : i64} {
  %y = nn.matmul %x, %w : tensor<5x128xf32>, tensor<128x128xf32>
  %z = nn.relu %y : tensor<5x128xf32>
  %dw = nn.matmul %z, %x {transpose_lhs} : tensor<5x128xf32>, tensor<5x128xf32>
  %sum = dist.all_reduce sum %dw on @mesh ["data"] {dist.late} : tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
}
