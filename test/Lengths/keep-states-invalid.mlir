// RUN: sprig-opt %s --split-input-file --sprig-keep-states --verify-diagnostics

// expected-error@+1 {{'nn.state' on argument 0: there is no parameter @h}}
func.func @no_parameter(%h: tensor<2xf32> {nn.state = @h}) -> (tensor<2xf32> {nn.state = @h}) {
  return %h : tensor<2xf32>
}

// -----

nn.param @h = dense<0.0> : tensor<2xf32>
// expected-error@+1 {{'nn.state' of parameter @h: expected one argument and one result, found no result}}
func.func @no_result(%h: tensor<2xf32> {nn.state = @h}) -> tensor<2xf32> {
  return %h : tensor<2xf32>
}

// -----

nn.param @h = dense<0.0> : tensor<2xf32>
// expected-error@+1 {{'nn.state' of parameter @h: expected one argument and one result, found several results}}
func.func @results(%h: tensor<2xf32> {nn.state = @h}) -> (tensor<2xf32> {nn.state = @h}, tensor<2xf32> {nn.state = @h}) {
  return %h, %h : tensor<2xf32>, tensor<2xf32>
}

// -----

nn.param @h = dense<0.0> : tensor<2xf32>
// expected-error@+1 {{'nn.state' of parameter @h: expected one argument and one result, found a second argument}}
func.func @arguments(%h: tensor<2xf32> {nn.state = @h}, %i: tensor<2xf32> {nn.state = @h}) -> (tensor<2xf32> {nn.state = @h}) {
  return %i : tensor<2xf32>
}

// -----

// expected-error@+1 {{'nn.state' on result 0: no argument has @h}}
func.func @no_argument(%x: tensor<2xf32>) -> (tensor<2xf32> {nn.state = @h}) {
  return %x : tensor<2xf32>
}

// -----

nn.param @h = dense<0.0> : tensor<2xf32>
// expected-error@+1 {{'nn.state' of parameter 'h', 'tensor<2xf32>': its argument is 'tensor<3xf32>', expected the same type, or one that is shorter along one dimension}}
func.func @longer(%h: tensor<3xf32> {nn.state = @h}) -> (tensor<3xf32> {nn.state = @h}) {
  return %h : tensor<3xf32>
}

// -----

nn.param @h = dense<0.0> : tensor<2x2xf32>
// expected-error@+1 {{its result is 'tensor<1x1xf32>', expected the same type, or one that is shorter along one dimension}}
func.func @shorter_twice(%h: tensor<2x1xf32> {nn.state = @h}) -> (tensor<1x1xf32> {nn.state = @h}) {
  %0 = nn.slice %h starts = [0, 0] sizes = [1, 1] steps = [1, 1] : tensor<2x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

nn.param @past = dense<0.0> : tensor<4xf32>
// expected-error@+1 {{no input but its states has a dimension that grows with "past", so that nothing tells how much of them is there}}
func.func @untold(%x: tensor<1xf32>, %past: tensor<2xf32> {nn.state = @past}, %t: tensor<i64>) -> (tensor<3xf32> {nn.state = @past})
    attributes {nn.lengths = {axis = "past", first = 1 : i64, last = 2 : i64, inputs = [array<i64>, array<i64: 0, 1, 0, 1>], outputs = [array<i64: 0, 1, 1, 1>]}} {
  %all = nn.concat %past, %x axis = 0 : tensor<2xf32>, tensor<1xf32>
  return %all : tensor<3xf32>
}

// -----

nn.param @past = dense<0.0> : tensor<4xf32>
// expected-error@+1 {{is of one length among several: sprig-mask-lengths comes before its states are kept}}
func.func @sample(%past: tensor<2xf32> {nn.state = @past}) -> (tensor<2xf32> {nn.state = @past})
    attributes {nn.lengths = {axis = "past", first = 1 : i64, last = 2 : i64, length = 2 : i64, group = 0 : i64}} {
  return %past : tensor<2xf32>
}
