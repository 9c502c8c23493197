// Gathers rows one after the other until it meets one that is not there, in a branch of a loop's step.
func.func @main(%x: tensor<4x3xf32>) -> tensor<3xf32> {
  %zero = nn.constant dense<0> : tensor<i64>
  %none = nn.constant dense<0.0> : tensor<3xf32>
  %0:2 = nn.while carry (%k = %zero : tensor<i64>, %s = %none : tensor<3xf32>) with (%t = %x : tensor<4x3xf32>) {
    %1 = nn.constant dense<9> : tensor<i64>
    %2 = nn.compare lt %k, %1 : tensor<i64>, tensor<i64>
    nn.yield %2 : tensor<i1>
  } do {
    %1 = nn.constant dense<1> : tensor<i64>
    %2 = nn.add %k, %1 : tensor<i64>, tensor<i64>
    %3 = nn.compare ge %k, %1 : tensor<i64>, tensor<i64>
    %4 = nn.cond %3 with (%u = %t : tensor<4x3xf32>, %v = %s : tensor<3xf32>, %i = %k : tensor<i64>) -> tensor<3xf32> {
      %5 = nn.gather %u, %i axis = 0 : tensor<4x3xf32>, tensor<i64> loc("row")
      %6 = nn.add %5, %v : tensor<3xf32>, tensor<3xf32>
      nn.yield %6 : tensor<3xf32>
    } else {
      nn.yield %v : tensor<3xf32>
    }
    nn.yield %2, %4 : tensor<i64>, tensor<3xf32>
  }
  return %0#1 : tensor<3xf32>
}
