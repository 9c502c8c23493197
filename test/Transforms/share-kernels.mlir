// RUN: %sprig-opt %s --split-input-file --sprig-share-kernels | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-share-kernels=target=cuda | FileCheck %s
// RUN: %sprig-opt %s --split-input-file --sprig-share-kernels --sprig-schedule | FileCheck %s --check-prefix=KERNELS
// RUN: %sprig-opt %s --split-input-file --sprig-share-kernels -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARKS

// The scales and the zero points differ: both are read. The 255 is the same in all, and stays.
// CHECK-LABEL: @layers
// CHECK-DAG: %[[C:.+]] = nn.constant dense<2.000000e-01> : tensor<f32>
// CHECK-DAG: %[[Z:.+]] = nn.constant dense<3> : tensor<i32>
// CHECK: kernel.dispatch "quantize" (%[[X:.+]] = %arg0 : tensor<8xf32>, %[[S:.+]] = %[[C]] : tensor<f32>, %[[P:.+]] = %[[Z]] : tensor<i32>)
// CHECK-NEXT: nn.div %[[X]], %[[S]]
// CHECK-NEXT: nn.constant dense<2.550000e+02>
// CHECK: nn.add %{{.+}}, %[[P]]
// CHECK: nn.constant dense<3.000000e-01>
// CHECK: nn.constant dense<7>
// CHECK: kernel.dispatch "again" (%{{.+}} = %{{.+}} : tensor<8xf32>, %{{.+}} = %{{.+}} : tensor<f32>, %{{.+}} = %{{.+}} : tensor<i32>)
// KERNELS-LABEL: module
// KERNELS: exec.kernel @quantize(
// KERNELS-NOT: exec.kernel
// KERNELS: exec.program @layers
// KERNELS: exec.dispatch @quantize(
// KERNELS: exec.dispatch @quantize(
// REMARKS: 2 dispatches share a kernel that reads 2 of its numbers
func.func @layers(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %0 = kernel.dispatch "quantize" (%a = %x : tensor<8xf32>) -> tensor<8xi32> {
    %scale = nn.constant dense<0.2> : tensor<f32>
    %q = nn.div %a, %scale : tensor<8xf32>, tensor<f32>
    %top = nn.constant dense<255.0> : tensor<f32>
    %m = nn.min %q, %top : tensor<8xf32>, tensor<f32>
    %i = nn.cast %m : tensor<8xf32> to tensor<8xi32>
    %zero = nn.constant dense<3> : tensor<i32>
    %r = nn.add %i, %zero : tensor<8xi32>, tensor<i32>
    kernel.yield %r : tensor<8xi32>
  }
  %1 = kernel.dispatch "again" (%a = %y : tensor<8xf32>) -> tensor<8xi32> {
    %scale = nn.constant dense<0.3> : tensor<f32>
    %q = nn.div %a, %scale : tensor<8xf32>, tensor<f32>
    %top = nn.constant dense<255.0> : tensor<f32>
    %m = nn.min %q, %top : tensor<8xf32>, tensor<f32>
    %i = nn.cast %m : tensor<8xf32> to tensor<8xi32>
    %zero = nn.constant dense<7> : tensor<i32>
    %r = nn.add %i, %zero : tensor<8xi32>, tensor<i32>
    kernel.yield %r : tensor<8xi32>
  }
  return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// -----

// Nothing differs, or more than numbers, or what differs is no single number: nothing is read that was known.
// CHECK-LABEL: @apart
// CHECK-NOT: nn.constant
// CHECK: kernel.dispatch "one" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "equal" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "other" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "vector" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "vectors" (%{{[^,]+}} : tensor<8xf32>) ->
// REMARKS-NOT: dispatches share
func.func @apart(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = kernel.dispatch "one" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<0.25> : tensor<f32>
    %r = nn.mul %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %1 = kernel.dispatch "equal" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<0.25> : tensor<f32>
    %r = nn.mul %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %2 = kernel.dispatch "other" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<0.5> : tensor<f32>
    %r = nn.div %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %3 = kernel.dispatch "vector" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<0.5> : tensor<8xf32>
    %r = nn.add %a, %c : tensor<8xf32>, tensor<8xf32>
    kernel.yield %r : tensor<8xf32>
  }
  %4 = kernel.dispatch "vectors" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<1.5> : tensor<8xf32>
    %r = nn.add %a, %c : tensor<8xf32>, tensor<8xf32>
    kernel.yield %r : tensor<8xf32>
  }
  return %0, %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// What is cheaper where it is known stays known: squares, and divisions by powers of two.
