// What lies behind a length is kept out of what counts; the numbers and places that follow from it are computed.
// RUN: sprig-opt %s --sprig-mask-lengths | FileCheck %s
// RUN: sprig-opt %s --sprig-mask-lengths | sprig-opt --sprig-mask-lengths | FileCheck %s

// The sides of a product get zeros of both signs, a sum -0, a mean the length as its divisor. What passes stays.
// CHECK-LABEL: func.func @sums_4(
// CHECK-SAME: %[[X:.*]]: tensor<2x4xf32>, %[[Y:.*]]: tensor<4x5xf32>, %[[T:.*]]: tensor<i64> {nn.name = "length of 'time'"})
// CHECK-SAME: nn.lengths = {axis = "time", first = 3 : i64, inputs = [array<i64: 1, 1, 0, 1>, array<i64: 0, 1, 0, 1>], last = 4 : i64, outputs = [array<i64>, array<i64>, array<i64: 1, 1, 0, 1>]}
// CHECK: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[IS:.*]] = nn.compare  lt %{{.*}}, %[[T]] : tensor<4xi64>, tensor<i64>
// CHECK: %[[LEFT:.*]] = nn.select %[[IS]], %[[X]], %[[ZERO]]
// CHECK: %[[MINUS:.*]] = nn.constant dense<-0.000000e+00> : tensor<f32>
// CHECK: %[[COLUMN:.*]] = nn.reshape %{{.*}} : tensor<4xi1> to tensor<4x1xi1>
// CHECK: %[[RIGHT:.*]] = nn.select %[[COLUMN]], %[[Y]], %[[MINUS]]
// CHECK: %[[PRODUCT:.*]] = nn.matmul %[[LEFT]], %[[RIGHT]]
// CHECK: %[[SUM:.*]] = nn.reduce sum %{{.*}} axes = [1]
// CHECK: %[[COUNT:.*]] = nn.cast %{{.*}} : tensor<i64> to tensor<f32>
// CHECK: %[[MEAN:.*]] = nn.div %[[SUM]], %[[COUNT]]
// CHECK: %[[SAME:.*]] = nn.relu %[[X]]
// CHECK: return %[[PRODUCT]], %[[MEAN]], %[[SAME]]
func.func @sums_4(%x: tensor<2x4xf32>, %y: tensor<4x5xf32>) -> (tensor<2x5xf32>, tensor<2xf32>, tensor<2x4xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  %p = nn.matmul %x, %y : tensor<2x4xf32>, tensor<4x5xf32>
  %m = nn.reduce_mean %x axes = [1] : tensor<2x4xf32>
  %r = nn.relu %x : tensor<2x4xf32>
  return %p, %m, %r : tensor<2x5xf32>, tensor<2xf32>, tensor<2x4xf32>
}
func.func @sums_3(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> (tensor<2x5xf32>, tensor<2xf32>, tensor<2x3xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %p = nn.matmul %x, %y : tensor<2x3xf32>, tensor<3x5xf32>
  %m = nn.reduce_mean %x axes = [1] : tensor<2x3xf32>
  %r = nn.relu %x : tensor<2x3xf32>
  return %p, %m, %r : tensor<2x5xf32>, tensor<2xf32>, tensor<2x3xf32>
}

// Behind the end a softmax has the lowest number, so its weights are zeros, and only what they meet is masked.
// CHECK-LABEL: func.func @softmax_4(
// CHECK: %[[LOWEST:.*]] = nn.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[SCORES:.*]] = nn.select %{{.*}}, %{{.*}}, %[[LOWEST]]
// CHECK: %[[WEIGHTS:.*]] = nn.softmax %[[SCORES]] axis = 1
// CHECK: %[[VALUES:.*]] = nn.select
// CHECK: nn.matmul %[[WEIGHTS]], %[[VALUES]]
func.func @softmax_4(%x: tensor<4x4xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 1}} {
  %s = nn.softmax %x axis = 1 : tensor<4x4xf32>
  %p = nn.matmul %s, %y : tensor<4x4xf32>, tensor<4x5xf32>
  return %p : tensor<4x5xf32>
}
func.func @softmax_3(%x: tensor<3x3xf32>, %y: tensor<3x5xf32>) -> tensor<3x5xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 1}} {
  %s = nn.softmax %x axis = 1 : tensor<3x3xf32>
  %p = nn.matmul %s, %y : tensor<3x3xf32>, tensor<3x5xf32>
  return %p : tensor<3x5xf32>
}

