// RUN: %sprig-opt %s --split-input-file --sprig-decompose --sprig-fuse --sprig-skip-masked | FileCheck %s

// Row i sees the keys up to i + 2: what more of them there are than rows.
// CHECK-LABEL: @causal
// CHECK:         kernel.dispatch "attention"
// CHECK-SAME:      attributes {skip_masked}
func.func @causal(%q: tensor<2x4x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %i = nn.iota axis = 0 : tensor<4x1xi64>
  %j = nn.iota axis = 1 : tensor<1x6xi64>
  %past = nn.constant dense<2> : tensor<i64>
  %last = nn.add %i, %past : tensor<4x1xi64>, tensor<i64>
  %mask = nn.compare le %j, %last : tensor<1x6xi64>, tensor<4x1xi64>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x4x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<4x6xi1>, tensor<2x4x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x4x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x4x8xf32>
}

// -----

// Added to the scores, with a mask of the input's own.
// CHECK-LABEL: @window
// CHECK:         kernel.dispatch "attention"
// CHECK-SAME:      attributes {skip_masked}
func.func @window(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>, %own: tensor<2x1x6xi1>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %two = nn.constant dense<2> : tensor<i32>
  %first = nn.sub %i, %two : tensor<6x1xi32>, tensor<i32>
  %early = nn.compare lt %j, %first : tensor<1x6xi32>, tensor<6x1xi32>
  %late = nn.compare gt %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %outside = nn.or %early, %late : tensor<6x6xi1>, tensor<6x6xi1>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %zero = nn.constant dense<0.0> : tensor<f32>
  %mask = nn.select %outside, %low, %zero : tensor<6x6xi1>, tensor<f32>, tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %own, %0, %low : tensor<2x1x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.add %1, %mask : tensor<2x6x6xf32>, tensor<6x6xf32>
  %3 = nn.softmax %2 axis = 2 : tensor<2x6x6xf32>
  %4 = nn.matmul %3, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %4 : tensor<2x6x8xf32>
}

// -----

// The first row sees no key: its weights are no numbers.
// CHECK-LABEL: @no_key
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @no_key(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %mask = nn.compare lt %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Finite, and so low that no score makes up for it.
// CHECK-LABEL: @finite
// CHECK:         kernel.dispatch "attention"
// CHECK-SAME:      attributes {skip_masked}
func.func @finite(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %mask = nn.compare le %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %low = nn.constant dense<-1.0e9> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Not low enough.
// CHECK-LABEL: @moderate
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @moderate(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %mask = nn.compare le %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %low = nn.constant dense<-1.0e4> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Another mask may leave a row none of its own keys: those outside count as much, then.
// CHECK-LABEL: @finite_and_own
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @finite_and_own(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>, %own: tensor<2x1x6xi1>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %mask = nn.compare le %j, %i : tensor<1x6xi32>, tensor<6x1xi32>
  %low = nn.constant dense<-1.0e9> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %masked = nn.select %own, %1, %low : tensor<2x1x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %masked axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Indices of other dimensions: a mask that is the same for all rows.
// CHECK-LABEL: @padding
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @padding(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<2x1x1xi32>
  %j = nn.iota axis = 2 : tensor<1x1x6xi32>
  %mask = nn.compare le %j, %i : tensor<1x1x6xi32>, tensor<2x1x1xi32>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<2x1x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Indices without a sign wrap: i - 2 is large in the first rows.
// CHECK-LABEL: @unsigned
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @unsigned(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xui32>
  %j = nn.iota axis = 1 : tensor<1x6xui32>
  %two = nn.constant dense<2> : tensor<ui32>
  %first = nn.sub %i, %two : tensor<6x1xui32>, tensor<ui32>
  %mask = nn.compare ge %j, %first : tensor<1x6xui32>, tensor<6x1xui32>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// Booleans of rows are computed outside.
// CHECK-LABEL: @rows_of_bits
// CHECK:         kernel.dispatch "compare_or"
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     nn.iota
// CHECK-NOT:     skip_masked
func.func @rows_of_bits(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %two = nn.constant dense<2> : tensor<i32>
  %late = nn.compare ge %i, %two : tensor<6x1xi32>, tensor<i32>
  %causal = nn.compare ge %i, %j : tensor<6x1xi32>, tensor<1x6xi32>
  %mask = nn.or %late, %causal : tensor<6x1xi1>, tensor<6x6xi1>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.softmax %1 axis = 2 : tensor<2x6x6xf32>
  %3 = nn.matmul %2, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %3 : tensor<2x6x8xf32>
}

// -----

// The lowest byte is a score like others.
// CHECK-LABEL: @bytes
// CHECK:         kernel.dispatch "attention"
// CHECK-NOT:     skip_masked
func.func @bytes(%q: tensor<2x6x8xf32>, %k: tensor<2x8x6xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %i = nn.iota axis = 0 : tensor<6x1xi32>
  %j = nn.iota axis = 1 : tensor<1x6xi32>
  %mask = nn.compare ge %i, %j : tensor<6x1xi32>, tensor<1x6xi32>
  %low = nn.constant dense<0xFF800000> : tensor<f32>
  %0 = nn.matmul %q, %k : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %1 = nn.select %mask, %0, %low : tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>
  %2 = nn.cast %1 : tensor<2x6x6xf32> to tensor<2x6x6xi8>
  %3 = nn.cast %2 : tensor<2x6x6xi8> to tensor<2x6x6xf32>
  %4 = nn.softmax %3 axis = 2 : tensor<2x6x6xf32>
  %5 = nn.matmul %4, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %5 : tensor<2x6x8xf32>
}
