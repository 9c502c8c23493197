// A training step whose network chooses a layer by data, with its loss scaled and its gradient clipped by branches; loops
// that end by data, one of them without a step, and branches and loops in each other.
func.func @main(%x: tensor<8x6xf32>, %w: tensor<6x20xf32>, %v: tensor<20x3xf32>, %t: tensor<8x3xf32>)
    -> (tensor<6x20xf32>, tensor<20x3xf32>, tensor<f32>, tensor<20xf32>, tensor<20xf32>, tensor<3xf32>) {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %mean = nn.reduce sum %x axes = [0, 1] : tensor<8x6xf32>
  %p = nn.compare gt %mean, %zero : tensor<f32>, tensor<f32>
  %hidden = nn.cond %p with (%a = %x : tensor<8x6xf32>, %b = %w : tensor<6x20xf32>) -> tensor<8x20xf32> {
    %0 = nn.matmul %a, %b : tensor<8x6xf32>, tensor<6x20xf32>
    %1 = nn.tanh %0 : tensor<8x20xf32>
    nn.yield %1 : tensor<8x20xf32>
  } else {
    %0 = nn.matmul %a, %b : tensor<8x6xf32>, tensor<6x20xf32>
    %1 = nn.sin %0 : tensor<8x20xf32>
    %2 = nn.softmax %1 axis = 1 : tensor<8x20xf32>
    nn.yield %2 : tensor<8x20xf32>
  }
  %y = nn.matmul %hidden, %v : tensor<8x20xf32>, tensor<20x3xf32>
  %off = nn.sub %y, %t : tensor<8x3xf32>, tensor<8x3xf32>
  %squares = nn.mul %off, %off : tensor<8x3xf32>, tensor<8x3xf32>
  %loss = nn.reduce sum %squares axes = [0, 1] : tensor<8x3xf32>
  %scale = nn.constant dense<1024.0> : tensor<f32>
  %scaled = nn.mul %loss, %scale : tensor<f32>, tensor<f32>
  %g:2 = nn.gradient %scaled wrt %w, %v : (tensor<f32>, tensor<6x20xf32>, tensor<20x3xf32>) -> (tensor<6x20xf32>, tensor<20x3xf32>)

  // The step: left out where a gradient overflowed, smaller where it is long.
  %s0 = nn.mul %g#0, %g#0 : tensor<6x20xf32>, tensor<6x20xf32>
  %s1 = nn.mul %g#1, %g#1 : tensor<20x3xf32>, tensor<20x3xf32>
  %n0 = nn.reduce sum %s0 axes = [0, 1] : tensor<6x20xf32>
  %n1 = nn.reduce sum %s1 axes = [0, 1] : tensor<20x3xf32>
  %n = nn.add %n0, %n1 : tensor<f32>, tensor<f32>
  %most = nn.constant dense<1.0e30> : tensor<f32>
  %finite = nn.compare lt %n, %most : tensor<f32>, tensor<f32>
  %next:2 = nn.cond %finite with (%a = %w : tensor<6x20xf32>, %b = %v : tensor<20x3xf32>, %da = %g#0 : tensor<6x20xf32>, %db = %g#1 : tensor<20x3xf32>, %m = %n : tensor<f32>, %c = %scale : tensor<f32>, %u = %one : tensor<f32>) -> (tensor<6x20xf32>, tensor<20x3xf32>) {
    %norm = nn.sqrt %m : tensor<f32>
    %length = nn.div %norm, %c : tensor<f32>, tensor<f32>
    %limit = nn.constant dense<0.001> : tensor<f32>
    %long = nn.compare gt %length, %limit : tensor<f32>, tensor<f32>
    %rate = nn.cond %long with (%l = %length : tensor<f32>, %k = %limit : tensor<f32>, %d = %c : tensor<f32>) -> tensor<f32> {
      %0 = nn.div %k, %l : tensor<f32>, tensor<f32>
      %1 = nn.div %0, %d : tensor<f32>, tensor<f32>
      nn.yield %1 : tensor<f32>
    } else {
      %0 = nn.reciprocal %d : tensor<f32>
      nn.yield %0 : tensor<f32>
    }
    %0 = nn.mul %da, %rate : tensor<6x20xf32>, tensor<f32>
    %1 = nn.mul %db, %rate : tensor<20x3xf32>, tensor<f32>
    %2 = nn.sub %a, %0 : tensor<6x20xf32>, tensor<6x20xf32>
    %3 = nn.sub %b, %1 : tensor<20x3xf32>, tensor<20x3xf32>
    nn.yield %2, %3 : tensor<6x20xf32>, tensor<20x3xf32>
  } else {
    nn.yield %a, %b : tensor<6x20xf32>, tensor<20x3xf32>
  }

  // The largest direction of the new weights by power iteration: at most 50 steps, and no step when it begins at the end.
  %first = nn.constant dense<1.0> : tensor<20xf32>
  %far = nn.constant dense<1.0e9> : tensor<f32>
  %it:2 = nn.while max_steps = 50 carry (%q = %first : tensor<20xf32>, %d = %far : tensor<f32>) with (%a = %next#0 : tensor<6x20xf32>) {
    %limit = nn.constant dense<0.001> : tensor<f32>
    %0 = nn.compare gt %d, %limit : tensor<f32>, tensor<f32>
    nn.yield %0 : tensor<i1>
  } do {
    %0 = nn.reshape %q : tensor<20xf32> to tensor<20x1xf32>
    %1 = nn.matmul %a, %0 : tensor<6x20xf32>, tensor<20x1xf32>
    %2 = nn.matmul %a, %1 {transpose_lhs} : tensor<6x20xf32>, tensor<6x1xf32>
    %3 = nn.reshape %2 : tensor<20x1xf32> to tensor<20xf32>
    %4 = nn.mul %3, %3 : tensor<20xf32>, tensor<20xf32>
    %5 = nn.reduce sum %4 axes = [0] : tensor<20xf32>
    %6 = nn.rsqrt %5 : tensor<f32>
    %7 = nn.mul %3, %6 : tensor<20xf32>, tensor<f32>
    %8 = nn.sub %7, %q : tensor<20xf32>, tensor<20xf32>
    %9 = nn.abs %8 : tensor<20xf32>
    %10 = nn.reduce max %9 axes = [0] : tensor<20xf32>
    nn.yield %7, %10 : tensor<20xf32>, tensor<f32>
  }
  %none = nn.while carry (%q = %it#0 : tensor<20xf32>) with (%d = %it#1 : tensor<f32>) {
    %0 = nn.compare ne %d, %d : tensor<f32>, tensor<f32>
    nn.yield %0 : tensor<i1>
  } do {
    %0 = nn.exp %q : tensor<20xf32>
    nn.yield %0 : tensor<20xf32>
  }

  // A branch in a loop in a branch, over the rows of the targets.
  %start = nn.constant dense<0> : tensor<i64>
  %sum = nn.constant dense<0.0> : tensor<3xf32>
  %always = nn.compare ge %far, %one : tensor<f32>, tensor<f32>
  %total = nn.cond %always with (%rows = %t : tensor<8x3xf32>, %k0 = %start : tensor<i64>, %s = %sum : tensor<3xf32>, %z = %zero : tensor<f32>) -> tensor<3xf32> {
    %2:2 = nn.while carry (%k = %k0 : tensor<i64>, %c = %s : tensor<3xf32>) with (%r = %rows : tensor<8x3xf32>, %o = %z : tensor<f32>) {
      %eight = nn.constant dense<8> : tensor<i64>
      %0 = nn.compare lt %k, %eight : tensor<i64>, tensor<i64>
      nn.yield %0 : tensor<i1>
    } do {
      %1 = nn.constant dense<1> : tensor<i64>
      %3 = nn.add %k, %1 : tensor<i64>, tensor<i64>
      %4 = nn.gather %r, %k axis = 0 : tensor<8x3xf32>, tensor<i64>
      %5 = nn.reduce sum %4 axes = [0] : tensor<3xf32>
      %6 = nn.compare gt %5, %o : tensor<f32>, tensor<f32>
      %7 = nn.cond %6 with (%e = %4 : tensor<3xf32>, %f = %c : tensor<3xf32>) -> tensor<3xf32> {
        %8 = nn.cumulative sum %e axis = 0 : tensor<3xf32>
        %9 = nn.add %8, %f : tensor<3xf32>, tensor<3xf32>
        nn.yield %9 : tensor<3xf32>
      } else {
        nn.yield %f : tensor<3xf32>
      }
      nn.yield %3, %7 : tensor<i64>, tensor<3xf32>
    }
    nn.yield %2#1 : tensor<3xf32>
  } else {
    nn.yield %s : tensor<3xf32>
  }
  return %next#0, %next#1, %loss, %it#0, %none, %total : tensor<6x20xf32>, tensor<20x3xf32>, tensor<f32>, tensor<20xf32>, tensor<20xf32>, tensor<3xf32>
}
