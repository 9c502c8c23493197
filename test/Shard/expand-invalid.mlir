// What no program can be made of.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-expand-collectives="rank=2"

dist.mesh @mesh ["data"] [2]
func.func @rank(%x: tensor<8xf32>) {
  // expected-error @+1 {{rank 2 is none of the 2 of @mesh}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @rows(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{rank 2 has 1 of the 6 rows over 4 ranks, found 2}}
  %0 = dist.all_gather %x on @mesh ["data"] : tensor<2x3xf32> -> tensor<6x3xf32>
  return
}

// -----
dist.mesh @mesh ["data"] [4]
func.func @ofRank(%x: tensor<8xf32>) attributes {dist.rank = 1 : i64} {
  // expected-error @+1 {{is in a function of rank 1, not of rank 2}}
  %0 = dist.all_reduce sum %x on @mesh ["data"] : tensor<8xf32>
  return
}
