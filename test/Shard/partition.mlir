// The programs of ranks: types of parts, and which collectives stand between.
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=0 | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=3 | FileCheck %s --check-prefixes=CHECK,LAST
// What comes out are programs like any other.
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-partition=rank=3 --sprig-expand-collectives=rank=3 | FileCheck %s --check-prefix=STEPS

dist.mesh @mesh ["data", "model"] [2, 2]

// Five rows are three and two; a rank multiplies its own by all columns, and nothing is sent.
// CHECK-LABEL: func.func @rows
// FIRST-SAME: (%[[X:.*]]: tensor<3x6xf32>, %[[W:.*]]: tensor<6x4xf32>) -> tensor<3x4xf32> {
// LAST-SAME: (%[[X:.*]]: tensor<2x6xf32>, %[[W:.*]]: tensor<6x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[X]], %[[W]]
// CHECK-NEXT: return %[[Y]]
func.func @rows(%x: tensor<5x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %w: tensor<6x4xf32>) -> tensor<5x4xf32> {
  %0 = nn.matmul %x, %w : tensor<5x6xf32>, tensor<6x4xf32>
  return %0 : tensor<5x4xf32>
}

// Columns of the first product are rows of the second: one sum for both. Where the result is split, a part of it.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>, %[[W:.*]]: tensor<6x4xf32>, %[[V:.*]]: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<2x6xf32>) attributes
// FIRST-SAME: {dist.rank = 0 : i64}
// LAST-SAME: {dist.rank = 3 : i64}
// CHECK-NEXT: %[[H:.*]] = nn.matmul %[[X]], %[[W]]
// CHECK-NEXT: %[[R:.*]] = nn.relu %[[H]]
// CHECK-NEXT: %[[P:.*]] = nn.matmul %[[R]], %[[V]]
// CHECK-NEXT: %[[S:.*]] = dist.all_reduce sum %[[P]] on @mesh ["model"] : tensor<4x6xf32>
// CHECK-NEXT: %[[Q:.*]] = nn.matmul %[[R]], %[[V]]
// CHECK-NEXT: %[[T:.*]] = dist.reduce_scatter sum %[[Q]] on @mesh ["model"] : tensor<4x6xf32> -> tensor<2x6xf32>
// CHECK-NEXT: return %[[S]], %[[T]]
func.func @columns(%x: tensor<4x6xf32>, %w: tensor<6x8xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>},
                   %v: tensor<8x6xf32>)
    -> (tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [[], []]>}, tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>}) {
  %0 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32>
  %1 = nn.relu %0 : tensor<4x8xf32>
  %2 = nn.matmul %1, %v : tensor<4x8xf32>, tensor<8x6xf32>
  %3 = nn.matmul %1, %v : tensor<4x8xf32>, tensor<8x6xf32>
  return %2, %3 : tensor<4x6xf32>, tensor<4x6xf32>
}

