// Rows of operations that hold functions: scans, parts that are computed again, parts with gradients of their own.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

std::vector<Row> structureRows() {
  std::vector<Row> rows;
  auto add = [&](std::string name, std::vector<std::string> arguments, std::string body) {
    rows.push_back({std::move(name), std::move(arguments), std::move(body), {}});
    rows.back().patterns.assign(rows.back().arguments.size(), {Fill::Unit});
  };
  for (const char *reverse : {"", " reverse"})
    add(std::string("scan: a layer over time") + reverse, {"4x2x3xf64", "2x2xf64", "3x2xf64", "2x2xf64", "2xf64"},
        std::string("%r:2 = nn.scan steps = 4") + reverse +
            R"( over (%x = %a0 : tensor<4x2x3xf64>) carry (%s = %a1 : tensor<2x2xf64>) with (%w = %a2 : tensor<3x2xf64>, %u = %a3 : tensor<2x2xf64>, %b = %a4 : tensor<2xf64>) -> (tensor<2x2xf64>, tensor<4x2x2xf64>) {
  %0 = nn.matmul %x, %w : tensor<2x3xf64>, tensor<3x2xf64>
  %1 = nn.matmul %s, %u {transpose_rhs} : tensor<2x2xf64>, tensor<2x2xf64>
  %2 = nn.add %0, %1 : tensor<2x2xf64>, tensor<2x2xf64>
  %3 = nn.add %2, %b : tensor<2x2xf64>, tensor<2xf64>
  %4 = nn.tanh %3 : tensor<2x2xf64>
  nn.yield %4, %3 : tensor<2x2xf64>, tensor<2x2xf64>
})");
  add("scan: states change places, an invariant's square", {"3x2xf64", "2xf64", "2xf64", "2xf64"},
      R"(%r:3 = nn.scan steps = 3 over (%x = %a0 : tensor<3x2xf64>) carry (%s = %a1 : tensor<2xf64>, %t = %a2 : tensor<2xf64>) with (%w = %a3 : tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<3x2xf64>) {
  %0 = nn.mul %w, %w : tensor<2xf64>, tensor<2xf64>
  %1 = nn.mul %s, %0 : tensor<2xf64>, tensor<2xf64>
  %2 = nn.add %1, %x : tensor<2xf64>, tensor<2xf64>
  nn.yield %t, %2, %x : tensor<2xf64>, tensor<2xf64>, tensor<2xf64>
})");
  add("scan: an invariant that every step gives out, a count that is carried", {"2xf64", "2xf64"},
      R"(%n = nn.constant dense<0> : tensor<i64>
%r:4 = nn.scan steps = 3 carry (%s = %a0 : tensor<2xf64>, %k = %n : tensor<i64>) with (%w = %a1 : tensor<2xf64>) -> (tensor<2xf64>, tensor<i64>, tensor<3x2xf64>, tensor<3xi64>) {
  %one = nn.constant dense<1> : tensor<i64>
  %next = nn.add %k, %one : tensor<i64>, tensor<i64>
  %f = nn.cast %next : tensor<i64> to tensor<f64>
  %0 = nn.mul %s, %f : tensor<2xf64>, tensor<f64>
  %1 = nn.sin %0 : tensor<2xf64>
  nn.yield %1, %next, %w, %k : tensor<2xf64>, tensor<i64>, tensor<2xf64>, tensor<i64>
}
%r2 = nn.mul %r#0, %r#0 : tensor<2xf64>, tensor<2xf64>
%r3 = nn.reduce sum %r#2 axes = [0] : tensor<3x2xf64>
%q = nn.mul %r2, %r3 : tensor<2xf64>, tensor<2xf64>)");
  add("scan: only its last state counts", {"3x2xf64", "2xf64"},
      R"(%h:2 = nn.scan steps = 3 over (%x = %a0 : tensor<3x2xf64>) carry (%s = %a1 : tensor<2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %0 = nn.mul %s, %x : tensor<2xf64>, tensor<2xf64>
  %1 = nn.exp %0 : tensor<2xf64>
  nn.yield %1, %1 : tensor<2xf64>, tensor<2xf64>
}
%r = nn.mul %h#0, %a1 : tensor<2xf64>, tensor<2xf64>)");
  add("a scan after a scan", {"3x2xf64", "2xf64"},
      R"(%h:2 = nn.scan steps = 3 over (%x = %a0 : tensor<3x2xf64>) carry (%s = %a1 : tensor<2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %0 = nn.add %s, %x : tensor<2xf64>, tensor<2xf64>
  %1 = nn.sin %0 : tensor<2xf64>
  nn.yield %1, %1 : tensor<2xf64>, tensor<2xf64>
}
%r:2 = nn.scan steps = 3 reverse over (%x = %h#1 : tensor<3x2xf64>) carry (%s = %h#0 : tensor<2xf64>) with (%i = %a1 : tensor<2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>) {
  %0 = nn.mul %s, %x : tensor<2xf64>, tensor<2xf64>
  %1 = nn.add %0, %i : tensor<2xf64>, tensor<2xf64>
  %2 = nn.cos %1 : tensor<2xf64>
  nn.yield %2, %0 : tensor<2xf64>, tensor<2xf64>
})");
  add("a layer inside a scan's step", {"2x1x3xf64", "1x3xf64", "3xf64"},
      R"(%r:2 = nn.scan steps = 2 over (%x = %a0 : tensor<2x1x3xf64>) carry (%s = %a1 : tensor<1x3xf64>) with (%w = %a2 : tensor<3xf64>) -> (tensor<1x3xf64>, tensor<2x1x3xf64>) {
  %0 = nn.layer_norm %s, %w axis = 1 {epsilon = 0.01 : f64} : tensor<1x3xf64>, tensor<3xf64>
  %1 = nn.gelu %0 : tensor<1x3xf64>
  %2 = nn.softmax %1 axis = 1 : tensor<1x3xf64>
  %3 = nn.add %2, %x : tensor<1x3xf64>, tensor<1x3xf64>
  nn.yield %3, %1 : tensor<1x3xf64>, tensor<1x3xf64>
})");
  add("checkpoint", {"4xf64", "4xf64"},
      R"(%0 = nn.sin %a0 : tensor<4xf64>
%r = "nn.checkpoint"(%0, %a1) ({
^bb0(%x: tensor<4xf64>, %y: tensor<4xf64>):
  %1 = nn.mul %x, %y : tensor<4xf64>, tensor<4xf64>
  %2 = nn.exp %1 : tensor<4xf64>
  nn.yield %2 : tensor<4xf64>
}) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
%q = nn.mul %r, %a1 : tensor<4xf64>, tensor<4xf64>)");
  add("checkpoint in a checkpoint, with dropout and an integer", {"4xf64", "4xf64"},
      R"(%k = nn.constant dense<5> : tensor<i64>
%r:2 = "nn.checkpoint"(%a0, %a1, %k) ({
^bb0(%x: tensor<4xf64>, %y: tensor<4xf64>, %key: tensor<i64>):
  %1 = nn.dropout %x, %key, %key {ratio = 0.5 : f64} : tensor<4xf64>, tensor<i64>, tensor<i64>
  %2 = "nn.checkpoint"(%1, %y) ({
  ^bb0(%p: tensor<4xf64>, %q: tensor<4xf64>):
    %3 = nn.mul %p, %q : tensor<4xf64>, tensor<4xf64>
    %4 = nn.tanh %3 : tensor<4xf64>
    nn.yield %4 : tensor<4xf64>
  }) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  nn.yield %2, %key : tensor<4xf64>, tensor<i64>
}) : (tensor<4xf64>, tensor<4xf64>, tensor<i64>) -> (tensor<4xf64>, tensor<i64>)
%s = nn.exp %r#0 : tensor<4xf64>)");
  add("a custom gradient that is right", {"4xf64"},
      R"(%r:2 = "nn.custom_gradient"(%a0) ({
^bb0(%a: tensor<4xf64>):
  %0 = nn.exp %a : tensor<4xf64>
  %n = nn.constant dense<1> : tensor<i64>
  nn.yield %0, %n : tensor<4xf64>, tensor<i64>
}, {
^bb0(%a: tensor<4xf64>, %y: tensor<4xf64>, %n: tensor<i64>, %g: tensor<4xf64>, %none: tensor<i64>):
  %0 = nn.mul %g, %y : tensor<4xf64>, tensor<4xf64>
  %1 = nn.cast %none : tensor<i64> to tensor<f64>
  %2 = nn.add %0, %1 : tensor<4xf64>, tensor<f64>
  nn.yield %2 : tensor<4xf64>
}) : (tensor<4xf64>) -> (tensor<4xf64>, tensor<i64>)
%s = nn.sin %r#0 : tensor<4xf64>)");
  add("behind others", {"4xf64", "2xf64"},
      R"(%0 = nn.sin %a0 : tensor<4xf64>
%1 = nn.after %0, %a1 : tensor<4xf64>, tensor<2xf64>
%r = nn.mul %1, %0 : tensor<4xf64>, tensor<4xf64>)");
  for (const char *taken : {"lt", "ge"})
    add(std::string("cond: the branch of ") + taken, {"2x3xf64", "3x2xf64", "2xf64"},
        std::string(R"(%one = nn.slice %a2 starts = [0] sizes = [1] steps = [1] : tensor<2xf64>
%first = nn.reshape %one : tensor<1xf64> to tensor<f64>
%c = nn.constant dense<2.0> : tensor<f64>
%p = nn.compare )") +
            taken +
            R"( %first, %c : tensor<f64>, tensor<f64>
%r:3 = nn.cond %p with (%x = %a0 : tensor<2x3xf64>, %w = %a1 : tensor<3x2xf64>, %b = %a2 : tensor<2xf64>) -> (tensor<2x2xf64>, tensor<i64>, tensor<2xf64>) {
  %0 = nn.matmul %x, %w : tensor<2x3xf64>, tensor<3x2xf64>
  %1 = nn.add %0, %b : tensor<2x2xf64>, tensor<2xf64>
  %2 = nn.gelu %1 : tensor<2x2xf64>
  %3 = nn.constant dense<1> : tensor<i64>
  nn.yield %2, %3, %b : tensor<2x2xf64>, tensor<i64>, tensor<2xf64>
} else {
  %0 = nn.softmax %w axis = 0 : tensor<3x2xf64>
  %1 = nn.reduce sum %0 axes = [0] : tensor<3x2xf64>
  %2 = nn.mul %1, %b : tensor<2xf64>, tensor<2xf64>
  %3 = nn.mul %2, %2 : tensor<2xf64>, tensor<2xf64>
  %4 = nn.broadcast %3 : tensor<2xf64> to tensor<2x2xf64>
  %5 = nn.constant dense<2> : tensor<i64>
  nn.yield %4, %5, %3 : tensor<2x2xf64>, tensor<i64>, tensor<2xf64>
}
%q = nn.mul %r#0, %r#2 : tensor<2x2xf64>, tensor<2xf64>)");
  add("cond in a scan's step", {"4x2xf64", "2xf64"},
      R"(%n = nn.constant dense<false> : tensor<i1>
%r:3 = nn.scan steps = 4 over (%x = %a0 : tensor<4x2xf64>) carry (%s = %a1 : tensor<2xf64>, %f = %n : tensor<i1>) -> (tensor<2xf64>, tensor<i1>, tensor<4x2xf64>) {
  %0 = nn.cond %f with (%u = %x : tensor<2xf64>, %v = %s : tensor<2xf64>) -> tensor<2xf64> {
    %1 = nn.mul %u, %v : tensor<2xf64>, tensor<2xf64>
    nn.yield %1 : tensor<2xf64>
  } else {
    %1 = nn.sin %v : tensor<2xf64>
    nn.yield %1 : tensor<2xf64>
  }
  %2 = nn.not %f : tensor<i1>
  nn.yield %0, %2, %0 : tensor<2xf64>, tensor<i1>, tensor<2xf64>
}
%q = nn.mul %r#0, %a1 : tensor<2xf64>, tensor<2xf64>)");
  // No gradient flows through the loop itself.
  add("cond of what a while has counted", {"3xf64"},
      R"(%k = nn.constant dense<1> : tensor<i64>
%n = nn.while carry (%i = %k : tensor<i64>) {
  %0 = nn.constant dense<20> : tensor<i64>
  %1 = nn.compare lt %i, %0 : tensor<i64>, tensor<i64>
  nn.yield %1 : tensor<i1>
} do {
  %0 = nn.add %i, %i : tensor<i64>, tensor<i64>
  nn.yield %0 : tensor<i64>
}
%f = nn.cast %n : tensor<i64> to tensor<f64>
%r = nn.mul %a0, %f : tensor<3xf64>, tensor<f64>
%s = nn.sin %r : tensor<3xf64>)");
  // Some values are carried without depending on an argument at first, and some never do.
  add("while: tangents go along", {"2x3xf64", "3x3xf64", "3xf64"},
      R"(%z = nn.constant dense<0.0> : tensor<2x3xf64>
%k = nn.constant dense<0> : tensor<i64>
%in = nn.sin %a0 : tensor<2x3xf64>
%l:4 = nn.while max_steps = 20 carry (%x = %in : tensor<2x3xf64>, %y = %z : tensor<2x3xf64>, %i = %k : tensor<i64>, %c = %z : tensor<2x3xf64>) with (%w = %a1 : tensor<3x3xf64>, %b = %a2 : tensor<3xf64>) {
  %0 = nn.constant dense<3> : tensor<i64>
  %1 = nn.compare lt %i, %0 : tensor<i64>, tensor<i64>
  nn.yield %1 : tensor<i1>
} do {
  %0 = nn.matmul %x, %w : tensor<2x3xf64>, tensor<3x3xf64>
  %1 = nn.softmax %0 axis = 1 : tensor<2x3xf64>
  %2 = nn.mul %1, %b : tensor<2x3xf64>, tensor<3xf64>
  %3 = nn.add %y, %x : tensor<2x3xf64>, tensor<2x3xf64>
  %4 = nn.constant dense<1> : tensor<i64>
  %5 = nn.add %i, %4 : tensor<i64>, tensor<i64>
  %6 = nn.exp %c : tensor<2x3xf64>
  nn.yield %2, %3, %5, %6 : tensor<2x3xf64>, tensor<2x3xf64>, tensor<i64>, tensor<2x3xf64>
}
%m = nn.mul %l#0, %l#1 : tensor<2x3xf64>, tensor<2x3xf64>
%r = nn.mul %m, %in : tensor<2x3xf64>, tensor<2x3xf64>)");
  rows.back().isForwardOnly = true;
  return rows;
}

} // namespace sprig::gradients
