// PTX that rounds every operation by itself, reads what is aligned at once, and calls nothing.
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module,sprig-emit-ptx))" -o /dev/null | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module,sprig-emit-ptx{arch=sm_80}))" -o /dev/null | FileCheck %s --check-prefix=OLD
// RUN: %sprig-opt %s --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module,sprig-emit-ptx{arch=sm_120}))" -o /dev/null | FileCheck %s --check-prefix=NEW
// RUN: not %sprig-opt %s --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module,sprig-emit-ptx{arch=sm_75}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: .version 7.8
// CHECK-NEXT: .target sm_90
// CHECK-NEXT: .address_size 64
// OLD: .version 7.0
// OLD-NEXT: .target sm_80
// NEW: .version 8.7
// NEW-NEXT: .target sm_120
// UNKNOWN: unknown architecture 'sm_75'; known are sm_80, sm_86, sm_89, sm_90, sm_100, sm_120

// CHECK: .visible .entry sum(
// CHECK-COUNT-2: .param .u64 .ptr .align 64
// CHECK: .reqntid 32
// CHECK-NOT: .extern
// CHECK: ld.global.v4.b32
// CHECK: mul.rn.f32
// CHECK: add.rn.f32
// CHECK: fma.rn.f32
// CHECK: div.rn.f32
// CHECK: sqrt.rn.f32
// CHECK: max.NaN.f32
// CHECK-NOT: .ftz
gpu.module @kernels {
  gpu.func @sum(%from: memref<4xf32>, %to: memref<1xf32>, %status: !llvm.ptr, %scratch: !llvm.ptr, %first: i32)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %four = vector.load %from[%c0] {alignment = 16 : i64} : memref<4xf32>, vector<4xf32>
    %a = vector.extract %four[0] : f32 from vector<4xf32>
    %b = vector.extract %four[1] : f32 from vector<4xf32>
    %c = vector.extract %four[2] : f32 from vector<4xf32>
    %d = vector.extract %four[3] : f32 from vector<4xf32>
    %product = arith.mulf %a, %b : f32
    %added = arith.addf %product, %c : f32
    %fused = math.fma %added, %d, %a : f32
    %part = arith.divf %fused, %b : f32
    %root = math.sqrt %part : f32
    %most = arith.maximumf %root, %d : f32
    memref.store %most, %to[%c0] : memref<1xf32>
    gpu.return
  }
}