// A mean divides by what all have together: here it is the sum that is partial, and it stays so through the division.
// CHECK-LABEL: func.func @mean
// FIRST-SAME: (%[[X:.*]]: tensor<3x4xf32>)
// LAST-SAME: (%[[X:.*]]: tensor<2x4xf32>)
// CHECK-NEXT: %[[S:.*]] = nn.reduce sum %[[X]] axes = [0]
// CHECK-NEXT: %[[N:.*]] = nn.constant dense<5.0
// CHECK-NEXT: %[[M:.*]] = nn.div %[[S]], %[[N]]
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum %[[M]] on @mesh ["data"] : tensor<4xf32>
// CHECK-NEXT: return %[[A]]
func.func @mean(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<4xf32> {
  %0 = nn.reduce_mean %x axes = [0] : tensor<5x4xf32>
  return %0 : tensor<4xf32>
}

// A mean of losses is a rank's own mean, which counts by its rows; a cotangent counts so before it is divided. A factor
// and that part are one number, of a chain the last one.
// CHECK-LABEL: func.func @lossMeans
// FIRST-SAME: (%[[G:.*]]: tensor<f32>, %[[X:.*]]: tensor<3x4xf32>)
// LAST-SAME: (%[[G:.*]]: tensor<f32>, %[[X:.*]]: tensor<2x4xf32>)
// CHECK: %[[S:.*]] = nn.reduce sum %[[X]] axes = [0, 1]
// CHECK-NEXT: %[[N:.*]] = nn.constant dense<{{3|2}}.000000e+00>
// CHECK-NEXT: %[[M:.*]] = nn.div %[[S]], %[[N]]
// CHECK: %[[H:.*]] = nn.mul %[[M]], %{{.*}}
// FIRST-NEXT: %[[C:.*]] = nn.constant dense<6.000000e+00>
// LAST-NEXT: %[[C:.*]] = nn.constant dense<4.000000e+00>
// CHECK-NEXT: %[[L:.*]] = nn.mul %[[H]], %[[C]]
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum %[[L]]
// CHECK: %[[W:.*]] = nn.constant dense<{{6.000000e-01|4.000000e-01}}>
// CHECK-NEXT: %[[P:.*]] = nn.mul %[[G]], %[[W]]
// FIRST-NEXT: %[[K:.*]] = nn.constant dense<1.200000e+01>
// LAST-NEXT: %[[K:.*]] = nn.constant dense<8.000000e+00>
// CHECK-NEXT: %[[D:.*]] = nn.div %[[P]], %[[K]]
// CHECK-NEXT: return %[[A]], %[[D]]
func.func @lossMeans(%g: tensor<f32>, %x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> (tensor<f32>, tensor<f32>) {
  %half = nn.constant dense<0.5> : tensor<f32>
  %ten = nn.constant dense<10.0> : tensor<f32>
  %0 = nn.loss_mean %x {dims = 1 : i64} : tensor<5x4xf32>
  %1 = nn.loss_scale %0, %half {factor = 0.5 : f64} : tensor<f32>
  %2 = nn.loss_scale %1, %ten {factor = 10.0 : f64} : tensor<f32>
  %3 = nn.loss_mean_grad %g like %x {dims = 2 : i64} : tensor<f32>, tensor<5x4xf32>
  return %2, %3 : tensor<f32>, tensor<f32>
}

// What only flat vectors read is made as one: no rank multiplies more than its piece.
// CHECK-LABEL: func.func @flatReaders
// CHECK-SAME: (%[[M:.*]]: tensor<6xf32>, %[[W:.*]]: tensor<3x4xf32>
// CHECK: %[[P:.*]] = dist.part {{.*}} : tensor<12xf32> -> tensor<6xf32>
// CHECK-NEXT: nn.mul %[[P]], %{{.*}} : tensor<6xf32>, tensor<f32>
func.func @flatReaders(%m: tensor<3x4xf32> {dist.sharding = #dist.sharding<@mesh, flat ["data"]>},
                       %w: tensor<3x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], []]>}) -> tensor<3x4xf32> {
  %c = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %w, %c : tensor<3x4xf32>, tensor<f32>
  %1 = nn.add %m, %0 : tensor<3x4xf32>, tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// A state of which ranks have flat pieces says of which whole.
// CHECK: nn.param @momentum {dist.piece = array<i64: 3, 5>} = dense<0.0{{.*}}> : tensor<8xf32>
nn.param @momentum {dist.sharding = #dist.sharding<@mesh, flat ["data"]>} = dense<0.0> : tensor<3x5xf32>

// What an operation waits for may lie anyhow.
// CHECK-LABEL: func.func @waits
// CHECK-NOT: dist.all_gather
func.func @waits(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %y: tensor<5x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<5x4xf32> {
  %0 = nn.after %x, %y : tensor<5x4xf32>, tensor<5x3xf32>
  return %0 : tensor<5x4xf32>
}

// One sample is all of its rows, which the first rank has.
// CHECK-LABEL: func.func @oneSample
// FIRST-SAME: (%[[X:.*]]: tensor<1x3x4xf32>
// LAST-SAME: (%[[X:.*]]: tensor<0x3x4xf32>
// FIRST-NEXT: nn.reshape %[[X]] : tensor<1x3x4xf32> to tensor<3x4xf32>
// LAST-NEXT: nn.reshape %[[X]] : tensor<0x3x4xf32> to tensor<0x4xf32>
func.func @oneSample(%x: tensor<1x3x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], [], []]>}) -> tensor<4xf32> {
  %0 = nn.reshape %x : tensor<1x3x4xf32> to tensor<3x4xf32>
  %1 = nn.reduce sum %0 axes = [0] : tensor<3x4xf32>
  return %1 : tensor<4xf32>
}

