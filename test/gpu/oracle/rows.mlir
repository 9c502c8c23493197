// Kernels in the dialects that a GPU back-end emits, lowered by LLVM's NVPTX back-end.
module attributes {gpu.container_module} {
  gpu.module @rows {
    // Softmax of 64 columns, two a lane.
    gpu.func @softmax(%x: memref<8x64xf32>, %y: memref<8x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %w32 = arith.constant 32 : i32
      %lane = gpu.thread_id x
      %row = gpu.block_id x
      %first = arith.muli %lane, %c2 : index
      %v = vector.load %x[%row, %first] {alignment = 8} : memref<8x64xf32>, vector<2xf32>
      %a = vector.extract %v[0] : f32 from vector<2xf32>
      %b = vector.extract %v[1] : f32 from vector<2xf32>
      %m0 = arith.maximumf %a, %b : f32
      %o16 = arith.constant 16 : i32
      %o8 = arith.constant 8 : i32
      %o4 = arith.constant 4 : i32
      %o2 = arith.constant 2 : i32
      %o1 = arith.constant 1 : i32
      %s1, %p1 = gpu.shuffle xor %m0, %o16, %w32 : f32
      %m1 = arith.maximumf %m0, %s1 : f32
      %s2, %p2 = gpu.shuffle xor %m1, %o8, %w32 : f32
      %m2 = arith.maximumf %m1, %s2 : f32
      %s3, %p3 = gpu.shuffle xor %m2, %o4, %w32 : f32
      %m3 = arith.maximumf %m2, %s3 : f32
      %s4, %p4 = gpu.shuffle xor %m3, %o2, %w32 : f32
      %m4 = arith.maximumf %m3, %s4 : f32
      %s5, %p5 = gpu.shuffle xor %m4, %o1, %w32 : f32
      %m = arith.maximumf %m4, %s5 : f32
      %mm = vector.broadcast %m : f32 to vector<2xf32>
      %d = arith.subf %v, %mm : vector<2xf32>
      %e = math.exp %d : vector<2xf32>
      %e0 = vector.extract %e[0] : f32 from vector<2xf32>
      %e1 = vector.extract %e[1] : f32 from vector<2xf32>
      %t0 = arith.addf %e0, %e1 : f32
      %u1, %q1 = gpu.shuffle xor %t0, %o16, %w32 : f32
      %t1 = arith.addf %t0, %u1 : f32
      %u2, %q2 = gpu.shuffle xor %t1, %o8, %w32 : f32
      %t2 = arith.addf %t1, %u2 : f32
      %u3, %q3 = gpu.shuffle xor %t2, %o4, %w32 : f32
      %t3 = arith.addf %t2, %u3 : f32
      %u4, %q4 = gpu.shuffle xor %t3, %o2, %w32 : f32
      %t4 = arith.addf %t3, %u4 : f32
      %u5, %q5 = gpu.shuffle xor %t4, %o1, %w32 : f32
      %t = arith.addf %t4, %u5 : f32
      %tt = vector.broadcast %t : f32 to vector<2xf32>
      %r = arith.divf %e, %tt : vector<2xf32>
      vector.store %r, %y[%row, %first] {alignment = 8} : memref<8x64xf32>, vector<2xf32>
      gpu.return
    }

    // Sums of rows in bf16, by a tree in shared memory.
    gpu.func @sums(%x: memref<4x101xbf16>, %y: memref<4xf32>)
        workgroup(%part : memref<128xf32, #gpu.address_space<workgroup>>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c64 = arith.constant 64 : index
      %c101 = arith.constant 101 : index
      %c128 = arith.constant 128 : index
      %zero = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %inside = arith.cmpi ult, %t, %c101 : index
      %own = scf.if %inside -> f32 {
        %h = memref.load %x[%row, %t] : memref<4x101xbf16>
        %f = arith.extf %h : bf16 to f32
        scf.yield %f : f32
      } else {
        scf.yield %zero : f32
      }
      memref.store %own, %part[%t] : memref<128xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %end = scf.while (%half = %c64) : (index) -> index {
        %more = arith.cmpi ugt, %half, %c0 : index
        scf.condition(%more) %half : index
      } do {
      ^bb0(%half: index):
        %low = arith.cmpi ult, %t, %half : index
        scf.if %low {
          %o = arith.addi %t, %half : index
          %a = memref.load %part[%t] : memref<128xf32, #gpu.address_space<workgroup>>
          %b = memref.load %part[%o] : memref<128xf32, #gpu.address_space<workgroup>>
          %s = arith.addf %a, %b : f32
          memref.store %s, %part[%t] : memref<128xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier
        %next = arith.divui %half, %c2 : index
        scf.yield %next : index
      }
      %is0 = arith.cmpi eq, %t, %c0 : index
      scf.if %is0 {
        %s = memref.load %part[%c0] : memref<128xf32, #gpu.address_space<workgroup>>
        memref.store %s, %y[%row] : memref<4xf32>
      }
      gpu.return
    }

    // One warp: D (16 x 8) = A (16 x 8) B (8 x 8) + C in tf32, operands from global memory as the lanes hold them.
    gpu.func @tile(%a: memref<32x4xf32>, %b: memref<32x2xf32>, %c: memref<32x4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %lane = gpu.thread_id x
      %va = vector.load %a[%lane, %c0] {alignment = 16} : memref<32x4xf32>, vector<4xf32>
      %vb = vector.load %b[%lane, %c0] {alignment = 8} : memref<32x2xf32>, vector<2xf32>
      %vc = vector.load %c[%lane, %c0] {alignment = 16} : memref<32x4xf32>, vector<4xf32>
      %ma = vector.shape_cast %va : vector<4xf32> to vector<4x1xf32>
      %mb = vector.shape_cast %vb : vector<2xf32> to vector<2x1xf32>
      %mc = vector.shape_cast %vc : vector<4xf32> to vector<2x2xf32>
      %d = nvgpu.mma.sync (%ma, %mb, %mc) {mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
      %vd = vector.shape_cast %d : vector<2x2xf32> to vector<4xf32>
      vector.store %vd, %c[%lane, %c0] {alignment = 16} : memref<32x4xf32>, vector<4xf32>
      gpu.return
    }
  }
}
