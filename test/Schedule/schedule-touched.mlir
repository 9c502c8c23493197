// RUN: %sprig-opt %s --sprig-schedule --split-input-file | FileCheck %s

// Of tables kernels read the rows that indices name: 16 of 512 bytes, 128 bytes of indices, 8192 of results.
// CHECK: exec.kernel @rows{{.*}}bytes = 16512 : i64
// CHECK: exec.program @main{{.*}}nn.index_ranges = [array<i64>, array<i64: 0, 0, 29999>]
func.func @main(%t: tensor<30000x128xf32>, %i: tensor<16xi64>) -> tensor<16x128xf32> {
  %0 = kernel.dispatch "rows" (%a = %t : tensor<30000x128xf32>, %b = %i : tensor<16xi64>) -> tensor<16x128xf32> {
    %v = nn.gather %a, %b axis = 0 : tensor<30000x128xf32>, tensor<16xi64>
    kernel.yield %v : tensor<16x128xf32>
  }
  return %0 : tensor<16x128xf32>
}

// -----

// Rows of 40 bytes begin anywhere in a line of 64: 4 of 103 bytes. The table is a reshape, and what is added in the same
// kernel changes nothing of it.
// CHECK: exec.kernel @lines{{.*}}bytes = 764 : i64
func.func @main(%t: tensor<300000xf32>, %i: tensor<4xi64>, %y: tensor<4x10xf32>) -> tensor<4x10xf32> {
  %r = nn.reshape %t : tensor<300000xf32> to tensor<30000x10xf32>
  %0 = kernel.dispatch "lines" (%a = %r : tensor<30000x10xf32>, %b = %i : tensor<4xi64>, %c = %y : tensor<4x10xf32>) -> tensor<4x10xf32> {
    %v = nn.gather %a, %b axis = 0 : tensor<30000x10xf32>, tensor<4xi64>
    %s = nn.add %v, %c : tensor<4x10xf32>, tensor<4x10xf32>
    kernel.yield %s : tensor<4x10xf32>
  }
  return %0 : tensor<4x10xf32>
}

// -----

// No more than there is: a table of 4000 bytes, whose rows are read by 800 indices.
// CHECK: exec.kernel @again{{.*}}bytes = 42400 : i64
func.func @main(%t: tensor<100x10xf32>, %i: tensor<800xi64>) -> tensor<800x10xf32> {
  %0 = kernel.dispatch "again" (%a = %t : tensor<100x10xf32>, %b = %i : tensor<800xi64>) -> tensor<800x10xf32> {
    %v = nn.gather %a, %b axis = 0 : tensor<100x10xf32>, tensor<800xi64>
    kernel.yield %v : tensor<800x10xf32>
  }
  return %0 : tensor<800x10xf32>
}

// -----

// Single elements of a row each, and tuples of indices: 8 lines of 67 bytes, 64 bytes of indices, 32 of results; the
// first place of a tuple is one of 30000, the second one of 128.
// CHECK: exec.kernel @elements{{.*}}bytes = 632 : i64
// CHECK: exec.kernel @tuples{{.*}}bytes = 696 : i64
// CHECK: nn.index_ranges = [array<i64>, array<i64: 0, 0, 0, 127>, array<i64: 0, 1, 0, 29999, 0, 127>]
func.func @main(%t: tensor<30000x128xf32>, %i: tensor<8x1xi64>, %n: tensor<8x2xi64>) -> (tensor<8x1xf32>, tensor<8xf32>) {
  %r = kernel.dispatch "elements" (%a = %t : tensor<30000x128xf32>, %b = %i : tensor<8x1xi64>) -> tensor<8x1xf32> {
    %v = nn.gather_elements %a, %b axis = 1 : tensor<30000x128xf32>, tensor<8x1xi64>
    kernel.yield %v : tensor<8x1xf32>
  }
  %s = kernel.dispatch "tuples" (%a = %t : tensor<30000x128xf32>, %b = %n : tensor<8x2xi64>) -> tensor<8xf32> {
    %v = nn.gather_nd %a, %b : tensor<30000x128xf32>, tensor<8x2xi64>
    kernel.yield %v : tensor<8xf32>
  }
  return %r, %s : tensor<8x1xf32>, tensor<8xf32>
}

// -----

// A scatter reads its operand and writes its result whole, 256000 bytes each, and comes back to 8 rows.
// CHECK: exec.kernel @scatter{{.*}}bytes = 516160 : i64
func.func @main(%t: tensor<1000x64xf32>, %i: tensor<8x1xi64>, %u: tensor<8x64xf32>) -> tensor<1000x64xf32> {
  %0 = kernel.dispatch "scatter" (%a = %t : tensor<1000x64xf32>, %b = %i : tensor<8x1xi64>, %c = %u : tensor<8x64xf32>) -> tensor<1000x64xf32> {
    %v = nn.scatter_nd add %a, %b, %c : tensor<1000x64xf32>, tensor<8x1xi64>, tensor<8x64xf32>
    kernel.yield %v : tensor<1000x64xf32>
  }
  return %0 : tensor<1000x64xf32>
}

// -----

// A slice reads what it takes: a row of 512 bytes.
// CHECK: exec.kernel @slice{{.*}}bytes = 1024 : i64
func.func @main(%t: tensor<30000x128xf32>) -> tensor<1x128xf32> {
  %0 = kernel.dispatch "slice" (%a = %t : tensor<30000x128xf32>) -> tensor<1x128xf32> {
    %v = nn.slice %a starts = [7, 0] sizes = [1, 128] steps = [1, 1] : tensor<30000x128xf32>
    %w = nn.relu %v : tensor<1x128xf32>
    kernel.yield %w : tensor<1x128xf32>
  }
  return %0 : tensor<1x128xf32>
}

