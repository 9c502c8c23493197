// Every constraint of the dist dialect, broken.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{has 2 axes and 1 sizes}}
dist.mesh @mesh ["data", "model"] [4]

// -----
// expected-error @+1 {{expected an axis}}
dist.mesh @mesh [] []

// -----
// expected-error @+1 {{axis "data" is there twice}}
dist.mesh @mesh ["data", "data"] [2, 2]

// -----
// expected-error @+1 {{expected an axis of 1 or more ranks, found 0 of "data"}}
dist.mesh @mesh ["data"] [0]

// -----
// expected-error @+1 {{has more than 1048576 ranks}}
dist.mesh @mesh ["data", "model"] [1048576, 2]

// -----
func.func @noMesh(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a dist.mesh, found 'noMesh'}}
  %0 = dist.all_reduce sum %x on @noMesh ["data"] : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @axis(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected an axis of @mesh ["data"], found "model"}}
  %0 = dist.all_reduce sum %x on @mesh ["model"] : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @twice(%x: tensor<8xf32>) {
  // expected-error @+1 {{axis "data" is there twice}}
  %0 = dist.all_reduce sum %x on @mesh ["data", "data"] : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @root(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a root below 2, the ranks of the group, found 2}}
  %0 = dist.broadcast %x root 2 on @mesh ["model"] : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @mean(%x: tensor<8xi32>) {
  // expected-error @+1 {{a mean is of floating-point elements, found 'i32'}}
  %0 = dist.all_reduce mean %x on @mesh ["data"] : tensor<8xi32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @booleans(%x: tensor<8xi1>) {
  // expected-error @+1 {{i1 has no sum; max is 'or', min is 'and'}}
  %0 = dist.reduce sum %x root 0 on @mesh ["data"] : tensor<8xi1>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @scalar(%x: tensor<f32>) {
  // expected-error @+1 {{expected tensors with a first axis}}
  %0 = dist.all_to_all %x on @mesh ["data"] : tensor<f32> -> tensor<f32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @uneven(%x: tensor<6x2xf32>) {
  // expected-error @+1 {{expected a part 'tensor<1x2xf32>' or 'tensor<2x2xf32>' of 'tensor<6x2xf32>' over 4 ranks, found 'tensor<3x2xf32>'}}
  %0 = dist.scatter %x root 0 on @mesh ["data"] : tensor<6x2xf32> -> tensor<3x2xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @part(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected a part 'tensor<1x3xf32>' of 'tensor<4x3xf32>' over 4 ranks, found 'tensor<2x3xf32>'}}
  %0 = dist.all_gather %x on @mesh ["data"] : tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @ofRank(%x: tensor<6x2xf32>) attributes {dist.rank = 3 : i64} {
  // expected-error @+1 {{expected a part 'tensor<1x2xf32>' of 'tensor<6x2xf32>' over 4 ranks, found 'tensor<2x2xf32>'}}
  %0 = dist.part %x on @mesh ["data"] : tensor<6x2xf32> -> tensor<2x2xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @exchange(%x: tensor<6x2xf32>) attributes {dist.rank = 3 : i64} {
  // expected-error @+1 {{expected 'tensor<4x2xf32>' for 'tensor<6x2xf32>' that 4 ranks exchange, or the way back, found 'tensor<6x2xf32>'}}
  %0 = dist.all_to_all %x on @mesh ["data"] : tensor<6x2xf32> -> tensor<6x2xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @exchangeOfAny(%x: tensor<6x2xf32>) {
  // expected-error @+1 {{expected 'tensor<8x2xf32>' or 'tensor<4x2xf32>' for 'tensor<6x2xf32>' that 4 ranks exchange, or the way back, found 'tensor<8x3xf32>'}}
  %0 = dist.all_to_all %x on @mesh ["data"] : tensor<6x2xf32> -> tensor<8x3xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @nothing() {
  // expected-error @+1 {{expected a value}}
  "dist.all_gather"() <{mesh = @mesh, axes = ["data"]}> : () -> ()
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @counts(%x: tensor<4xf32>) {
  // expected-error @+1 {{has 1 operands and 2 results}}
  %0:2 = "dist.reduce_scatter"(%x) <{reduction = 0 : i32, mesh = @mesh, axes = ["data"]}> : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>)
  return
}

// -----
func.func @operands(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected one operand and one result, or neither}}
  "dist.steps"(%x) <{reduction = 0 : i32, rank = 0 : i64}> ({
  ^bb0:
  }) : (tensor<4xf32>) -> ()
  return
}

// -----
func.func @rank() {
  // expected-error @+1 {{expected a rank of 0 or more, found -1}}
  dist.steps sum rank -1 () {
  }
  return
}

// -----
func.func @noStep(%x: tensor<4xf32>) {
  dist.steps sum rank 0 () {
    // expected-error @+1 {{is no step of a collective}}
    func.func private @inside()
  }
  return
}

// -----
func.func @types(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a result of 'f32', found 'f64'}}
  %0 = dist.steps sum rank 0 (%x) : tensor<4xf32> -> tensor<4xf64> {
  }
  return
}

// -----
func.func @place(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a place of 2 elements in 4, found 3}}
  %0 = dist.steps sum rank 0 at 3 (%x) : tensor<4xf32> -> tensor<2xf32> {
  }
  return
}

