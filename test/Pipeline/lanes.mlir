// Two products that do not depend on each other go side by side where lanes are asked for, with the same bits; one lane is
// the default.
// RUN: rm -rf %t && mkdir %t
// RUN: %sprig compile %s --cpu x86-64-v3 --compile-to plan | FileCheck %s --check-prefix=ONE
// RUN: %sprig compile %s --cpu x86-64-v3 --lanes 2 --compile-to plan | FileCheck %s
// RUN: %sprig compile %s -o %t/one.sprig && %sprig compile %s --lanes 2 -o %t/two.sprig
// RUN: %sprig run %t/one.sprig --threads 2 --random-inputs 1 --output-dir %t/one
// RUN: %sprig run %t/two.sprig --threads 2 --random-inputs 1 --output-dir %t/two
// RUN: diff -r %t/one %t/two
// RUN: sh -c '%sprig compile %s --lanes 0 -o %t/x.sprig 2>&1; test $? = 2' | FileCheck %s --check-prefix=NONE

// ONE-COUNT-1: exec.lane
// ONE-NOT: exec.lane

// CHECK-LABEL: exec.program
// CHECK: exec.lane on @cpu {
// CHECK: exec.dispatch
// CHECK: exec.lane on @cpu {
// CHECK: exec.dispatch

// NONE: error: --lanes: Value 0 not in range 1 to 64

func.func @main(%x: tensor<256x512xf32>, %a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> (tensor<256x512xf32>, tensor<256x512xf32>) {
  %0 = nn.matmul %x, %a : tensor<256x512xf32>, tensor<512x512xf32>
  %1 = nn.matmul %x, %b : tensor<256x512xf32>, tensor<512x512xf32>
  %2 = nn.tanh %0 : tensor<256x512xf32>
  %3 = nn.sigmoid %1 : tensor<256x512xf32>
  return %2, %3 : tensor<256x512xf32>, tensor<256x512xf32>
}
