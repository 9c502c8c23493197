// From a few annotations to all values: forward, backward, through factors of dimensions; who wins where they disagree.
// RUN: %sprig-opt %s --sprig-propagate-shardings | FileCheck %s
// Twice gives the same.
// RUN: %sprig-opt %s --sprig-propagate-shardings --sprig-propagate-shardings | FileCheck %s
// RUN: %sprig-opt %s --sprig-propagate-shardings=parameters | FileCheck %s --check-prefix=FOLLOW

dist.mesh @mesh ["data", "model"] [2, 2]

// Rows of the first operand are those of all that follows; other operands are whole.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %{{.*}}: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], []]>}
// CHECK-SAME: %{{.*}}: tensor<6x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], []]>}
// CHECK-SAME: %{{.*}}: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}]]>}
// CHECK-SAME: -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], []]>})
func.func @rows(%x: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>}, %w: tensor<6x4xf32>,
                %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.matmul {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]}
  %0 = nn.matmul %x, %w : tensor<8x6xf32>, tensor<6x4xf32>
  // CHECK: nn.add {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]}
  %1 = nn.add %0, %b : tensor<8x4xf32>, tensor<4xf32>
  return %1 : tensor<8x4xf32>
}

// From a result to what it is made of, and what is reduced from one operand to the other.
// CHECK-LABEL: func.func @backward
// CHECK-SAME: %{{.*}}: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], []]>}
// CHECK-SAME: %{{.*}}: tensor<6x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}], ["model"]]>}
// CHECK-SAME: %{{.*}}: tensor<4x5xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"model"], []]>}
func.func @backward(%x: tensor<8x6xf32>, %w: tensor<6x4xf32>, %v: tensor<4x5xf32>)
    -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], ["model"]]>}, tensor<8x5xf32>) {
  %0 = nn.matmul %x, %w : tensor<8x6xf32>, tensor<6x4xf32>
  %1 = nn.relu %0 : tensor<8x4xf32>
  // CHECK: nn.matmul {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]} : tensor<8x4xf32>
  %2 = nn.matmul %1, %v : tensor<8x4xf32>, tensor<4x5xf32>
  return %1, %2 : tensor<8x4xf32>, tensor<8x5xf32>
}

// Operands that disagree: the first one. They stay as they are said.
// CHECK-LABEL: func.func @operands
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], []]>}
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"model"], []]>}
func.func @operands(%x: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                    %y: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>}) -> tensor<8x4xf32> {
  // CHECK: nn.add {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]}
  %0 = nn.add %x, %y : tensor<8x4xf32>, tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// An elementwise operation's operand wins over a product's, which comes first but is no elementwise operation.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>},
                       %y: tensor<8x8xf32> {dist.sharding = #dist.sharding<@mesh, [["model"], []]>},
                       %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: nn.matmul {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"model"], []]>]}
  %0 = nn.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = nn.add %0, %y : tensor<8x8xf32>, tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// A dimension that becomes several goes on in the first, where it divides; a minor factor is a cut in as many blocks as
