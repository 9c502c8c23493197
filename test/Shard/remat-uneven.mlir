// Of 33 samples the first rank has 17 and the second 16, each of 8 bytes. Both choose what is computed again by what the
// first one keeps: the same values, though the second would keep few enough bytes with one value fewer.
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=0 note-most},func.func(sprig-remat{bytes=260}))' | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=1 note-most},func.func(sprig-remat{bytes=260}))' | FileCheck %s
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=1},func.func(sprig-remat{bytes=260}))' | FileCheck %s --check-prefix=OWN
// RUN: %sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=1 note-most})' | FileCheck %s --check-prefix=NOTE

dist.mesh @mesh ["data"] [2]

// CHECK-LABEL: func.func @main
// CHECK: nn.after
// CHECK-NOT: dist.most_bytes
// OWN-LABEL: func.func @main
// OWN-NOT: nn.after
// OWN: return
// NOTE: nn.sin %{{.*}} {dist.most_bytes = array<i64: 136>} : tensor<16x2xf32>
// The sum over all samples is as large on both.
// NOTE: nn.reduce sum %{{.*}} axes = [0, 1] {nn.differentiated} : tensor<16x2xf32>
func.func @main(%x: tensor<33x2xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> (tensor<f32>, tensor<33x2xf32>) {
  %0 = nn.sin %x : tensor<33x2xf32>
  %1 = nn.sin %0 : tensor<33x2xf32>
  %2 = nn.sin %1 : tensor<33x2xf32>
  %loss = nn.reduce sum %2 axes = [0, 1] : tensor<33x2xf32>
  %g = nn.gradient %loss wrt %x : (tensor<f32>, tensor<33x2xf32>) -> tensor<33x2xf32>
  return %loss, %g : tensor<f32>, tensor<33x2xf32>
}
