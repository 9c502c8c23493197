// Kernels go to nvvm and llvm with bare pointers; functions become arithmetic, shared memory a variable.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(sprig-lower-gpu-module))" | FileCheck %s

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels {
  // CHECK: llvm.mlir.global internal @[[SHARED:.*]]() {addr_space = 3 : i32
  // CHECK: llvm.func @scale(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32)
  // CHECK-SAME: gpu.kernel
  // CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>
  // CHECK-DAG: llvm.mlir.addressof @[[SHARED]]
  // CHECK-DAG: nvvm.read.ptx.sreg.tid.x range <i32, 0, 128>
  // CHECK: nvvm.barrier
  // CHECK-NOT: math.exp
  // CHECK-NOT: llvm.call
  // CHECK: llvm.intr.fma
  gpu.func @scale(%from: memref<256xf32>, %to: memref<256xf32>, %status: !llvm.ptr, %scratch: !llvm.ptr, %first: i32)
      workgroup(%shared: memref<128xf32, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c127 = arith.constant 127 : index
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %block = gpu.block_id x
    %tile = arith.index_cast %first : i32 to index
    %own = arith.addi %block, %tile : index
    %row = arith.muli %own, %c128 : index
    %at = arith.addi %row, %thread : index
    %x = memref.load %from[%at] : memref<256xf32>
    memref.store %x, %shared[%thread] : memref<128xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %turned = arith.subi %c127, %thread : index
    %y = memref.load %shared[%turned] : memref<128xf32, #gpu.address_space<workgroup>>
    %e = math.exp %y : f32
    memref.store %e, %to[%at] : memref<256xf32>
    gpu.return
  }
}

// -----

gpu.module @refused {
  gpu.func @wide(%to: memref<1xf64>) kernel {
    %c0 = arith.constant 0 : index
    %x = memref.load %to[%c0] : memref<1xf64>
    // expected-error@+1 {{'math.cbrt' of 'f64' has no code for --target cuda yet}}
    %e = math.cbrt %x : f64
    // expected-error@+1 {{'math.atan2' of 'f64' has no code for --target cuda yet}}
    %r = math.atan2 %e, %x : f64
    memref.store %r, %to[%c0] : memref<1xf64>
    gpu.return
  }
}