// The last element is at another place each time; the first is not.
// CHECK-LABEL: func.func @places_4(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32>, %[[T:.*]]: tensor<i64>
// CHECK: %[[ONE:.*]] = nn.constant dense<-1> : tensor<i64>
// CHECK: %[[LAST:.*]] = nn.add %[[T]], %[[ONE]]
// CHECK: %[[PICKED:.*]] = nn.gather %[[X]], %{{.*}} axis = 0 : tensor<4x2xf32>, tensor<1xi64>
// CHECK: nn.slice %[[PICKED]] starts = [0, 1] sizes = [1, 1]
// CHECK: nn.slice %[[X]] starts = [0, 0] sizes = [1, 2]
func.func @places_4(%x: tensor<4x2xf32>) -> (tensor<1x1xf32>, tensor<1x2xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 2}} {
  %l = nn.slice %x starts = [3, 1] sizes = [1, 1] steps = [1, 1] : tensor<4x2xf32>
  %f = nn.slice %x starts = [0, 0] sizes = [1, 2] steps = [1, 1] : tensor<4x2xf32>
  return %l, %f : tensor<1x1xf32>, tensor<1x2xf32>
}
func.func @places_3(%x: tensor<3x2xf32>) -> (tensor<1x1xf32>, tensor<1x2xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 2}} {
  %l = nn.slice %x starts = [2, 1] sizes = [1, 1] steps = [1, 1] : tensor<3x2xf32>
  %f = nn.slice %x starts = [0, 0] sizes = [1, 2] steps = [1, 1] : tensor<3x2xf32>
  return %l, %f : tensor<1x1xf32>, tensor<1x2xf32>
}

// A part behind one that grows moves to where that ends; one in front of it stays.
// CHECK-LABEL: func.func @concat_4(
// CHECK-SAME: outputs = [array<i64: 0, 1, 1, 1>, array<i64: 0, 1, 1, 1>]
// CHECK: %[[BEHIND:.*]] = nn.concat %{{.*}}, %{{.*}} axis = 0 : tensor<4xf32>, tensor<1xf32>
// CHECK: %[[AT:.*]] = nn.compare ge
// CHECK: %[[SHIFT:.*]] = nn.select %[[AT]]
// CHECK: %[[MOVED:.*]] = nn.gather %[[BEHIND]], %{{.*}} axis = 0
// CHECK: %[[FRONT:.*]] = nn.concat %{{.*}}, %{{.*}} axis = 0 : tensor<1xf32>, tensor<4xf32>
// CHECK: return %[[MOVED]], %[[FRONT]]
func.func @concat_4(%x: tensor<4xf32>, %y: tensor<1xf32>) -> (tensor<5xf32>, tensor<5xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 3}} {
  %b = nn.concat %x, %y axis = 0 : tensor<4xf32>, tensor<1xf32>
  %f = nn.concat %y, %x axis = 0 : tensor<1xf32>, tensor<4xf32>
  return %b, %f : tensor<5xf32>, tensor<5xf32>
}
func.func @concat_3(%x: tensor<3xf32>, %y: tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 3}} {
  %b = nn.concat %x, %y axis = 0 : tensor<3xf32>, tensor<1xf32>
  %f = nn.concat %y, %x axis = 0 : tensor<1xf32>, tensor<3xf32>
  return %b, %f : tensor<4xf32>, tensor<4xf32>
}

// Strides halve a length; windows that reach over the end find what the padding is.
// CHECK-LABEL: func.func @windows_8(
// CHECK-SAME: outputs = [array<i64: 2, 1, 1, 2>, array<i64: 2, 1, 0, 2>]
// CHECK: %[[X:.*]] = nn.select
// CHECK: %[[CONV:.*]] = nn.conv %[[X]]
// CHECK-NOT: nn.select
// CHECK: %[[POOL:.*]] = nn.pool max %arg0
func.func @windows_8(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) -> (tensor<1x3x4xf32>, tensor<1x2x4xf32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 8, group = 4}} {
  %c = nn.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x2x8xf32>, tensor<3x2x3xf32>
  %p = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x2x8xf32>
  return %c, %p : tensor<1x3x4xf32>, tensor<1x2x4xf32>
}
func.func @windows_7(%x: tensor<1x2x7xf32>, %w: tensor<3x2x3xf32>) -> (tensor<1x3x4xf32>, tensor<1x2x3xf32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 7, group = 4}} {
  %c = nn.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x2x7xf32>, tensor<3x2x3xf32>
  %p = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x2x7xf32>
  return %c, %p : tensor<1x3x4xf32>, tensor<1x2x3xf32>
}
func.func @windows_5(%x: tensor<1x2x5xf32>, %w: tensor<3x2x3xf32>) -> (tensor<1x3x3xf32>, tensor<1x2x2xf32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 5, group = 4}} {
  %c = nn.conv %x, %w {strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 1, 1>} : tensor<1x2x5xf32>, tensor<3x2x3xf32>
  %p = nn.pool max %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, padding = array<i64: 0, 0>} : tensor<1x2x5xf32>
  return %c, %p : tensor<1x3x3xf32>, tensor<1x2x2xf32>
}

