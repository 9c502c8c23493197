// Gives the indices that it is called with: tables hold their own row numbers. Sources and targets of edges, whose
// sources count from 100 on; users and items, one column each; classes. Of the gate nothing but its sign counts.
func.func @main(%edges: tensor<2x4096xi32> {nn.name = "edges"}, %pairs: tensor<4096x2xi64> {nn.name = "pairs"},
                %classes: tensor<4096xi64> {nn.name = "classes"}, %gate: tensor<4096xi64> {nn.name = "gate"})
    -> (tensor<4096xf32> {nn.name = "sources"}, tensor<4096xf32> {nn.name = "targets"},
        tensor<4096xf32> {nn.name = "users"}, tensor<4096xf32> {nn.name = "items"},
        tensor<4096xi64> {nn.name = "kinds"}, tensor<4096xf32> {nn.name = "gates"}) {
  %i = nn.iota axis = 0 : tensor<1000xf32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %table = nn.mul %i, %one : tensor<1000xf32>, tensor<f32>
  %few = nn.slice %table starts = [0] sizes = [10] steps = [1] : tensor<1000xf32>
  %wide = nn.cast %edges : tensor<2x4096xi32> to tensor<2x4096xi64>
  %s = nn.slice %wide starts = [0, 0] sizes = [1, 4096] steps = [1, 1] : tensor<2x4096xi64>
  %s1 = nn.reshape %s : tensor<1x4096xi64> to tensor<4096xi64>
  %offset = nn.constant dense<-100> : tensor<i64>
  %s2 = nn.add %s1, %offset : tensor<4096xi64>, tensor<i64>
  %sources = nn.gather %few, %s2 axis = 0 : tensor<10xf32>, tensor<4096xi64>
  %t = nn.slice %wide starts = [1, 0] sizes = [1, 4096] steps = [1, 1] : tensor<2x4096xi64>
  %t1 = nn.reshape %t : tensor<1x4096xi64> to tensor<4096xi64>
  %targets = nn.gather %table, %t1 axis = 0 : tensor<1000xf32>, tensor<4096xi64>
  %p = nn.transpose %pairs [1, 0] : tensor<4096x2xi64>
  %u = nn.slice %p starts = [0, 0] sizes = [1, 4096] steps = [1, 1] : tensor<2x4096xi64>
  %u1 = nn.reshape %u : tensor<1x4096xi64> to tensor<4096xi64>
  %users = nn.gather %table, %u1 axis = 0 : tensor<1000xf32>, tensor<4096xi64>
  %v = nn.slice %p starts = [1, 0] sizes = [1, 4096] steps = [1, 1] : tensor<2x4096xi64>
  %v1 = nn.reshape %v : tensor<1x4096xi64> to tensor<4096xi64>
  %items = nn.gather %few, %v1 axis = 0 : tensor<10xf32>, tensor<4096xi64>
  %kinds = nn.class_index %classes {classes = 50 : i64} : tensor<4096xi64>
  %gates = nn.cast %gate : tensor<4096xi64> to tensor<4096xf32>
  return %sources, %targets, %users, %items, %kinds, %gates : tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<4096xi64>, tensor<4096xf32>
}
