// A function whose collectives are not those of its plan is an error of the compiler, which names both.
// RUN: %sprig-opt %s --split-input-file --verify-diagnostics --sprig-check-collectives

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{internal error: collective 1 of 'size' is all_reduce sum of 16 bytes on @mesh ["data"], and the plan of all ranks has all_reduce sum of 12 bytes on @mesh ["data"]}}
func.func @size(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.plan = ["all_reduce sum of 12 bytes on @mesh [\22data\22]"]} {
  %sum = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{internal error: collective 2 of 'dropped' is none, and the plan of all ranks has barrier of 0 bytes on @mesh ["data"]}}
func.func @dropped(%x: tensor<4xf32>) -> tensor<4xf32> attributes {dist.plan = ["all_reduce sum of 16 bytes on @mesh [\22data\22]", "barrier of 0 bytes on @mesh [\22data\22]"]} {
  %sum = dist.all_reduce sum %x on @mesh ["data"] : tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

dist.mesh @mesh ["data"] [2]
// expected-error @+1 {{internal error: collective 1 of 'more' is barrier of 0 bytes on @mesh ["data"], and the plan of all ranks has none}}
func.func @more() attributes {dist.plan = []} {
  dist.barrier on @mesh ["data"]
  return
}

// -----

// expected-error @+1 {{'dist.plan'}}
func.func @words() attributes {dist.plan = "all_reduce"} {
  return
}
