// Attention in a branch beside another product, whose tiles lie in shared memory too.
func.func @main(%q: tensor<12x1024x64xf32>, %k: tensor<12x1024x64xf32>, %v: tensor<12x1024x64xf32>, %x: tensor<8x512xf32>,
                %w: tensor<512x256xf32>, %which: tensor<i1>) -> (tensor<12x1024x64xf32>, tensor<8x256xf32>) {
  %r:2 = nn.cond %which with (%a = %q : tensor<12x1024x64xf32>, %b = %k : tensor<12x1024x64xf32>, %c = %v : tensor<12x1024x64xf32>,
                              %y = %x : tensor<8x512xf32>, %u = %w : tensor<512x256xf32>)
      -> (tensor<12x1024x64xf32>, tensor<8x256xf32>) {
    %0 = nn.matmul %a, %b {transpose_rhs} : tensor<12x1024x64xf32>, tensor<12x1024x64xf32>
    %1 = nn.softmax %0 axis = 2 : tensor<12x1024x1024xf32>
    %2 = nn.matmul %1, %c : tensor<12x1024x1024xf32>, tensor<12x1024x64xf32>
    %3 = nn.matmul %y, %u : tensor<8x512xf32>, tensor<512x256xf32>
    nn.yield %2, %3 : tensor<12x1024x64xf32>, tensor<8x256xf32>
  } else {
    %3 = nn.matmul %y, %u : tensor<8x512xf32>, tensor<512x256xf32>
    nn.yield %c, %3 : tensor<12x1024x64xf32>, tensor<8x256xf32>
  }
  return %r#0, %r#1 : tensor<12x1024x64xf32>, tensor<8x256xf32>
}