// CHECK-LABEL: @cheaper
// CHECK-NOT: nn.constant
// CHECK: kernel.dispatch "square" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "cube" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "half" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "third" (%{{[^,]+}} : tensor<8xf32>) ->
// CHECK: kernel.dispatch "integers" (%{{[^,]+}} : tensor<8xi32>) ->
// CHECK: kernel.dispatch "integers" (%{{[^,]+}} : tensor<8xi32>) ->
func.func @cheaper(%x: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi32>) {
  %0 = kernel.dispatch "square" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<2.0> : tensor<f32>
    %r = nn.pow %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %1 = kernel.dispatch "cube" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<3.0> : tensor<f32>
    %r = nn.pow %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %2 = kernel.dispatch "half" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<2.0> : tensor<f32>
    %r = nn.div %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %3 = kernel.dispatch "third" (%a = %x : tensor<8xf32>) -> tensor<8xf32> {
    %c = nn.constant dense<3.0> : tensor<f32>
    %r = nn.div %a, %c : tensor<8xf32>, tensor<f32>
    kernel.yield %r : tensor<8xf32>
  }
  %4 = kernel.dispatch "integers" (%a = %i : tensor<8xi32>) -> tensor<8xi32> {
    %c = nn.constant dense<5> : tensor<i32>
    %r = nn.div %a, %c : tensor<8xi32>, tensor<i32>
    kernel.yield %r : tensor<8xi32>
  }
  %5 = kernel.dispatch "integers" (%a = %i : tensor<8xi32>) -> tensor<8xi32> {
    %c = nn.constant dense<7> : tensor<i32>
    %r = nn.div %a, %c : tensor<8xi32>, tensor<i32>
    kernel.yield %r : tensor<8xi32>
  }
  return %0, %1, %2, %3, %4, %5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi32>
}

// -----