// A layer over time knows lengths itself; another loop carries on what there was at the end.
// CHECK-LABEL: func.func @loops_4(
// CHECK: %[[LENGTHS:.*]] = nn.broadcast %arg{{.*}} : tensor<i64> to tensor<2xi64>
// CHECK: nn.gru {{.*}} lengths %[[LENGTHS]] {reverse}
// CHECK: nn.scan steps = 4 over (%{{.*}} = %arg0 : tensor<4x2x3xf32>, %[[AT:.*]] = %{{.*}} : tensor<4xi64>)
// CHECK-SAME: with (%[[END:.*]] = %arg{{.*}} : tensor<i64>)
// CHECK: %[[NEXT:.*]] = nn.add
// CHECK: %[[GOES:.*]] = nn.compare  lt %[[AT]], %[[END]]
// CHECK: %[[KEPT:.*]] = nn.select %[[GOES]], %[[NEXT]]
// CHECK: nn.yield %[[KEPT]], %[[NEXT]]
func.func @loops_4(%x: tensor<4x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>, %s: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 5}} {
  %y, %last = nn.gru %x, %w, %r from %h {reverse} : tensor<4x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  %c, %all = nn.scan steps = 4 over (%xt = %x : tensor<4x2x3xf32>) carry (%a = %s : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<4x2x3xf32>) {
    %n = nn.add %xt, %a : tensor<2x3xf32>, tensor<2x3xf32>
    nn.yield %n, %n : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %last, %c : tensor<2x4xf32>, tensor<2x3xf32>
}
func.func @loops_3(%x: tensor<3x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>, %h: tensor<2x4xf32>, %s: tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 5}} {
  %y, %last = nn.gru %x, %w, %r from %h {reverse} : tensor<3x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<2x4xf32>
  %c, %all = nn.scan steps = 3 over (%xt = %x : tensor<3x2x3xf32>) carry (%a = %s : tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2x3xf32>) {
    %n = nn.add %xt, %a : tensor<2x3xf32>, tensor<2x3xf32>
    nn.yield %n, %n : tensor<2x3xf32>, tensor<2x3xf32>
  }
  return %last, %c : tensor<2x4xf32>, tensor<2x3xf32>
}