// -----
func.func @apart(%x: tensor<4xf32>) {
  // expected-error @+1 {{has an operand in a place of the result, and both apart}}
  %0 = dist.steps sum rank 0 at 1 apart (%x) : tensor<4xf32> -> tensor<2xf32> {
  }
  return
}

// -----
func.func @sent(%x: tensor<2xf32>) {
  %0 = dist.steps sum rank 0 apart (%x) : tensor<2xf32> -> tensor<4xf32> {
    // expected-error @+1 {{expected elements of 2, found [0, 3)}}
    dist.send [0, 3) to 1
  }
  return
}

// -----
func.func @received(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 0 apart (%x) : tensor<4xf32> -> tensor<2xf32> {
    // expected-error @+1 {{expected elements of 2, found [0, 3)}}
    dist.receive [0, 3) from 1
  }
  return
}

// -----
func.func @keptFrom(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 0 apart (%x) : tensor<4xf32> -> tensor<2xf32> {
    // expected-error @+1 {{expected 2 of 4 elements of the operand, found them from 3 on}}
    dist.keep [0, 2) from 3
  }
  return
}

// -----
func.func @beyond(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 0 (%x) : tensor<4xf32> -> tensor<4xf32> {
    // expected-error @+1 {{expected elements of 4, found [2, 5)}}
    dist.send [2, 5) to 1
  }
  return
}

// -----
func.func @lane(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 0 (%x) : tensor<4xf32> -> tensor<4xf32> {
    // expected-error @+1 {{expected a lane from 0 to 255, found 256}}
    dist.finish [2, 4) lane 256
  }
  return
}

// -----
func.func @self(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 1 (%x) : tensor<4xf32> -> tensor<4xf32> {
    // expected-error @+1 {{expected another rank than 1, found 1}}
    dist.receive [2, 4) from 1
  }
  return
}

// -----
func.func @kept(%x: tensor<4xf32>) {
  %0 = dist.steps sum rank 1 (%x) : tensor<4xf32> -> tensor<4xf32> {
    // expected-error @+1 {{is for an operand and a result that are apart}}
    dist.keep [2, 4)
  }
  return
}

// -----
// expected-error @+1 {{expects parent op 'dist.steps'}}
dist.send [0, 1) to 1

// -----
func.func @far(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a place of 2 elements in 4, found 9223372036854775807}}
  %0 = dist.steps sum rank 0 at 9223372036854775807 (%x) : tensor<4xf32> -> tensor<2xf32> {
  }
  return
}

// -----
func.func @nothing() {
  // expected-error @+1 {{has no operand that has a place or is apart}}
  dist.steps sum rank 0 at 7 () {
  }
  return
}

