// RUN: %sprig-opt %s --sprig-fuse --sprig-schedule --split-input-file | FileCheck %s

// What an index may be, through what is reckoned with it: with 100 added it is below 300; a target is one of the classes
// that the scores have; of what is cut off at 299, or of which the remainder by 200 counts, as much as makes a difference.
// An input that nothing reads may be anything.
// CHECK: nn.index_ranges = [array<i64>, array<i64: 0, -100, 199>, array<i64: 0, 0, 9>, array<i64: 0, 0, 299>, array<i64: 0, 0, 199>, array<i64>]
func.func @main(%t: tensor<300x8xf32>, %i: tensor<8xi32>, %j: tensor<8xi64>, %k: tensor<8xi64>, %free: tensor<8xi64>, %unread: tensor<8xi64>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c = nn.constant dense<100> : tensor<i32>
  %0 = nn.add %i, %c : tensor<8xi32>, tensor<i32>
  %1 = nn.cast %0 : tensor<8xi32> to tensor<8xi64>
  %2 = nn.gather %t, %1 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  %3 = nn.class_index %j {classes = 10 : i64} : tensor<8xi64>
  %4 = nn.gather %t, %3 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  %last = nn.constant dense<299> : tensor<i64>
  %5 = nn.min %k, %last : tensor<8xi64>, tensor<i64>
  %6 = nn.gather %t, %5 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  %by = nn.constant dense<200> : tensor<i64>
  %7 = nn.mod %free, %by : tensor<8xi64>, tensor<i64>
  %8 = nn.gather %t, %7 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  return %2, %4, %6, %8 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The rows of an input may be of several tables, and its columns; of two uses of one the narrower counts. A scatter, and
// a gather of indices that a gather gives.
// CHECK: nn.index_ranges = [array<i64>, array<i64>, array<i64: 1, 0, 0, 4, 0, 299>, array<i64: 0, 1, 0, 299, 0, 4>, array<i64: 0, 0, 0, 4>, array<i64: 0, 0, 299>, array<i64: 0, 0, 39>]
func.func @main(%t: tensor<300x8xf32>, %few: tensor<5x8xf32>, %e: tensor<2x8xi64>, %p: tensor<8x2xi64>, %s: tensor<8x1xi64>, %map: tensor<40xi64>, %m: tensor<8xi64>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<5x8xf32>, tensor<8x8xf32>) {
  %0 = nn.slice %e starts = [0, 0] sizes = [1, 8] steps = [1, 1] : tensor<2x8xi64>
  %1 = nn.reshape %0 : tensor<1x8xi64> to tensor<8xi64>
  %2 = nn.gather %few, %1 axis = 0 : tensor<5x8xf32>, tensor<8xi64>
  %3 = nn.slice %e starts = [1, 0] sizes = [1, 8] steps = [1, 1] : tensor<2x8xi64>
  %4 = nn.reshape %3 : tensor<1x8xi64> to tensor<8xi64>
  %5 = nn.gather %t, %4 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  %6 = nn.transpose %p [1, 0] : tensor<8x2xi64>
  %7 = nn.slice %6 starts = [0, 0] sizes = [1, 8] steps = [1, 1] : tensor<2x8xi64>
  %8 = nn.reshape %7 : tensor<1x8xi64> to tensor<8xi64>
  %9 = nn.gather %t, %8 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  %10 = nn.slice %6 starts = [1, 0] sizes = [1, 8] steps = [1, 1] : tensor<2x8xi64>
  %11 = nn.reshape %10 : tensor<1x8xi64> to tensor<8xi64>
  %12 = nn.gather %few, %11 axis = 0 : tensor<5x8xf32>, tensor<8xi64>
  %13 = nn.scatter_nd add %few, %s, %9 : tensor<5x8xf32>, tensor<8x1xi64>, tensor<8x8xf32>
  %14 = nn.gather %map, %m axis = 0 : tensor<40xi64>, tensor<8xi64>
  %15 = nn.gather %t, %14 axis = 0 : tensor<300x8xf32>, tensor<8xi64>
  return %2, %5, %9, %12, %13, %15 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<5x8xf32>, tensor<8x8xf32>
}
