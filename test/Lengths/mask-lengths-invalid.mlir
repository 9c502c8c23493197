// What cannot be one program for all lengths is refused where it stands.
// RUN: sprig-opt %s --sprig-mask-lengths --split-input-file --verify-diagnostics

func.func @decides_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.relu' cannot grow with 'time': where the length is 3 the model is another program than where it is 4 ('nn.tanh' here)}}
  %y = nn.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @decides_3(%x: tensor<3xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %y = nn.tanh %x : tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @attribute_4(%x: tensor<4xf32>) -> (tensor<3xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.top_k' cannot grow with 'time': where the length is 3 the model is another program than where it is 4, with other attributes or constants here}}
  %v, %i = nn.top_k %x {k = 3 : i64, axis = 0 : i64} : tensor<4xf32>
  return %v : tensor<3xf32>
}
func.func @attribute_3(%x: tensor<3xf32>) -> (tensor<2xf32>)
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %v, %i = nn.top_k %x {k = 2 : i64, axis = 0 : i64} : tensor<3xf32>
  return %v : tensor<2xf32>
}

// -----

func.func @table_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.constant' cannot grow with 'time': the constant of a shorter length is not what a longer one's begins with}}
  %t = nn.constant dense<[4.0, 3.0, 2.0, 1.0]> : tensor<4xf32>
  %y = nn.add %x, %t : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @table_3(%x: tensor<3xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %t = nn.constant dense<[3.0, 2.0, 1.0]> : tensor<3xf32>
  %y = nn.add %x, %t : tensor<3xf32>, tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

func.func @number_5(%x: tensor<5xf32>) -> tensor<5xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 5, group = 0}} {
  // expected-error@+1 {{'nn.constant' cannot grow with 'time': its numbers follow from the length in a way that is not known}}
  %s = nn.constant dense<25.0> : tensor<f32>
  %y = nn.add %x, %s : tensor<5xf32>, tensor<f32>
  return %y : tensor<5xf32>
}
func.func @number_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 4, group = 0}} {
  %s = nn.constant dense<16.0> : tensor<f32>
  %y = nn.add %x, %s : tensor<4xf32>, tensor<f32>
  return %y : tensor<4xf32>
}
func.func @number_3(%x: tensor<3xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 3, group = 0}} {
  %s = nn.constant dense<9.0> : tensor<f32>
  %y = nn.add %x, %s : tensor<3xf32>, tensor<f32>
  return %y : tensor<3xf32>
}

// -----

func.func @merges_4(%x: tensor<2x4xf32>) -> tensor<8xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.reshape' cannot grow with 'time': the dimension that grows becomes one with another in front of it, so that what was given does not come first}}
  %y = nn.reshape %x : tensor<2x4xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @merges_3(%x: tensor<2x3xf32>) -> tensor<6xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %y = nn.reshape %x : tensor<2x3xf32> to tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// Of twice the length and one more: 31 or 33 positions count as 32 or 64.
func.func @order_16(%x: tensor<32x33x16xf32>) -> tensor<16xf32>
    attributes {nn.lengths = {axis = "time", first = 15, last = 16, length = 16, group = 0}} {
  // expected-error@+1 {{'nn.reduce' cannot grow with 'time': long sums are taken in another order than short ones (docs/numerics.md), and this one is long at some of the range's lengths: have one range of lengths end where it becomes so}}
  %y = nn.reduce sum %x axes = [0, 1] : tensor<32x33x16xf32>
  return %y : tensor<16xf32>
}
func.func @order_15(%x: tensor<32x31x16xf32>) -> tensor<16xf32>
    attributes {nn.lengths = {axis = "time", first = 15, last = 16, length = 15, group = 0}} {
  %y = nn.reduce sum %x axes = [0, 1] : tensor<32x31x16xf32>
  return %y : tensor<16xf32>
}

// -----