// -----
func.func @wholeMean(%x: tensor<4xi32>) {
  // expected-error @+1 {{a mean is of floating-point elements, found 'i32'}}
  %0 = dist.steps mean rank 0 (%x) : tensor<4xi32> -> tensor<4xi32> {
    dist.finish [0, 4)
  }
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @many(%x: tensor<4611686018427387904x8xf64>) {
  // expected-error @+1 {{has more than 2^56 elements: 'tensor<4611686018427387904x8xf64>'}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] : tensor<4611686018427387904x8xf64>
  return
}

// -----
func.func @manySteps(%x: tensor<9223372036854775807x4xf32>) {
  // expected-error @+1 {{has more than 2^56 elements: 'tensor<9223372036854775807x4xf32>'}}
  %0 = dist.steps sum rank 0 (%x) : tensor<9223372036854775807x4xf32> -> tensor<9223372036854775807x4xf32> {
  }
  return
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @none() {
  // expected-error @+1 {{expected a value}}
  "dist.all_reduce"() {reduction = 0 : i32, mesh = @mesh, axes = ["data"]} : () -> ()
  return
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @types(%x: tensor<8xf32>, %n: tensor<i64>) {
  // expected-error @+1 {{expected values of one element type, found 'f32' and 'i64'}}
  %0:2 = dist.all_reduce sum %x, %n on @mesh ["data"] : tensor<8xf32>, tensor<i64>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @unevenPart(%x: tensor<6x2xf32>) {
  // expected-error @+1 {{expected a part 'tensor<1x2xf32>' or 'tensor<2x2xf32>' of 'tensor<6x2xf32>' over 4 ranks, found 'tensor<3x2xf32>'}}
  %0 = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<6x2xf32> -> tensor<3x2xf32>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @axisTwice(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{axis "data" is there twice in a sharding}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], ["data"]]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @partialTwice(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{axis "data" is there twice in a sharding}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], []], partial sum ["data"]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @noReduction(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{there is no reduction 'median'}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], []], partial median ["model"]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @partialMean(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{a value is no partial mean; it is a partial sum}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], []], partial mean ["model"]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @partialAlongNone(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected an axis that the value is partial along}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], []], partial sum []>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @shardPartial(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{states a partial value, which no value can be made}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], []], partial sum ["model"]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @otherMesh(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: expected a dist.mesh, found 'grid'}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@grid, [["data"], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @otherRank(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: has 1 dimensions and 'tensor<8x3xf32>' has 2}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"]]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @otherAxis(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: expected an axis of @mesh ["data", "model"], found "rows"}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data"], ["rows"]]>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
// expected-error @+1 {{the sharding of argument 0: has 1 dimensions and 'tensor<8x3xf32>' has 2}}
func.func @argument(%x: tensor<8x3xf32> {dist.sharding = #dist.sharding<@mesh, [["data"]]>}) {
  return
}

// -----
// expected-error @+1 {{expected a sharding of argument 0, found "data"}}
func.func @noSharding(%x: tensor<8x3xf32> {dist.sharding = "data"}) {
  return
}

// -----
dist.mesh @mesh ["data"] [4]
// expected-error @+1 {{the sharding of result 0: expected a tensor of static shape, found 'i32'}}
func.func private @result() -> (i32 {dist.sharding = #dist.sharding<@mesh, [["data"]]>})

// -----
dist.mesh @mesh ["data"] [4]
func.func @results(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 'dist.shardings' of 1 results, found []}}
  %0 = nn.exp %x {dist.shardings = []} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @ofResult(%x: tensor<8xf32>) {
  // expected-error @+1 {{the sharding of result 0: has 0 dimensions and 'tensor<8xf32>' has 1}}
  %0 = nn.exp %x {dist.shardings = [#dist.sharding<@mesh, []>]} : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @noValue(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no value that 'dist.sharding' could be about}}
  %0 = nn.exp %x {dist.sharding = #dist.sharding<@mesh, [["data"]]>} : tensor<8xf32>
  return
}

// -----
// expected-error @+1 {{expected 'dist.mesh' to name a dist.mesh, found @none}}
func.func @noMesh() attributes {dist.mesh = @none} {
  return
}

// -----
// expected-error @+1 {{expected 'dist.piece' of argument 0 as two numbers for each dimension of 'tensor<4xf32>', found array<i64: 8>}}
func.func @numbers(%x: tensor<4xf32> {dist.piece = array<i64: 8>}) {
  return
}

// -----
// expected-error @+1 {{argument 0 has 4 from 0 on of a dimension of -9223372036854775807}}
func.func @negative(%x: tensor<4xf32> {dist.piece = array<i64: -9223372036854775807, 0>}) {
  return
}

// -----
// expected-error @+1 {{argument 0 is a piece of more than 2^48 elements together}}
func.func @large(%x: tensor<4x4xf32> {dist.piece = array<i64: 4294967296, 4294967296, 0, 0>}) {
  return
}

// -----
// expected-error @+1 {{result 0 has 4 from 5 on of a dimension of 8}}
func.func @outside(%x: tensor<4xf32>) -> (tensor<4xf32> {dist.piece = array<i64: 8, 5>}) {
  return %x : tensor<4xf32>
}

// -----
// Of 15 elements two ranks have 8 each, three have 5, and no number of ranks has 7.
// expected-error @+1 {{expected 'dist.piece' as the shape of a whole, of which 'tensor<7xf32>' is an even piece, found array<i64: 3, 5>}}
nn.param @noPiece {dist.piece = array<i64: 3, 5>} = dense<0.0> : tensor<7xf32>

// -----
// expected-error @+1 {{expected 'dist.piece' as the shape of a whole, of which 'tensor<4x2xf32>' is an even piece, found array<i64: 4, 4>}}
nn.param @noVector {dist.piece = array<i64: 4, 4>} = dense<0.0> : tensor<4x2xf32>

// -----
// expected-error @+1 {{expected 'dist.piece' as the shape of a whole, of which 'tensor<8xf32>' is an even piece, found array<i64: -4, -4>}}
nn.param @noShape {dist.piece = array<i64: -4, -4>} = dense<0.0> : tensor<8xf32>

// -----
// expected-error @+1 {{expected 'dist.piece' as the shape of a whole, of which 'tensor<8xf32>' is an even piece, found "3x5"}}
nn.param @text {dist.piece = "3x5"} = dense<0.0> : tensor<8xf32>

// -----
func.func @noState(%x: tensor<8xf32>) {
  // expected-error @+1 {{has no value that 'dist.piece' could be about}}
  %0 = nn.exp %x {dist.piece = array<i64: 3, 5>} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh ["data"] [2]
func.func @order(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{has 'dist.order', which stands on an all-reduce, a reduce-scatter or an all-gather}}
  %0 = dist.broadcast %x root 0 on @mesh ["data"] {dist.order = 5} : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

dist.mesh @mesh ["data"] [4]
func.func @algorithm(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected an algorithm of all_reduce (star, split, tree, ring, bidirectional, rings, hierarchy), found "magic"}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] by "magic" : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh ["data"] [4]
func.func @algorithm_of_another(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected an algorithm of all_gather (split, ring), found "tree"}}
  %0 = dist.all_gather %x on @mesh ["data"] by "tree" : tensor<2xf32> -> tensor<8xf32>
  return
}

// -----

dist.mesh @mesh ["data"] [4]
func.func @rank_of_no_mesh(%x: tensor<8xf32>) attributes {dist.rank = 4 : i64} {
  // expected-error @+1 {{is in the program of rank 4, and @mesh has 4}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{has 'dist.rank' = -1 : i64, expected an integer from 0 on}}
func.func @negative_rank() attributes {dist.rank = -1 : i64} {
  return
}

// -----

// expected-error @+1 {{has 'dist.samples' = "all", expected an integer from 0 on}}
func.func @samples() attributes {dist.samples = "all"} {
  return
}

// -----

func.func @most_bytes(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected 'dist.most_bytes' of 1 results, found array<i64: 32, 4>}}
  %0 = nn.relu %x {dist.most_bytes = array<i64: 32, 4>} : tensor<8xf32>
  return
}

// -----

func.func @late(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 'dist.late', which stands on an all-reduce, a reduce-scatter or an all-gather}}
  %0 = nn.relu %x {dist.late} : tensor<8xf32>
  return
}