// A loss stays one operation on a rank's rows: of a mean, what a rank has counts by its rows, and the loss's factor is
// one number with that (0.5 * 3 / 5 and 0.5 * 2 / 5).
// CHECK-LABEL: func.func @loss
// CHECK: %[[L:.*]] = nn.cross_entropy mean
// CHECK-NEXT: %[[C:.*]] = nn.constant
// FIRST-NEXT: %[[W:.*]] = nn.constant dense<3.000000e-01>
// LAST-NEXT: %[[W:.*]] = nn.constant dense<2.000000e-01>
// CHECK-NEXT: %[[S:.*]] = nn.mul %[[L]], %[[W]]
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum %[[S]] on @mesh ["data"] : tensor<f32>
// CHECK-NEXT: %[[M:.*]] = nn.mse_loss mean
// CHECK-NEXT: %[[W:.*]] = nn.constant dense<{{6.000000e-01|4.000000e-01}}>
// CHECK-NEXT: %[[P:.*]] = nn.mul %[[M]], %[[W]]
// CHECK-NEXT: %[[B:.*]] = dist.all_reduce sum %[[P]] on @mesh ["data"] : tensor<f32>
// CHECK-NEXT: %[[E:.*]] = nn.l1_loss sum
// CHECK-NEXT: %[[D:.*]] = dist.all_reduce sum %[[E]] on @mesh ["data"] : tensor<f32>
// CHECK-NEXT: return %[[A]], %[[B]], %[[D]]
func.func @loss(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %t: tensor<5xi64>, %y: tensor<5x4xf32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = nn.cross_entropy mean %x, %t : tensor<5x4xf32>, tensor<5xi64>
  %half = nn.constant dense<0.5> : tensor<f32>
  %1 = nn.loss_scale %0, %half {factor = 0.5 : f64} : tensor<f32>
  %2 = nn.mse_loss mean %x, %y : tensor<5x4xf32>, tensor<5x4xf32>
  %3 = nn.l1_loss sum %x, %y : tensor<5x4xf32>, tensor<5x4xf32>
  return %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>
}

// Where rows count by weights, ranks add up what counts, and the mean divides by that.
// CHECK-LABEL: func.func @weighted
// CHECK: %[[N:.*]] = nn.reduce sum {{.*}} : tensor<{{2|3}}x1xf32>
// CHECK-NEXT: %[[A:.*]] = dist.all_reduce sum %[[N]] on @mesh ["data"] : tensor<f32>
// CHECK: %[[L:.*]] = nn.div %{{.*}}, %[[A]]
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum %[[L]] on @mesh ["data"] : tensor<f32>
// CHECK-NEXT: return %[[R]]
func.func @weighted(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %t: tensor<5xi64>, %w: tensor<4xf32>) -> tensor<f32> {
  %0 = nn.cross_entropy mean %x, %t weights %w : tensor<5x4xf32>, tensor<5xi64>, tensor<4xf32>
  return %0 : tensor<f32>
}

// A maximum of parts, and a sum, before what needs them.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[M:.*]] = nn.reduce max
// CHECK-NEXT: dist.all_reduce max %[[M]] on @mesh ["model"] : tensor<4x1xf32>
// CHECK: %[[S:.*]] = nn.reduce sum
// CHECK-NEXT: dist.all_reduce sum %[[S]] on @mesh ["model"] : tensor<4x1xf32>
func.func @softmax(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}) -> tensor<4x6xf32> {
  %0 = nn.softmax %x axis = 1 : tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// Two partial sums are added as they are, and what is read twice becomes whole once.
// CHECK-LABEL: func.func @deferred
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[W:.*]]: tensor<3x4xf32>)
// CHECK-NEXT: %[[A:.*]] = nn.matmul %[[X]], %[[W]]
// CHECK-NEXT: %[[B:.*]] = nn.matmul %[[X]], %[[W]]
// CHECK-NEXT: %[[S:.*]] = nn.add %[[A]], %[[B]]
// CHECK-NEXT: %[[R:.*]] = dist.all_reduce sum %[[S]] on @mesh ["model"]
// CHECK-NEXT: nn.exp %[[R]]
// CHECK-NEXT: nn.tanh %[[R]]
func.func @deferred(%x: tensor<4x6xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>}, %w: tensor<6x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x4xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x4xf32>
  %2 = nn.add %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  %3 = nn.exp %2 : tensor<4x4xf32>
  %4 = nn.tanh %2 : tensor<4x4xf32>
  return %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>
}

