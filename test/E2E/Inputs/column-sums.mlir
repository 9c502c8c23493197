// Sums of columns, several vectors of them at once and a rest, with what is made of the sums, and with values of the whole
// shape that the same pass gives.
func.func @main(%x: tensor<50x151xf32> {nn.name = "x"}, %y: tensor<300x300xf32> {nn.name = "y"})
    -> (tensor<50x151xf32>, tensor<151xf32>, tensor<1x151xf32>, tensor<300xf32>, tensor<50x151xf32>) {
  %t = nn.transpose %x [1, 0] : tensor<50x151xf32>
  %u = nn.transpose %t [1, 0] : tensor<151x50xf32>
  %a = nn.exp %u : tensor<50x151xf32>
  %b = nn.mul %a, %x : tensor<50x151xf32>, tensor<50x151xf32>
  %s = nn.reduce sum %b axes = [0] : tensor<50x151xf32>
  %m = nn.constant dense<0.0625> : tensor<151x151xf32>
  %w = nn.matmul %b, %m : tensor<50x151xf32>, tensor<151x151xf32>
  %c = nn.add %w, %x : tensor<50x151xf32>, tensor<50x151xf32>
  %d = nn.mul %w, %c : tensor<50x151xf32>, tensor<50x151xf32>
  %e = nn.reduce sum %d axes = [0] {keep_dims} : tensor<50x151xf32>
  %f = nn.sqrt %e : tensor<1x151xf32>
  %g = nn.reduce max %y axes = [0] : tensor<300x300xf32>
  return %b, %s, %f, %g, %d : tensor<50x151xf32>, tensor<151xf32>, tensor<1x151xf32>, tensor<300xf32>, tensor<50x151xf32>
}