// A longer constant begins as a shorter one does. Numbers follow from the length; 1 / t is computed as that.
// CHECK-LABEL: func.func @constants_4(
// CHECK: %[[TABLE:.*]] = nn.constant dense<[1.000000e+00, 2.000000e+00, 4.000000e+00, 8.000000e+00]>
// CHECK: nn.add %arg0, %[[TABLE]]
// CHECK: %[[SHARE:.*]] = nn.div %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
// CHECK: nn.mul %{{.*}}, %[[SHARE]]
func.func @constants_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 2, last = 4, length = 4, group = 6}} {
  %t = nn.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %s = nn.constant dense<2.500000e-01> : tensor<f32>
  %a = nn.add %x, %t : tensor<4xf32>, tensor<4xf32>
  %m = nn.mul %a, %s : tensor<4xf32>, tensor<f32>
  return %m : tensor<4xf32>
}
func.func @constants_2(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {nn.lengths = {axis = "time", first = 2, last = 4, length = 2, group = 6}} {
  %t = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = nn.constant dense<5.000000e-01> : tensor<f32>
  %a = nn.add %x, %t : tensor<2xf32>, tensor<2xf32>
  %m = nn.mul %a, %s : tensor<2xf32>, tensor<f32>
  return %m : tensor<2xf32>
}

// Constant indices begin as shorter ones do, count from the end, or stop at the last element. Those behind a length
// are zeros; so is nothing there out of range.
// CHECK-LABEL: func.func @ends_4(
// CHECK: %[[TWICE:.*]] = nn.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]>
// CHECK: nn.compare  lt %[[TWICE]],
// CHECK: %[[CHECKED:.*]] = nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xi1>, tensor<i64>, tensor<8xi64>
// CHECK: %[[MASKED:.*]] = nn.select %{{.*}}, %[[CHECKED]], %{{.*}}
// CHECK: nn.gather %arg0, %[[MASKED]] axis = 0
// CHECK: %[[DOWN:.*]] = nn.constant dense<[3, 2, 1, 0]>
// CHECK: %[[SHIFT:.*]] = nn.add %arg1, %{{.*}} : tensor<i64>
// CHECK: nn.add %[[DOWN]], %[[SHIFT]]
// CHECK: %[[NEXT:.*]] = nn.constant dense<[1, 2, 3, 3]>
// CHECK: %[[LAST:.*]] = nn.add %arg1, %{{.*}} : tensor<i64>
// CHECK: nn.min %[[NEXT]], %[[LAST]]
// CHECK: %[[QUOTIENT:.*]] = nn.div %arg0, %arg0
// CHECK: %[[INSIDE:.*]] = nn.select %{{.*}}, %[[QUOTIENT]], %{{.*}}
// CHECK: nn.in_range %[[INSIDE]]
func.func @ends_4(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 15}} {
  %twice = nn.constant dense<[0, 0, 1, 1, 2, 2, 3, 3]> : tensor<8xi64>
  %a = nn.gather %x, %twice axis = 0 : tensor<4xf32>, tensor<8xi64>
  %down = nn.constant dense<[3, 2, 1, 0]> : tensor<4xi64>
  %b = nn.gather %x, %down axis = 0 : tensor<4xf32>, tensor<4xi64>
  %next = nn.constant dense<[1, 2, 3, 3]> : tensor<4xi64>
  %c = nn.gather %x, %next axis = 0 : tensor<4xf32>, tensor<4xi64>
  %q = nn.div %x, %x : tensor<4xf32>, tensor<4xf32>
  %d = nn.in_range %q {low = 1.0, high = 2.0} : tensor<4xf32>
  return %a, %b, %c, %d : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @ends_3(%x: tensor<3xf32>) -> (tensor<6xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 15}} {
  %twice = nn.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi64>
  %a = nn.gather %x, %twice axis = 0 : tensor<3xf32>, tensor<6xi64>
  %down = nn.constant dense<[2, 1, 0]> : tensor<3xi64>
  %b = nn.gather %x, %down axis = 0 : tensor<3xf32>, tensor<3xi64>
  %next = nn.constant dense<[1, 2, 2]> : tensor<3xi64>
  %c = nn.gather %x, %next axis = 0 : tensor<3xf32>, tensor<3xi64>
  %q = nn.div %x, %x : tensor<3xf32>, tensor<3xf32>
  %d = nn.in_range %q {low = 1.0, high = 2.0} : tensor<3xf32>
  return %a, %b, %c, %d : tensor<6xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// Constants that are equal at one length, where they are one, are several at another.
// CHECK-LABEL: func.func @coincidence_4(
// CHECK: nn.mul %arg0, %{{.*}} : tensor<4xi64>, tensor<i64>
// CHECK: %[[COUNT:.*]] = nn.mul %arg1, %{{.*}} : tensor<i64>, tensor<1xi64>
// CHECK: nn.reshape %[[COUNT]]
// CHECK: nn.add
func.func @coincidence_4(%x: tensor<4xi64>) -> tensor<4xi64>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 16}} {
  %c = nn.constant dense<4> : tensor<i64>
  %a = nn.mul %x, %c : tensor<4xi64>, tensor<i64>
  %b = nn.add %a, %c : tensor<4xi64>, tensor<i64>
  return %b : tensor<4xi64>
}
func.func @coincidence_3(%x: tensor<3xi64>) -> tensor<3xi64>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 16}} {
  %c = nn.constant dense<4> : tensor<i64>
  %t = nn.constant dense<3> : tensor<i64>
  %a = nn.mul %x, %c : tensor<3xi64>, tensor<i64>
  %b = nn.add %a, %t : tensor<3xi64>, tensor<i64>
  return %b : tensor<3xi64>
}

