// RUN: sprig-opt %s --split-input-file --sprig-mask-lengths --sprig-keep-states | FileCheck %s

// A state of one size is read and set whole. What else there is keeps its order.
// CHECK-LABEL: nn.param @h = dense<0.000000e+00> : tensor<2x3xf32>
// CHECK: func.func @stream(%[[X:.+]]: tensor<2x3xf32> {nn.name = "x"}, %[[B:.+]]: tensor<3xf32>) -> (tensor<2x3xf32> {nn.name = "y"})
// CHECK: %[[OLD:.+]] = nn.get_param @h : tensor<2x3xf32>
// CHECK: %[[NEW:.+]] = nn.add %[[OLD]], %[[X]]
// CHECK: %[[Y:.+]] = nn.mul %[[NEW]], %[[B]]
// CHECK: nn.set_param @h, %[[NEW]]
// CHECK: return %[[Y]] : tensor<2x3xf32>
nn.param @h = dense<0.0> : tensor<2x3xf32>
func.func @stream(%x: tensor<2x3xf32> {nn.name = "x"}, %h: tensor<2x3xf32> {nn.name = "h", nn.state = @h}, %b: tensor<3xf32>)
    -> (tensor<2x3xf32> {nn.name = "h_next", nn.state = @h}, tensor<2x3xf32> {nn.name = "y"}) {
  %new = nn.add %h, %x : tensor<2x3xf32>, tensor<2x3xf32>
  %y = nn.mul %new, %b : tensor<2x3xf32>, tensor<3xf32>
  return %new, %y : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Two states that change places: both are read before one is set.
// CHECK-LABEL: func.func @swap
// CHECK-DAG: %[[A:.+]] = nn.get_param @a
// CHECK-DAG: %[[B:.+]] = nn.get_param @b
// CHECK: nn.set_param @a, %[[B]]
// CHECK: nn.set_param @b, %[[A]]
nn.param @a = dense<0.0> : tensor<2xf32>
nn.param @b = dense<0.0> : tensor<2xf32>
func.func @swap(%a: tensor<2xf32> {nn.state = @a}, %b: tensor<2xf32> {nn.state = @b})
    -> (tensor<2xf32> {nn.state = @a}, tensor<2xf32> {nn.state = @b}) {
  return %b, %a : tensor<2xf32>, tensor<2xf32>
}

// -----

// The state's beginning is what there is; behind the result stays what was there.
// CHECK-LABEL: nn.param @past = dense<0.000000e+00> : tensor<4x3xf32>
// CHECK: func.func @steps_2(%[[X:.+]]: tensor<1x3xf32>, %[[M:.+]]: tensor<2xf32>
// CHECK-SAME: nn.name = "length of 'past'"
// CHECK-SAME: nn.lengths = {axis = "past", first = 1 : i64, inputs = [array<i64>, array<i64: 0, 1, 0, 1>], last = 2 : i64, outputs = [array<i64: 0, 1, 0, 1>]}
// CHECK: %[[ALL:.+]] = nn.get_param @past : tensor<4x3xf32>
// CHECK: %[[OLD:.+]] = nn.slice %[[ALL]] starts = [0, 0] sizes = [2, 3] steps = [1, 1]
// CHECK: %[[NEW:.+]] = nn.concat %[[OLD]], {{.+}} : tensor<2x3xf32>
// CHECK: %[[KEPT:.+]] = nn.get_param @past : tensor<4x3xf32>
// CHECK: %[[REST:.+]] = nn.slice %[[KEPT]] starts = [3, 0] sizes = [1, 3] steps = [1, 1]
// CHECK: %[[SET:.+]] = nn.concat %{{.+}}, %[[REST]] axis = 0
// CHECK: nn.set_param @past, %[[SET]]
nn.param @past = dense<0.0> : tensor<4x3xf32>
func.func @steps_2(%x: tensor<1x3xf32>, %past: tensor<2x3xf32> {nn.state = @past}, %mask: tensor<2xf32>)
    -> (tensor<3x3xf32> {nn.state = @past}, tensor<2xf32>)
    attributes {nn.lengths = {axis = "past", first = 1 : i64, last = 2 : i64, length = 2 : i64, group = 0 : i64}} {
  %all = nn.concat %past, %x axis = 0 : tensor<2x3xf32>, tensor<1x3xf32>
  %m = nn.relu %mask : tensor<2xf32>
  return %all, %m : tensor<3x3xf32>, tensor<2xf32>
}
func.func @steps_1(%x: tensor<1x3xf32>, %past: tensor<1x3xf32> {nn.state = @past}, %mask: tensor<1xf32>)
    -> (tensor<2x3xf32> {nn.state = @past}, tensor<1xf32>)
    attributes {nn.lengths = {axis = "past", first = 1 : i64, last = 2 : i64, length = 1 : i64, group = 0 : i64}} {
  %all = nn.concat %past, %x axis = 0 : tensor<1x3xf32>, tensor<1x3xf32>
  %m = nn.relu %mask : tensor<1xf32>
  return %all, %m : tensor<2x3xf32>, tensor<1xf32>
}