// From one sharding to another: a slice, an all_gather (of uneven rows too), an all_to_all.
// CHECK-LABEL: func.func @moves
// FIRST-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[Y:.*]]: tensor<3x4xf32>, %[[Z:.*]]: tensor<3x4xf32>)
// LAST-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[Y:.*]]: tensor<2x4xf32>, %[[Z:.*]]: tensor<3x4xf32>)
// FIRST-NEXT: %[[S:.*]] = nn.slice %[[X]] starts = [0, 0] sizes = [3, 4]
// LAST-NEXT: %[[S:.*]] = nn.slice %[[X]] starts = [3, 0] sizes = [2, 4]
// FIRST-NEXT: %[[G:.*]] = dist.all_gather %[[Y]] on @mesh ["data"] : tensor<3x4xf32> -> tensor<5x4xf32>
// LAST-NEXT: %[[G:.*]] = dist.all_gather %[[Y]] on @mesh ["data"] : tensor<2x4xf32> -> tensor<5x4xf32>
// CHECK-NEXT: %[[P:.*]] = nn.reshape %[[Z]] : tensor<3x4xf32> to tensor<3x2x2xf32>
// CHECK-NEXT: %[[F:.*]] = nn.transpose %[[P]] [1, 0, 2]
// CHECK-NEXT: %[[A:.*]] = dist.all_to_all %[[F]] on @mesh ["model"] : tensor<2x3x2xf32> -> tensor<2x3x2xf32>
// CHECK-NEXT: %[[J:.*]] = nn.reshape %[[A]] : tensor<2x3x2xf32> to tensor<6x2xf32>
// CHECK-NEXT: return %[[S]], %[[G]], %[[J]]
// STEPS-LABEL: func.func @moves
// STEPS: dist.steps sum rank 3 at 12 (%{{.*}}) : tensor<2x4xf32> -> tensor<5x4xf32>
func.func @moves(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], []]>},
                 %y: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                 %z: tensor<6x4xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>})
    -> (tensor<5x4xf32>, tensor<5x4xf32>, tensor<6x4xf32>) {
  %0 = dist.shard %x : tensor<5x4xf32> to #dist.sharding<@mesh, [["data"], []]>
  %1 = dist.shard %y : tensor<5x4xf32> to #dist.sharding<@mesh, [[], []]>
  %2 = dist.shard %z : tensor<6x4xf32> to #dist.sharding<@mesh, [[], ["model"]]>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<5x4xf32>, tensor<6x4xf32>
}

// Columns go by rows of the transposed; three ranks' worth of groups is each group's own matter.
// CHECK-LABEL: func.func @groups
// CHECK: nn.conv {{.*}}, groups = 2 : i64
func.func @groups(%x: tensor<1x8x4x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"], [], []]>}, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x2x2xf32> {
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, groups = 4 : i64} : tensor<1x8x4x4xf32>, tensor<4x2x3x3xf32>
  return %0 : tensor<1x4x2x2xf32>
}

// Random bits follow from an element's place in the whole: a rank takes its part of the places.
// CHECK-LABEL: func.func @dropout
// CHECK: %[[I:.*]] = nn.iota axis = 0 : tensor<5x4xi64>
// LAST: nn.slice %[[I]] starts = [3, 0] sizes = [2, 4]
// CHECK: nn.philox
func.func @dropout(%x: tensor<5x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %k: tensor<i64>) -> tensor<5x4xf32> {
  %0 = nn.dropout %x, %k, %k {ratio = 0.5 : f64} : tensor<5x4xf32>, tensor<i64>, tensor<i64>
  return %0 : tensor<5x4xf32>
}

