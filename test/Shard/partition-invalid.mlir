// What ranks cannot share, by name.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-partition=rank=2

dist.mesh @mesh ["data"] [4]
func.func @derivative(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<4xf32> {
  %0 = nn.reduce sum %x axes = [0] : tensor<4xf32>
  // expected-error @+1 {{'nn.gradient' op asks for a derivative of whole values; differentiate before the partition}}
  %1 = nn.gradient %0 wrt %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @collective(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<4xf32> {
  // expected-error @+1 {{'dist.all_reduce' op is of the program of one rank, which is not divided again}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op has no meaning that ranks could share}}
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
// expected-error @+1 {{result 0 is to be #dist.sharding<@mesh, [[]], partial sum ["data"]>, and what it is given is #dist.sharding<@mesh, [["data"]]>}}
func.func @partialResult(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> (tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [[]], partial sum ["data"]>}) {
  %0 = nn.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// expected-error @+1 {{rank 2 is none of the 2 of @mesh}}
dist.mesh @mesh ["data"] [2]
func.func @rank(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) {
  return
}

// -----
dist.mesh @mesh ["data"] [4]
dist.mesh @grid ["data"] [4]
func.func @one(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) {
  return
}
// expected-error @+1 {{a module has shardings on one mesh, found @mesh and @grid}}
func.func @two(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@grid, [["data"]]>}) {
  return
}

// -----
// expected-error @+1 {{there is no sharding to divide a program by}}
module {
  func.func @none(%x: tensor<4xf32>) {
    return
  }
}

// -----
dist.mesh @mesh ["data"] [4]
// expected-error @+1 {{is a partial value, and parameters are whole ones or parts}}
nn.param @w {dist.sharding = #dist.sharding<@mesh, [[]], partial sum ["data"]>} = dense<0.0> : tensor<4xf32>

// -----
dist.mesh @mesh ["data"] [4]
// expected-error @+1 {{'blocks' has more than one block}}
func.func @blocks(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<4xf32> {
  cf.br ^next(%x : tensor<4xf32>)
^next(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @groups(%x: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %c: tensor<3xf32>) -> tensor<8x3xf32> {
  // expected-error @+1 {{'nn.batch_norm_train' op is about axis "rows", and @mesh has none of that name}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-3 : f64, groups = ["rows"]} : tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0#0 : tensor<8x3xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @lonely(%x: tensor<6x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %c: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+2 {{'nn.batch_norm_train' op has one value for each channel of 1x3xf32, which has no unbiased variance}}
  // expected-error @+1 {{failed to infer returned types}}
  %0:3 = nn.batch_norm_train %x, %c, %c {epsilon = 1.0e-3 : f64, unbiased, groups = ["data"]} : tensor<6x3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0#2 : tensor<3xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @flatProduct(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, flat ["data"]>}, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'nn.matmul' op takes a flat value, and is neither elementwise nor a sum of all elements}}
  %0 = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @flatBroadcast(%x: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, flat ["data"]>}, %w: tensor<4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'nn.add' op broadcasts 'tensor<4xf32>' to a flat value, whose dimensions ranks do not have}}
  %0 = nn.add %x, %w : tensor<4x4xf32>, tensor<4xf32>
  return %0 : tensor<4x4xf32>
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @samples(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<8x8xf32> attributes {nn.passes = array<i64: 8>} {
  // expected-error @+1 {{'nn.matmul' needs 8x4xf32 of all ranks' samples, which would gather 128 bytes a step; --allow-gather}}
  %0 = nn.matmul %x, %x {transpose_rhs} : tensor<8x4xf32>, tensor<8x4xf32>
  return %0 : tensor<8x8xf32>
}
