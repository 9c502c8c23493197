// Code does not grow with sizes or with the number of operands.

// Keys of an attention: from some on, loops over panels.
// RUN: sed s/KEYS/4096/g %s | sprig-opt --sprig-decompose --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v3 -o %t.4096
// RUN: sed s/KEYS/8192/g %s | sprig-opt --sprig-decompose --sprig-fuse --sprig-emit-kernels=cpu=x86-64-v3 -o %t.8192
// RUN: grep -c "" %t.4096 > %t.lines-4096
// RUN: grep -c "" %t.8192 > %t.lines-8192
// RUN: diff %t.lines-4096 %t.lines-8192
func.func @attention(%q: tensor<2x100x64xf32>, %k: tensor<2xKEYSx64xf32>, %v: tensor<2xKEYSx64xf32>) -> tensor<2x100x64xf32> {
  %t = nn.transpose %k [0, 2, 1] : tensor<2xKEYSx64xf32>
  %s = nn.matmul %q, %t : tensor<2x100x64xf32>, tensor<2x64xKEYSxf32>
  %p = nn.softmax %s axis = 2 : tensor<2x100xKEYSxf32>
  %o = nn.matmul %p, %v : tensor<2x100xKEYSxf32>, tensor<2xKEYSx64xf32>
  return %o : tensor<2x100x64xf32>
}
