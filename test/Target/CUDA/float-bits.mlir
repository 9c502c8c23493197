// RUN: %sprig-opt %s --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module,sprig-emit-ptx))" -o /dev/null | FileCheck %s

// The lowest bits of a sum of floats are kept by way of another register: of its own, ptxas would store what it is as an
// integer.
// CHECK: .visible .entry low_bits(
// CHECK: add.rn.f32 [[SUM:%r[0-9]+]],
// CHECK: mov.b32 [[BITS:%r[0-9]+]], [[SUM]];
// CHECK-NOT: [[SUM]]
// CHECK: st.global.b16 {{.*}}, [[BITS]];
gpu.module @bits {
  gpu.func @low_bits(%from: memref<2xf32>, %to: memref<1xi16>, %status: !llvm.ptr, %scratch: !llvm.ptr, %first: i32)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.load %from[%c0] : memref<2xf32>
    %b = memref.load %from[%c1] : memref<2xf32>
    %sum = arith.addf %a, %b : f32
    %bits = arith.bitcast %sum : f32 to i32
    %low = arith.trunci %bits : i32 to i16
    memref.store %low, %to[%c0] : memref<1xi16>
    gpu.return
  }
}
