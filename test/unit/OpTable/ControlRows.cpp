// Rows of branches and loops: contractions, reductions, elementwise operations and each other inside of them.
#include "test/unit/OpTable/Harness.h"
#include <gtest/gtest.h>

namespace sprig::optable {
namespace {

Row controlRow(std::string name, std::vector<std::string> arguments, std::string body, double steps = 100,
               std::vector<Pattern> patterns = {}) {
  if (patterns.empty()) patterns.assign(arguments.size(), {Fill::Unit});
  return {std::move(name), std::move(arguments), std::move(body), {steps, steps * 0x1p-23}, std::move(patterns)};
}

// Both branches, chosen by a comparison that holds or does not.
TEST(OpTable, Branches) {
  std::vector<Row> rows;
  for (const char *bound : {"-2.0", "2.0"}) {
    std::string predicate = std::string("%one = nn.slice %a0 starts = [0, 0] sizes = [1, 1] steps = [1, 1] : "
                                        "tensor<5x19xf32>\n%head = nn.reshape %one : tensor<1x1xf32> to tensor<f32>\n"
                                        "%b = nn.constant dense<") +
                            bound + "> : tensor<f32>\n%p = nn.compare lt %head, %b : tensor<f32>, tensor<f32>\n";
    rows.push_back(controlRow(std::string("a layer or a norm, below ") + bound, {"5x19xf32", "19x33xf32", "33xf32"},
                              predicate + R"(
%r:2 = nn.cond %p with (%x = %a0 : tensor<5x19xf32>, %w = %a1 : tensor<19x33xf32>, %v = %a2 : tensor<33xf32>) -> (tensor<5x33xf32>, tensor<5xf32>) {
  %0 = nn.matmul %x, %w : tensor<5x19xf32>, tensor<19x33xf32>
  %1 = nn.add %0, %v : tensor<5x33xf32>, tensor<33xf32>
  %2 = nn.softmax %1 axis = 1 : tensor<5x33xf32>
  %3 = nn.reduce max %2 axes = [1] : tensor<5x33xf32>
  nn.yield %2, %3 : tensor<5x33xf32>, tensor<5xf32>
} else {
  %0 = nn.reduce sum %x axes = [1] : tensor<5x19xf32>
  %1 = nn.reshape %0 : tensor<5xf32> to tensor<5x1xf32>
  %2 = nn.mul %1, %v : tensor<5x1xf32>, tensor<33xf32>
  %3 = nn.tanh %2 : tensor<5x33xf32>
  nn.yield %3, %0 : tensor<5x33xf32>, tensor<5xf32>
})"));
    rows.push_back(controlRow(std::string("inputs as they are, views, constants, one value twice, below ") + bound,
                              {"5x19xf32", "95xf32"}, predicate + R"(
%r:3 = nn.cond %p with (%x = %a0 : tensor<5x19xf32>, %y = %a1 : tensor<95xf32>) -> (tensor<95xf32>, tensor<2xi64>, tensor<95xf32>) {
  %0 = nn.reshape %x : tensor<5x19xf32> to tensor<95xf32>
  %1 = nn.constant dense<[3, 4]> : tensor<2xi64>
  nn.yield %0, %1, %y : tensor<95xf32>, tensor<2xi64>, tensor<95xf32>
} else {
  %0 = nn.reshape %x : tensor<5x19xf32> to tensor<95xf32>
  %1 = nn.mul %0, %y : tensor<95xf32>, tensor<95xf32>
  %2 = nn.constant dense<7> : tensor<2xi64>
  nn.yield %1, %2, %1 : tensor<95xf32>, tensor<2xi64>, tensor<95xf32>
})"));
    rows.push_back(
        controlRow(std::string("a branch in a branch, below ") + bound, {"5x19xf32", "19xf32"}, predicate + R"(
%r = nn.cond %p with (%x = %a0 : tensor<5x19xf32>, %y = %a1 : tensor<19xf32>, %q = %p : tensor<i1>) -> tensor<5x19xf32> {
  %n = nn.not %q : tensor<i1>
  %0 = nn.cond %n with (%u = %x : tensor<5x19xf32>) -> tensor<5x19xf32> {
    %1 = nn.exp %u : tensor<5x19xf32>
    nn.yield %1 : tensor<5x19xf32>
  } else {
    %1 = nn.constant dense<1.5> : tensor<f32>
    %2 = nn.sub %u, %1 : tensor<5x19xf32>, tensor<f32>
    nn.yield %2 : tensor<5x19xf32>
  }
  %3 = nn.mul %0, %y : tensor<5x19xf32>, tensor<19xf32>
  nn.yield %3 : tensor<5x19xf32>
} else {
  %0 = nn.scan steps = 5 over (%t = %x : tensor<5x19xf32>) carry (%s = %y : tensor<19xf32>) -> tensor<19xf32> {
    %1 = nn.mul %t, %s : tensor<19xf32>, tensor<19xf32>
    nn.yield %1 : tensor<19xf32>
  }
  %1 = nn.add %x, %0 : tensor<5x19xf32>, tensor<19xf32>
  nn.yield %1 : tensor<5x19xf32>
})"));
  }
  check(rows);
}

std::string counted(int64_t steps, const std::string &carry, const std::string &with, const std::string &body,
                    const std::string &results, const std::string &more = "") {
  return "%zero = nn.constant dense<0> : tensor<i64>\n%r:" + results + " = nn.while" + more +
         " carry (%k = %zero : tensor<i64>, " + carry + ")" + with + " {\n  %n = nn.constant dense<" +
         std::to_string(steps) +
         "> : tensor<i64>\n  %0 = nn.compare lt %k, %n : tensor<i64>, tensor<i64>\n  nn.yield %0 : tensor<i1>\n} do {\n"
         "  %one = nn.constant dense<1> : tensor<i64>\n  %next = nn.add %k, %one : tensor<i64>, tensor<i64>\n" +
         body + "\n}";
}

TEST(OpTable, Loops) {
  std::vector<Row> rows;
  for (int64_t steps : {0, 1, 7}) {
    std::string name = std::to_string(steps) + " steps: ";
    rows.push_back(controlRow(name + "a layer", {"3x20xf32", "20x20xf32", "20xf32"},
                              counted(steps, "%s = %a1 : tensor<20x20xf32>, %x = %a0 : tensor<3x20xf32>",
                                      " with (%b = %a2 : tensor<20xf32>)",
                                      R"(  %1 = nn.matmul %x, %s {transpose_rhs} : tensor<3x20xf32>, tensor<20x20xf32>
  %2 = nn.add %1, %b : tensor<3x20xf32>, tensor<20xf32>
  %3 = nn.tanh %2 : tensor<3x20xf32>
  %4 = nn.layer_norm %3, %b axis = 1 {epsilon = 0.1 : f64} : tensor<3x20xf32>, tensor<20xf32>
  nn.yield %next, %s, %4 : tensor<i64>, tensor<20x20xf32>, tensor<3x20xf32>)",
                                      "3"),
                              2000));
    rows.push_back(
        controlRow(name + "values change places", {"17xf32", "17xf32", "17xf32"},
                   counted(steps, "%x = %a0 : tensor<17xf32>, %y = %a1 : tensor<17xf32>, %z = %a2 : tensor<17xf32>", "",
                           R"(  %1 = nn.add %x, %y : tensor<17xf32>, tensor<17xf32>
  nn.yield %next, %y, %1, %x : tensor<i64>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>)",
                           "4")));
    rows.push_back(controlRow(name + "a value that is read after its next one is known", {"4x17xf32"},
                              counted(steps, "%x = %a0 : tensor<4x17xf32>", "",
                                      R"(  %1 = nn.transpose %x [1, 0] : tensor<4x17xf32>
  %2 = nn.sin %1 : tensor<17x4xf32>
  %3 = nn.reshape %2 : tensor<17x4xf32> to tensor<4x17xf32>
  %4 = nn.reduce sum %x axes = [0] : tensor<4x17xf32>
  %5 = nn.mul %3, %4 : tensor<4x17xf32>, tensor<17xf32>
  nn.yield %next, %5 : tensor<i64>, tensor<4x17xf32>)",
                                      "2"),
                              2000));
  }
  // The condition itself is computed of what is carried, and the least number of steps ends the loop.
  for (const char *most : {"", " max_steps = 3"})
    rows.push_back(controlRow(std::string("until a norm is small") + most, {"33xf32", "f32"},
                              std::string("%r = nn.while") + most +
                                  R"( carry (%s = %a0 : tensor<33xf32>) with (%f = %a1 : tensor<f32>) {
  %0 = nn.mul %s, %s : tensor<33xf32>, tensor<33xf32>
  %1 = nn.reduce sum %0 axes = [0] : tensor<33xf32>
  %2 = nn.constant dense<0.01> : tensor<f32>
  %3 = nn.compare gt %1, %2 : tensor<f32>, tensor<f32>
  nn.yield %3 : tensor<i1>
} do {
  %0 = nn.constant dense<0.5> : tensor<f32>
  %1 = nn.mul %s, %0 : tensor<33xf32>, tensor<f32>
  nn.yield %1 : tensor<33xf32>
})"));
  // By tiles on a GPU, each of fewer threads than the block of the loop has.
  rows.push_back(controlRow("a long product in a branch", {"5x190xf32", "190x190xf32"},
                            counted(2, "%x = %a0 : tensor<5x190xf32>", " with (%w = %a1 : tensor<190x190xf32>)", R"(
  %first = nn.compare lt %k, %one : tensor<i64>, tensor<i64>
  %1 = nn.cond %first with (%u = %x : tensor<5x190xf32>, %v = %w : tensor<190x190xf32>) -> tensor<5x190xf32> {
    %2 = nn.matmul %u, %v : tensor<5x190xf32>, tensor<190x190xf32>
    %3 = nn.softmax %2 axis = 1 : tensor<5x190xf32>
    nn.yield %3 : tensor<5x190xf32>
  } else {
    %2 = nn.matmul %u, %v {transpose_rhs} : tensor<5x190xf32>, tensor<190x190xf32>
    nn.yield %2 : tensor<5x190xf32>
  }
  nn.yield %next, %1 : tensor<i64>, tensor<5x190xf32>)",
                                    "2"),
                            2000));
  rows.push_back(controlRow("a thousand steps", {"40xf32", "40xf32"},
                            counted(1000, "%x = %a0 : tensor<40xf32>", " with (%y = %a1 : tensor<40xf32>)",
                                    R"(  %1 = nn.sin %x : tensor<40xf32>
  %2 = nn.add %1, %y : tensor<40xf32>, tensor<40xf32>
  nn.yield %next, %2 : tensor<i64>, tensor<40xf32>)",
                                    "2"),
                            1e4));
  rows.push_back(controlRow("loops and branches in loops", {"3x16xf32", "16x16xf32"},
                            counted(4, "%x = %a0 : tensor<3x16xf32>", " with (%w = %a1 : tensor<16x16xf32>)", R"(
  %two = nn.constant dense<2> : tensor<i64>
  %half = nn.rem %k, %two : tensor<i64>, tensor<i64>
  %odd = nn.compare eq %half, %one : tensor<i64>, tensor<i64>
  %1 = nn.cond %odd with (%u = %x : tensor<3x16xf32>, %v = %w : tensor<16x16xf32>) -> tensor<3x16xf32> {
    %2 = nn.matmul %u, %v : tensor<3x16xf32>, tensor<16x16xf32>
    %3 = nn.sigmoid %2 : tensor<3x16xf32>
    nn.yield %3 : tensor<3x16xf32>
  } else {
    %2 = nn.sin %u : tensor<3x16xf32>
    nn.yield %2 : tensor<3x16xf32>
  }
  %4:2 = nn.while carry (%i = %k : tensor<i64>, %y = %1 : tensor<3x16xf32>) {
    %5 = nn.constant dense<3> : tensor<i64>
    %6 = nn.compare lt %i, %5 : tensor<i64>, tensor<i64>
    nn.yield %6 : tensor<i1>
  } do {
    %5 = nn.constant dense<1> : tensor<i64>
    %6 = nn.add %i, %5 : tensor<i64>, tensor<i64>
    %7 = nn.mul %y, %y : tensor<3x16xf32>, tensor<3x16xf32>
    nn.yield %6, %7 : tensor<i64>, tensor<3x16xf32>
  }
  nn.yield %next, %4#1 : tensor<i64>, tensor<3x16xf32>)",
                                    "2"),
                            1e3));
  rows.push_back(controlRow("a loop in a scan's step, which is unrolled", {"3x8xf32", "8xf32"}, R"(
%r:2 = nn.scan steps = 3 over (%t = %a0 : tensor<3x8xf32>) carry (%s = %a1 : tensor<8xf32>) -> (tensor<8xf32>, tensor<3x8xf32>) {
  %0 = nn.while max_steps = 2 carry (%x = %t : tensor<8xf32>) with (%y = %s : tensor<8xf32>) {
    %1 = nn.constant dense<true> : tensor<i1>
    nn.yield %1 : tensor<i1>
  } do {
    %1 = nn.mul %x, %y : tensor<8xf32>, tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  }
  nn.yield %0, %0 : tensor<8xf32>, tensor<8xf32>
})"));
  check(rows);
}

} // namespace
} // namespace sprig::optable