func.func @cuts_4(%x: tensor<2x1200xf32>, %y: tensor<1200x2xf32>) -> tensor<2x2xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.matmul' cannot grow with 'time': it adds up 900 to 1200 products, and sums of more than 1024 are cut: have one range of lengths end where there are 1024}}
  %p = nn.matmul %x, %y : tensor<2x1200xf32>, tensor<1200x2xf32>
  return %p : tensor<2x2xf32>
}
func.func @cuts_3(%x: tensor<2x900xf32>, %y: tensor<900x2xf32>) -> tensor<2x2xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %p = nn.matmul %x, %y : tensor<2x900xf32>, tensor<900x2xf32>
  return %p : tensor<2x2xf32>
}

// -----

func.func @edge_4(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<5xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.pad' cannot grow with 'time': it repeats elements at an end that moves}}
  %p = nn.pad edge %x, %v low = [0] high = [1] : tensor<4xf32>, tensor<f32>
  return %p : tensor<5xf32>
}
func.func @edge_3(%x: tensor<3xf32>, %v: tensor<f32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %p = nn.pad edge %x, %v low = [0] high = [1] : tensor<3xf32>, tensor<f32>
  return %p : tensor<4xf32>
}

// -----

func.func @last_4(%x: tensor<4xf32>) -> tensor<i64>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.arg_reduce' cannot grow with 'time': the last of equal elements could be one that nobody gave}}
  %i = nn.arg_reduce max %x axis = 0 {last_index} : tensor<4xf32>
  return %i : tensor<i64>
}
func.func @last_3(%x: tensor<3xf32>) -> tensor<i64>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %i = nn.arg_reduce max %x axis = 0 {last_index} : tensor<3xf32>
  return %i : tensor<i64>
}

// -----

func.func @scatters_4(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  // expected-error@+1 {{'nn.scatter_elements' cannot grow with 'time': it needs all of dimension 0 of operand 0 at once}}
  %y = nn.scatter_elements none %x, %i, %u axis = 0 : tensor<4xf32>, tensor<2xi64>, tensor<2xf32>
  return %y : tensor<4xf32>
}
func.func @scatters_3(%x: tensor<3xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  %y = nn.scatter_elements none %x, %i, %u axis = 0 : tensor<3xf32>, tensor<2xi64>, tensor<2xf32>
  return %y : tensor<3xf32>
}

// -----

// expected-error@+1 {{no input has a dimension that grows with 'time'}}
func.func @fixed_4(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 4, group = 0}} {
  return %x : tensor<2xf32>
}
func.func @fixed_3(%x: tensor<2xf32>) -> tensor<2xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 4, length = 3, group = 0}} {
  return %x : tensor<2xf32>
}

// -----

// expected-error@+1 {{dimension 0 of input 0 is no multiple of 'time' and a rest}}
func.func @other_5(%x: tensor<25xf32>) -> tensor<25xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 5, group = 0}} {
  return %x : tensor<25xf32>
}
func.func @other_4(%x: tensor<16xf32>) -> tensor<16xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 4, group = 0}} {
  return %x : tensor<16xf32>
}
func.func @other_3(%x: tensor<9xf32>) -> tensor<9xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 5, length = 3, group = 0}} {
  return %x : tensor<9xf32>
}

// -----

// expected-error@+1 {{'nn.lengths': expected functions of the lengths 2 and 4}}
func.func @ends_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 2, last = 4, length = 4, group = 0}} {
  return %x : tensor<4xf32>
}
func.func @ends_3(%x: tensor<3xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 2, last = 4, length = 3, group = 0}} {
  return %x : tensor<3xf32>
}

// -----

// expected-error@+1 {{'nn.lengths': expected 1 <= first <= length <= last, found 3, 4, 3}}
func.func @order_4(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 3, length = 4, group = 0}} {
  return %x : tensor<4xf32>
}
func.func @order_3(%x: tensor<3xf32>) -> tensor<3xf32>
    attributes {nn.lengths = {axis = "time", first = 3, last = 3, length = 3, group = 0}} {
  return %x : tensor<3xf32>
}

// -----

// expected-error@+1 {{'func.func' op has 'nn.lengths' = {axis = "time"}, expected an axis, and how dimensions follow it}}
func.func @incomplete(%x: tensor<2xf32>) attributes {nn.lengths = {axis = "time"}} {
  return
}