// -----

dist.mesh @mesh ["data"] [4]
func.func @late_value(%x: tensor<8xf32>) {
  // expected-error @+1 {{has 'dist.late' = 1 : i64, expected no value}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] {dist.late = 1} : tensor<8xf32>
  return
}

// -----

// expected-error @+1 {{has 'dist.ranc', which dist does not know}}
func.func @misspelt() attributes {dist.ranc = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{has 'dist.shard' on argument 0, which dist does not know}}
func.func @misspelt_argument(%x: tensor<8xf32> {dist.shard = 1}) {
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @weightBelowOne(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected weights from 1 on of axis "data", found 0}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" by 3,1,0,1], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @manyWeights(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{has weights of axis "data" of more than 1048576 together}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" by 1048575,1,1,1], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @fewWeights(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: has 2 weights of the 4 ranks along "data"}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" by 3,1], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @negativeBlock(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected blocks of 0 or more units along "data", found -1}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" in 9,-1], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @noUnit(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected units of 1 position or more along "data", found 0}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" of 0], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @twoUnits(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected one number of positions, found 2}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" of 2,2], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @otherBlocks(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: deals blocks of 7 x 1 positions along "data", and dimension 0 of 'tensor<8x3xf32>' has 8}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" in 4,3], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @otherUnits(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: deals blocks of 2 x 3 positions along "data", and dimension 0 of 'tensor<8x3xf32>' has 8}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["data" of 3], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @blocksBesideAxis(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{axis "data" deals blocks or units, which stand alone in a dimension}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, [["model", "data" in 4,4], []]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @flatTwice(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{axis "data" is there twice in a sharding}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, flat ["data", "data"]>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @flatWithoutAxis(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{expected an axis that the vector is split by}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, flat []>
  return
}

// -----
dist.mesh @mesh ["data", "model"] [4, 2]
func.func @flatOfOtherAxis(%x: tensor<8x3xf32>) {
  // expected-error @+1 {{the sharding of the result: expected an axis of @mesh ["data", "model"], found "rows"}}
  %0 = dist.shard %x : tensor<8x3xf32> to #dist.sharding<@mesh, flat ["rows"]>
  return
}