// A loop that keeps samples apart runs on each rank's own; a constant within has their number.
// CHECK-LABEL: func.func @scan
// LAST: nn.scan steps = 3 over (%{{.*}} = %{{.*}} : tensor<3x2x4xf32>) carry (%{{.*}} = %{{.*}} : tensor<2x4xf32>) -> tensor<2x4xf32> {
// LAST-NEXT: nn.constant dense<5.000000e-01> : tensor<2x4xf32>
func.func @scan(%x: tensor<3x5x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["data"], []]>}, %h: tensor<5x4xf32>) -> tensor<5x4xf32> {
  %0 = nn.scan steps = 3 over (%t = %x : tensor<3x5x4xf32>) carry (%s = %h : tensor<5x4xf32>) -> tensor<5x4xf32> {
    %half = nn.constant dense<0.5> : tensor<5x4xf32>
    %1 = nn.mul %s, %half : tensor<5x4xf32>, tensor<5x4xf32>
    %2 = nn.add %1, %t : tensor<5x4xf32>, tensor<5x4xf32>
    nn.yield %2 : tensor<5x4xf32>
  }
  return %0 : tensor<5x4xf32>
}

// What a loop adds up over samples is a part of a sum on each rank. The first one alone starts with what is given.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%{{.*}}: tensor<3x{{2|3}}x4xf32>, %[[G:.*]]: tensor<4xf32>)
// FIRST: %[[S:.*]] = nn.scan {{.*}} carry (%{{.*}} = %[[G]] : tensor<4xf32>)
// LAST: %[[Z:.*]] = nn.constant dense<0.0
// LAST-NEXT: %[[S:.*]] = nn.scan {{.*}} carry (%{{.*}} = %[[Z]] : tensor<4xf32>)
// CHECK: dist.all_reduce sum %[[S]] on @mesh ["data"]
func.func @sums(%x: tensor<3x5x4xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["data"], []]>}, %g: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.scan steps = 3 over (%t = %x : tensor<3x5x4xf32>) carry (%s = %g : tensor<4xf32>) -> tensor<4xf32> {
    %1 = nn.reduce sum %t axes = [0] : tensor<5x4xf32>
    %2 = nn.add %s, %1 : tensor<4xf32>, tensor<4xf32>
    nn.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// An operation without a rule has all of its operands.
// CHECK-LABEL: func.func @noRule
// CHECK: %[[G:.*]] = dist.all_gather
// CHECK-NEXT: nn.checkpoint"(%[[G]])
func.func @noRule(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<4x4xf32> {
  %0 = "nn.checkpoint"(%x) ({
  ^bb0(%a: tensor<4x4xf32>):
    %1 = nn.exp %a : tensor<4x4xf32>
    nn.yield %1 : tensor<4x4xf32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A parameter in parts: all of it is gathered where it is used, and a rank updates its own part with its part of the sum.
// FIRST: nn.param @w = dense<{{\[\[}}1.0{{.*}}, 2.0{{.*}}], [3.0{{.*}}, 4.0{{.*}}]]> : tensor<2x2xf32>
// LAST: nn.param @w = dense<{{\[\[}}5.0{{.*}}, 6.0{{.*}}]]> : tensor<1x2xf32>
nn.param @w {dist.sharding = #dist.sharding<@mesh, [["data"], []]>} = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
// CHECK-LABEL: func.func @update
// CHECK: %[[W:.*]] = nn.get_param @w
// CHECK: dist.all_gather %[[W]] on @mesh ["data"]
// CHECK: %[[G:.*]] = nn.matmul {{.*}} {transpose_lhs}
// CHECK-NEXT: %[[P:.*]] = dist.reduce_scatter sum %[[G]] on @mesh ["data"]
// CHECK-NEXT: %[[N:.*]] = nn.sub %[[W]], %[[P]]
// CHECK-NEXT: nn.set_param @w, %[[N]]
func.func @update(%x: tensor<4x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) {
  %w = nn.get_param @w : tensor<3x2xf32>
  %0 = nn.matmul %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  %1 = nn.tanh %0 : tensor<4x2xf32>
  %g = nn.matmul %x, %1 {transpose_lhs} : tensor<4x3xf32>, tensor<4x2xf32>
  %n = nn.sub %w, %g : tensor<3x2xf32>, tensor<3x2xf32>
  nn.set_param @w, %n : tensor<3x2xf32>
  return
}
