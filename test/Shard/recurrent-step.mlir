// The gradient of a recurrent layer on ranks that share its samples, which stand behind the steps of time in all of its
// tensors, as in the products over both that give the weights' gradients: nothing is gathered.
// RUN: sprig-opt %s --pass-pipeline='builtin.module(func.func(sprig-differentiate),canonicalize,cse,sprig-propagate-shardings,sprig-partition{rank=0})' | FileCheck %s --implicit-check-not=dist.all_gather
dist.mesh @mesh ["data"] [3]
nn.param @w = dense<0.5> : tensor<8x3xf32>
nn.param @r = dense<0.5> : tensor<8x2xf32>
nn.param @v = dense<0.5> : tensor<4x2xf32>
// CHECK: func.func @main(%{{.*}}: tensor<4x2x3xf32>, %{{.*}}: tensor<2x2xf32>, %{{.*}}: tensor<2xi64>)
// CHECK: dist.all_reduce sum {{.*}} : tensor<f32>
// CHECK: dist.all_reduce sum {{.*}} : tensor<8x3xf32>
// CHECK: dist.all_reduce sum {{.*}} : tensor<8x2xf32>
// CHECK: dist.all_reduce sum {{.*}} : tensor<4x2xf32>
func.func @main(%x: tensor<4x5x3xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["data"], []]>}, %h: tensor<5x2xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %t: tensor<5xi64> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) -> tensor<f32> {
  %w = nn.get_param @w : tensor<8x3xf32>
  %r = nn.get_param @r : tensor<8x2xf32>
  %v = nn.get_param @v : tensor<4x2xf32>
  %y, %last, %cell = nn.lstm %x, %w, %r from %h, %h : tensor<4x5x3xf32>, tensor<8x3xf32>, tensor<8x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
  %0 = nn.linear %last, %v : tensor<5x2xf32>, tensor<4x2xf32>
  %loss = nn.cross_entropy mean %0, %t : tensor<5x4xf32>, tensor<5xi64>
  %g:3 = nn.gradient %loss wrt %w, %r, %v : (tensor<f32>, tensor<8x3xf32>, tensor<8x2xf32>, tensor<4x2xf32>) -> (tensor<8x3xf32>, tensor<8x2xf32>, tensor<4x2xf32>)
  %a = dist.shard %g#0 : tensor<8x3xf32> to #dist.sharding<@mesh, [[], []]>
  %b = dist.shard %g#1 : tensor<8x2xf32> to #dist.sharding<@mesh, [[], []]>
  %c = dist.shard %g#2 : tensor<4x2xf32> to #dist.sharding<@mesh, [[], []]>
  nn.set_param @w, %a : tensor<8x3xf32>
  nn.set_param @r, %b : tensor<8x2xf32>
  nn.set_param @v, %c : tensor<4x2xf32>
  return %loss : tensor<f32>
}
