// RUN: %sprig-opt %s --sprig-report-emitters -remark-format=emitRemark --remarks-filter=fuse 2>&1 | FileCheck %s
// RUN: %sprig-opt %s --sprig-report-emitters=target=cuda -remark-format=emitRemark --remarks-filter=fuse -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CUDA
// RUN: %sprig-opt %s --sprig-report-emitters -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty

// The program is as before, and both dispatches have an emitter.
// CHECK-DAG: kernel 'product' by the emitter 'matmul'
// CHECK-DAG: kernel 'sums' by the emitter 'loops'
// CHECK: func.func @main
// CHECK: kernel.dispatch "product"
// CUDA-DAG: kernel 'product' by the emitter 'loops'
// CUDA-DAG: kernel 'sums' by the emitter 'rows'
// SILENT-NOT: emitter
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8xf32> {
  %0 = kernel.dispatch "product" (%a = %x : tensor<8x16xf32>, %b = %w : tensor<16x4xf32>) -> tensor<8x4xf32> {
    %p = nn.matmul %a, %b : tensor<8x16xf32>, tensor<16x4xf32>
    kernel.yield %p : tensor<8x4xf32>
  }
  %1 = kernel.dispatch "sums" (%a = %0 : tensor<8x4xf32>) -> tensor<8xf32> {
    %s = nn.reduce sum %a axes = [1] : tensor<8x4xf32>
    kernel.yield %s : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}
