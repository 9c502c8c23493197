// Of four ranks the last has none of three samples. It meets the others in the same collectives, of the same tensors,
// though nothing on it depends on the first one; and only the update is left to compute.
// RUN: sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=0})' | sprig compile - --compile-to fuse | FileCheck %s
// RUN: sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,sprig-propagate-shardings,sprig-partition{rank=3})' | sprig compile - --compile-to fuse | FileCheck %s --check-prefixes=CHECK,EMPTY

dist.mesh @mesh ["data"] [4]
nn.param @w = dense<0.5> : tensor<5x6xf32>

// CHECK-LABEL: func.func @main
// EMPTY-NOT: kernel.dispatch
// CHECK: dist.all_reduce sum %{{[^,]*}} on @mesh ["data"] : tensor<6xf32>
// EMPTY-NOT: kernel.dispatch
// CHECK: dist.all_reduce sum %{{.*}}, %{{.*}} on @mesh ["data"] : tensor<f32>, tensor<5x6xf32>
// CHECK-NOT: dist.
// EMPTY: kernel.dispatch "mul_sub"
// EMPTY-NOT: kernel.dispatch
// CHECK: nn.set_param @w
func.func @main(%x: tensor<3x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}) -> tensor<f32> {
  %w = nn.get_param @w : tensor<5x6xf32>
  %all = nn.reduce sum %x axes = [0] : tensor<3x6xf32>
  %0 = nn.sub %x, %all : tensor<3x6xf32>, tensor<6xf32>
  %1 = nn.linear %0, %w : tensor<3x6xf32>, tensor<5x6xf32>
  %2 = nn.tanh %1 : tensor<3x5xf32>
  %loss = nn.reduce sum %2 axes = [0, 1] : tensor<3x5xf32>
  %g = nn.gradient %loss wrt %w : (tensor<f32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  %s = dist.shard %g : tensor<5x6xf32> to #dist.sharding<@mesh, [[], []]>
  %rate = nn.constant dense<0.1> : tensor<f32>
  %d = nn.mul %s, %rate : tensor<5x6xf32>, tensor<f32>
  %n = nn.sub %w, %d : tensor<5x6xf32>, tensor<5x6xf32>
  nn.set_param @w, %n : tensor<5x6xf32>
  return %loss : tensor<f32>
}