// Shares of the length, rounded down.
// CHECK-LABEL: func.func @share_8(
// CHECK-SAME: outputs = [array<i64: 0, 1, 0, 2>, array<i64>]
// CHECK: nn.gather %arg0, %{{.*}} axis = 0 : tensor<8xf32>, tensor<4xi64>
// CHECK: %[[HALF:.*]] = nn.div %arg1, %{{.*}} : tensor<i64>, tensor<i64>
// CHECK: nn.mul %[[HALF]],
// CHECK: nn.gather %arg0, %{{.*}} axis = 0 : tensor<8xf32>, tensor<i64>
func.func @share_8(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<f32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 8, group = 17}} {
  %even = nn.constant dense<[0, 2, 4, 6]> : tensor<4xi64>
  %a = nn.gather %x, %even axis = 0 : tensor<8xf32>, tensor<4xi64>
  %middle = nn.constant dense<4> : tensor<i64>
  %b = nn.gather %x, %middle axis = 0 : tensor<8xf32>, tensor<i64>
  return %a, %b : tensor<4xf32>, tensor<f32>
}
func.func @share_7(%x: tensor<7xf32>) -> (tensor<3xf32>, tensor<f32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 7, group = 17}} {
  %even = nn.constant dense<[0, 2, 4]> : tensor<3xi64>
  %a = nn.gather %x, %even axis = 0 : tensor<7xf32>, tensor<3xi64>
  %middle = nn.constant dense<3> : tensor<i64>
  %b = nn.gather %x, %middle axis = 0 : tensor<7xf32>, tensor<i64>
  return %a, %b : tensor<3xf32>, tensor<f32>
}
func.func @share_6(%x: tensor<6xf32>) -> (tensor<3xf32>, tensor<f32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 6, group = 17}} {
  %even = nn.constant dense<[0, 2, 4]> : tensor<3xi64>
  %a = nn.gather %x, %even axis = 0 : tensor<6xf32>, tensor<3xi64>
  %middle = nn.constant dense<3> : tensor<i64>
  %b = nn.gather %x, %middle axis = 0 : tensor<6xf32>, tensor<i64>
  return %a, %b : tensor<3xf32>, tensor<f32>
}
func.func @share_5(%x: tensor<5xf32>) -> (tensor<2xf32>, tensor<f32>)
    attributes {nn.lengths = {axis = "time", first = 5, last = 8, length = 5, group = 17}} {
  %even = nn.constant dense<[0, 2]> : tensor<2xi64>
  %a = nn.gather %x, %even axis = 0 : tensor<5xf32>, tensor<2xi64>
  %middle = nn.constant dense<2> : tensor<i64>
  %b = nn.gather %x, %middle axis = 0 : tensor<5xf32>, tensor<i64>
  return %a, %b : tensor<2xf32>, tensor<f32>
}

// Indices count from an end that moves; what is behind a length is no index.
// CHECK-LABEL: func.func @indices_4(
// CHECK: %[[NEGATIVE:.*]] = nn.compare  lt %arg1,
// CHECK: %[[FROM_END:.*]] = nn.add %arg1, %arg3
// CHECK: nn.select %[[NEGATIVE]], %[[FROM_END]], %arg1
// CHECK: nn.gather %arg0
// CHECK: %[[DOUBLE:.*]] = nn.add %arg2, %arg2
// CHECK: %[[KNOWN:.*]] = nn.select %{{.*}}, %[[DOUBLE]]
// CHECK: nn.gather %arg1, %[[KNOWN]] axis = 0
func.func @indices_4(%x: tensor<4x2xf32>, %i: tensor<3xi64>, %j: tensor<4xi64>) -> (tensor<3x2xf32>, tensor<4xi64>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 7}} {
  %g = nn.gather %x, %i axis = 0 : tensor<4x2xf32>, tensor<3xi64>
  %d = nn.add %j, %j : tensor<4xi64>, tensor<4xi64>
  %k = nn.gather %i, %d axis = 0 : tensor<3xi64>, tensor<4xi64>
  return %g, %k : tensor<3x2xf32>, tensor<4xi64>
}
func.func @indices_3(%x: tensor<3x2xf32>, %i: tensor<3xi64>, %j: tensor<3xi64>) -> (tensor<3x2xf32>, tensor<3xi64>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 7}} {
  %g = nn.gather %x, %i axis = 0 : tensor<3x2xf32>, tensor<3xi64>
  %d = nn.add %j, %j : tensor<3xi64>, tensor<3xi64>
  %k = nn.gather %i, %d axis = 0 : tensor<3xi64>, tensor<3xi64>
  return %g, %k : tensor<3x2xf32>, tensor<3xi64>
}