// Behind a product: its epilogue reads the numbers.
// REMARKS: 2 dispatches share a kernel that reads 1 of its numbers
// CHECK-LABEL: @epilogues
// CHECK: nn.constant dense<2.000000e+00>
// CHECK: kernel.dispatch "scaled" (%{{.+}} = %arg0 : tensor<8x4xf32>, %{{.+}} = %arg1 : tensor<4x8xf32>, %[[N:.+]] = %{{.+}} : tensor<f32>)
// CHECK: nn.mul %{{.+}}, %[[N]]
// CHECK: nn.constant dense<3.000000e+00>
func.func @epilogues(%x: tensor<8x4xf32>, %w: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = kernel.dispatch "scaled" (%a = %x : tensor<8x4xf32>, %b = %w : tensor<4x8xf32>) -> tensor<8x8xf32> {
    %p = nn.matmul %a, %b : tensor<8x4xf32>, tensor<4x8xf32>
    %c = nn.constant dense<2.0> : tensor<f32>
    %r = nn.mul %p, %c : tensor<8x8xf32>, tensor<f32>
    kernel.yield %r : tensor<8x8xf32>
  }
  %1 = kernel.dispatch "scaled" (%a = %x : tensor<8x4xf32>, %b = %w : tensor<4x8xf32>) -> tensor<8x8xf32> {
    %p = nn.matmul %a, %b : tensor<8x4xf32>, tensor<4x8xf32>
    %c = nn.constant dense<3.0> : tensor<f32>
    %r = nn.mul %p, %c : tensor<8x8xf32>, tensor<f32>
    kernel.yield %r : tensor<8x8xf32>
  }
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Scores are scaled by what is read; what is done to the keys as they are read needs its number in the kernel.
// REMARKS: 2 dispatches share a kernel that reads 1 of its numbers
// CHECK-LABEL: @scores
// CHECK: kernel.dispatch "attention" (%{{[^,]+}} : tensor<2x8x8xf32>, %{{[^,]+}} : tensor<2x8x8xf32>, %[[N:.+]] = %{{.+}} : tensor<f32>)
// CHECK: nn.div %{{.+}}, %[[N]]
func.func @scores(%q: tensor<2x8x8xf32>, %k: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %0 = kernel.dispatch "attention" (%a = %q : tensor<2x8x8xf32>, %b = %k : tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %n = nn.constant dense<2.6> : tensor<f32>
    %p = nn.matmul %a, %b {transpose_rhs} : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    %d = nn.div %p, %n : tensor<2x8x8xf32>, tensor<f32>
    %m = nn.reduce max %d axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %x = nn.sub %d, %m : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %e = nn.exp %x : tensor<2x8x8xf32>
    %u = nn.reduce sum %e axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %w = nn.div %e, %u : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %o = nn.matmul %w, %b : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    kernel.yield %o : tensor<2x8x8xf32>
  }
  %1 = kernel.dispatch "attention" (%a = %q : tensor<2x8x8xf32>, %b = %k : tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %n = nn.constant dense<3.5> : tensor<f32>
    %p = nn.matmul %a, %b {transpose_rhs} : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    %d = nn.div %p, %n : tensor<2x8x8xf32>, tensor<f32>
    %m = nn.reduce max %d axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %x = nn.sub %d, %m : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %e = nn.exp %x : tensor<2x8x8xf32>
    %u = nn.reduce sum %e axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %w = nn.div %e, %u : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %o = nn.matmul %w, %b : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    kernel.yield %o : tensor<2x8x8xf32>
  }
  return %0, %1 : tensor<2x8x8xf32>, tensor<2x8x8xf32>
}

// -----

// REMARKS: kernels that differ in numbers stay apart: one that does not know them would be another
// CHECK-LABEL: @keys
// CHECK: kernel.dispatch "attention" (%{{[^,]+}} : tensor<2x8x8xf32>, %{{[^,]+}} : tensor<2x8x8xf32>) ->
// CHECK: nn.constant dense<1.500000e+00>
// CHECK: kernel.dispatch "attention" (%{{[^,]+}} : tensor<2x8x8xf32>, %{{[^,]+}} : tensor<2x8x8xf32>) ->
// CHECK: nn.constant dense<2.500000e+00>
func.func @keys(%q: tensor<2x8x8xf32>, %k: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %0 = kernel.dispatch "attention" (%a = %q : tensor<2x8x8xf32>, %b = %k : tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %n = nn.constant dense<1.5> : tensor<f32>
    %t = nn.transpose %b [0, 2, 1] : tensor<2x8x8xf32>
    %s = nn.mul %t, %n : tensor<2x8x8xf32>, tensor<f32>
    %d = nn.matmul %a, %s : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    %m = nn.reduce max %d axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %x = nn.sub %d, %m : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %e = nn.exp %x : tensor<2x8x8xf32>
    %u = nn.reduce sum %e axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %w = nn.div %e, %u : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %o = nn.matmul %w, %b : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    kernel.yield %o : tensor<2x8x8xf32>
  }
  %1 = kernel.dispatch "attention" (%a = %q : tensor<2x8x8xf32>, %b = %k : tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %n = nn.constant dense<2.5> : tensor<f32>
    %t = nn.transpose %b [0, 2, 1] : tensor<2x8x8xf32>
    %s = nn.mul %t, %n : tensor<2x8x8xf32>, tensor<f32>
    %d = nn.matmul %a, %s : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    %m = nn.reduce max %d axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %x = nn.sub %d, %m : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %e = nn.exp %x : tensor<2x8x8xf32>
    %u = nn.reduce sum %e axes = [2] {keep_dims} : tensor<2x8x8xf32>
    %w = nn.div %e, %u : tensor<2x8x8xf32>, tensor<2x8x1xf32>
    %o = nn.matmul %w, %b : tensor<2x8x8xf32>, tensor<2x8x8xf32>
    kernel.yield %o : tensor<2x8x8xf32>
  }
  return %0, %1 : tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