// the major ones have positions, which no result stays; a mesh axis splits one dimension of a value.
// CHECK-LABEL: func.func @factors
func.func @factors(%x: tensor<4x8xf32> {dist.sharding = #dist.sharding<@mesh, [[], ["model"]]>})
    -> (tensor<4x4x2xf32>, tensor<4x1x8xf32>, tensor<32xf32>, tensor<8x8xf32>) {
  // CHECK-SAME: tensor<32xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}]]>}
  // CHECK: nn.reshape {{.*}}<@mesh, {{\[\[}}], ["model"], []]>]} : tensor<4x8xf32> to tensor<4x4x2xf32>
  %0 = nn.reshape %x : tensor<4x8xf32> to tensor<4x4x2xf32>
  // CHECK: nn.reshape {{.*}}<@mesh, {{\[\[}}], [], ["model"]]>]} : tensor<4x8xf32> to tensor<4x1x8xf32>
  %1 = nn.reshape %x : tensor<4x8xf32> to tensor<4x1x8xf32>
  // CHECK: nn.reshape {{.*}}<@mesh, {{\[\[}}"model" in 8,8,8,8]]>]} : tensor<4x8xf32> to tensor<32xf32>
  %2 = nn.reshape %x : tensor<4x8xf32> to tensor<32xf32>
  // CHECK: nn.matmul {{.*}}<@mesh, {{\[\[}}"model"], []]>], transpose_lhs}
  %3 = nn.matmul %x, %x {transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32>
  return %0, %1, %2, %3 : tensor<4x4x2xf32>, tensor<4x1x8xf32>, tensor<32xf32>, tensor<8x8xf32>
}

// Composites stay where all that they need whole is whole; else their parts take their place.
// CHECK-LABEL: func.func @composites
// CHECK-NEXT: nn.softmax {{.*}} axis = 1 {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]}
// CHECK-NEXT: nn.reduce  max {{.*}}<@mesh, {{\[\[}}], []]>], keep_dims}
// CHECK-NEXT: nn.sub
// CHECK-NEXT: nn.exp {{.*}}<@mesh, {{\[\[}}"data"], []]>]}
// CHECK-NEXT: nn.reduce  sum
// CHECK-NEXT: nn.reciprocal
// CHECK-NEXT: nn.mul
// CHECK-NEXT: return
func.func @composites(%x: tensor<8x6xf32> {dist.sharding = #dist.sharding<@mesh, [["data"], []]>})
    -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = nn.softmax %x axis = 1 : tensor<8x6xf32>
  %1 = nn.softmax %x axis = 0 : tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// CHECK: nn.param @w {dist.sharding
nn.param @w {dist.sharding = #dist.sharding<@mesh, [["model"]]>} = dense<0.0> : tensor<4xf32>
// What is read by one alone may follow what becomes of it; a parameter that two would have otherwise stays whole.
// FOLLOW: nn.param @v {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"model"]]>}
// CHECK: nn.param @v =
nn.param @v = dense<0.0> : tensor<4xf32>
// FOLLOW: nn.param @both =
nn.param @both = dense<0.0> : tensor<4xf32>
// FOLLOW-LABEL: func.func @disagree
func.func @disagree(%x: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>},
                    %y: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, [["model"]]>}) -> (tensor<4xf32>, tensor<4xf32>) {
  // FOLLOW: nn.get_param @both {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}]]>]}
  %v = nn.get_param @both : tensor<4xf32>
  %w = nn.get_param @both : tensor<4xf32>
  %0 = nn.add %x, %v : tensor<4xf32>, tensor<4xf32>
  %1 = nn.add %y, %w : tensor<4xf32>, tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Parameters are what is said of them, or replicated; dist.shard has its own, and what comes to it may have more.
// CHECK-LABEL: func.func @parameters
// CHECK-SAME: %{{.*}}: tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], ["model"]]>}
// CHECK-SAME: -> (tensor<8x4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"data"], []]>})
func.func @parameters(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: nn.get_param @w {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"model"]]>]}
  %w = nn.get_param @w : tensor<4xf32>
  // CHECK: nn.get_param @v {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}]]>]}
  %v = nn.get_param @v : tensor<4xf32>
  %0 = nn.mul %x, %w : tensor<8x4xf32>, tensor<4xf32>
  %1 = nn.add %0, %v : tensor<8x4xf32>, tensor<4xf32>
  // CHECK: nn.add {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], ["model"]]>]}
  // CHECK: dist.shard {{.*}} {dist.shardings = [#dist.sharding<@mesh, {{\[\[}}"data"], []]>]}
  %2 = dist.shard %1 : tensor<8x4xf32> to #dist.sharding<@mesh, [["data"], []]>
  return %2 : tensor<8x4xf32>
}

// What is set is as the parameter is.
// CHECK-LABEL: func.func @update
// CHECK-SAME: %{{.*}}: tensor<4xf32> {dist.sharding = #dist.sharding<@mesh, {{\[\[}}"model"]]>}
func.func @update(%x: tensor<4xf32>) {
  nn.set_param @w, %x : tensor<4xf32>
  return
}
