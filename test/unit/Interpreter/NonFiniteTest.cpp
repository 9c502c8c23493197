// The operation that is to blame for a NaN or an infinity, of values that functions give: planted faults, one a row.
#include "lib/Interpreter/NonFinite.h"
#include "ModuleFixture.h"
#include "mlir/IR/Location.h"
#include <cmath>

namespace sprig::interp {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class NonFinite : public ModuleFixture {
protected:
  /// What is found of the last value of a body, a tensor<2xf32> as its arguments %x and %y are; operations are named
  /// by themselves and their place.
  std::string find(const std::string &body, std::vector<double> x, std::vector<double> y = {1, 1}) {
    auto module = parse("nn.param @w = dense<[0.0, 1.0]> : tensor<2xf32>\n"
                        "nn.param @bad = dense<[0x7FC00000, 1.0]> : tensor<2xf32>\n"
                        "func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {\n" +
                        body + "\nreturn %r : tensor<2xf32>\n}");
    EXPECT_TRUE(module) << body;
    if (!module) return "";
    mlir::func::FuncOp function = onlyFunction(*module);
    NonFiniteWatcher watcher([](mlir::Operation *op) {
      auto name = llvm::dyn_cast<mlir::NameLoc>(op->getLoc());
      return op->getName().getStringRef().str() + (name ? " at " + name.getName().str() : "");
    });
    Results arguments;
    for (auto [argument, values] : llvm::zip_equal(function.getArguments(), std::array{x, y})) {
      arguments.push_back(Tensor::ofFloats(llvm::cast<mlir::RankedTensorType>(argument.getType()), values));
      watcher.setGiven(argument, arguments.back(), "the data");
    }
    RunOptions options{Precision::Rounded, &watcher};
    EXPECT_TRUE(mlir::succeeded(run(function, arguments, options))) << body;
    auto origin = watcher.of(function.getBody().front().getTerminator()->getOperand(0)).first();
    return origin ? nonfinite::textOf(*origin) : "";
  }
};

const std::string kPair = " : tensor<2xf32>, tensor<2xf32>\n", kOne = " : tensor<2xf32>\n";

TEST_F(NonFinite, FirstOperationsThatMakeThem) {
  struct Row {
    std::string body;
    std::vector<double> x, y;
    std::string found;
  } rows[] = {
      {"%r = nn.log %x" + kOne, {0, 1}, {1, 1}, "nn.log gives -infinity in 2xf32"},
      {"%r = nn.log %x" + kOne, {-1, 1}, {1, 1}, "nn.log gives NaN in 2xf32"},
      {"%r = nn.sqrt %x" + kOne, {-1, 1}, {1, 1}, "nn.sqrt gives NaN in 2xf32"},
      {"%r = nn.div %x, %y" + kPair, {0, 1}, {0, 1}, "nn.div gives NaN in 2xf32"},
      {"%r = nn.div %x, %y" + kPair, {1, 1}, {0, 1}, "nn.div gives infinity in 2xf32"},
      {"%r = nn.exp %x" + kOne, {89, 1}, {1, 1}, "nn.exp gives infinity in 2xf32"},
      {"%r = nn.mul %x, %y" + kPair, {1e20, 1}, {1e20, 1}, "nn.mul gives infinity in 2xf32"},
      {"%r = nn.pow %x, %y" + kPair, {-2, 1}, {0.5, 1}, "nn.pow gives NaN in 2xf32"},
      {"%r = nn.rsqrt %x" + kOne, {0, 1}, {1, 1}, "nn.rsqrt gives infinity in 2xf32"},
      // The first of several, whatever follows.
      {"%0 = nn.log %x : tensor<2xf32> loc(\"first\")\n%1 = nn.sqrt %0" + kOne + "%r = nn.add %1, %y" + kPair,
       {-1, 1},
       {1, 1},
       "nn.log at first gives NaN in 2xf32"},
      // Of two that meet, the earlier one.
      {"%0 = nn.sqrt %x" + kOne + "%1 = nn.log %x" + kOne + "%r = nn.add %1, %0" + kPair,
       {-1, 1},
       {1, 1},
       "nn.sqrt gives NaN in 2xf32"},
      // A NaN of an infinity, with where that arose; the sign does not matter.
      {"%0 = nn.log %x" + kOne + "%r = nn.mul %x, %0" + kPair,
       {0, 1},
       {1, 1},
       "nn.mul gives NaN in 2xf32, from the -infinity that nn.log gives in 2xf32"},
      {"%0 = nn.exp %x" + kOne + "%1 = nn.neg %0" + kOne + "%r = nn.add %1, %0" + kPair,
       {89, 1},
       {1, 1},
       "nn.add gives NaN in 2xf32, from the infinity that nn.exp gives in 2xf32"},
      {"%0 = nn.log %x" + kOne + "%r = nn.neg %0" + kOne, {0, 1}, {1, 1}, "nn.log gives -infinity in 2xf32"},
      // Values that are not chosen have no part in it.
      {"%0 = nn.sqrt %x" + kOne + "%1 = nn.log %y" + kOne + "%2 = nn.compare gt %x, %x" + kPair +
           "%r = nn.select %2, %0, %1 : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>\n",
       {-1, 1},
       {-1, 1},
       "nn.log gives NaN in 2xf32"},
      // What holds them from the start is the source where nothing else is.
      {"%r = nn.add %x, %y" + kPair, {NAN, 1}, {1, 1}, "the data holds NaN in 2xf32"},
      {"%0 = nn.get_param @bad" + kOne + "%r = nn.add %x, %0" + kPair, {1, 1}, {1, 1}, "'bad' holds NaN in 2xf32"},
      {"%0 = nn.get_param @w" + kOne + "%r = nn.log %0" + kOne, {1, 1}, {1, 1}, "nn.log gives -infinity in 2xf32"},
      {"%r = nn.sub %x, %y" + kPair,
       {kInfinity, 1},
       {kInfinity, 1},
       "nn.sub gives NaN in 2xf32, from the infinity that the data holds in 2xf32"},
  };
  for (const Row &row : rows) EXPECT_EQ(find(row.body, row.x, row.y), row.found) << row.body;
}

// %m is a mask of minus infinity for the second element.
TEST_F(NonFinite, MasksAreNotBlamed) {
  const std::string masked = "%m = nn.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>\n%s = nn.add %x, %m" + kPair +
                             "%p = nn.softmax %s axis = 0" + kOne;
  EXPECT_EQ(find(masked + "%r = nn.mul %p, %y" + kPair, {1, 2}), "");
  EXPECT_EQ(find(masked + "%0 = nn.log %y" + kOne + "%r = nn.add %p, %0" + kPair, {1, 2}, {0, 1}),
            "nn.log gives -infinity in 2xf32");
  EXPECT_EQ(find(masked + "%0 = nn.log %p" + kOne + "%r = nn.mul %p, %0" + kPair, {1, 2}),
            "nn.mul gives NaN in 2xf32, from the -infinity that nn.log gives in 2xf32");
  const std::string overflow = "%m = nn.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>\n%b = nn.mul %x, %x" + kPair +
                               "%s = nn.add %b, %m" + kPair + "%r = nn.softmax %s axis = 0" + kOne;
  EXPECT_EQ(find(overflow, {1e30, 1}), "nn.softmax gives NaN in 2xf32, from the infinity that nn.mul gives in 2xf32");
  const std::string all = "%m = nn.constant dense<0xFF800000> : tensor<2xf32>\n%s = nn.add %x, %m" + kPair +
                          "%0 = nn.sub %s, %m" + kPair + "%r = nn.exp %0" + kOne;
  EXPECT_EQ(find(all, {1, 2}), "nn.sub gives NaN in 2xf32, from the -infinity that a constant holds in 2xf32");
}

TEST_F(NonFinite, InsideRegions) {
  const std::string scan = "%h, %all = nn.scan steps = 2 over (%xt = %x : tensor<2xf32>) carry (%s = %y : "
                           "tensor<2xf32>) with (%c = %y : tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {\n"
                           "%l = nn.log %xt : tensor<f32>\n%n = nn.add %s, %l : tensor<2xf32>, tensor<f32>\n"
                           "nn.yield %n, %l : tensor<2xf32>, tensor<f32>\n}\n";
  EXPECT_EQ(find(scan + "%r = nn.add %h, %y" + kPair, {1, 0}), "nn.log gives -infinity in f32");
  EXPECT_EQ(find(scan + "%r = nn.mul %all, %y" + kPair, {1, -1}), "nn.log gives NaN in f32");
  EXPECT_EQ(find(scan + "%r = nn.add %h, %y" + kPair, {1, 2}, {kInfinity, 0}), "the data holds infinity in 2xf32");
  // Values that a step exchanges keep their origins.
  const std::string swap = "%d = nn.log %x" + kOne +
                           "%p, %q = nn.while max_steps = 3 carry (%a = %d : tensor<2xf32>, %b = %y : tensor<2xf32>) "
                           "{\n%t = nn.constant dense<true> : tensor<i1>\nnn.yield %t : tensor<i1>\n} do {\n"
                           "nn.yield %b, %a : tensor<2xf32>, tensor<2xf32>\n}\n";
  EXPECT_EQ(find(swap + "%r = nn.add %q, %y" + kPair, {0, 1}), "nn.log gives -infinity in 2xf32");
  EXPECT_EQ(find(swap + "%r = nn.add %p, %y" + kPair, {0, 1}), "");
  const std::string branch =
      "%t = nn.constant dense<true> : tensor<i1>\n%r = nn.cond %t with (%a = %x : tensor<2xf32>) "
      "-> tensor<2xf32> {\n%e = nn.exp %a : tensor<2xf32>\nnn.yield %e : tensor<2xf32>\n} else "
      "{\n%e = nn.log %a : tensor<2xf32>\nnn.yield %e : tensor<2xf32>\n}\n";
  EXPECT_EQ(find(branch, {100, 0}), "nn.exp gives infinity in 2xf32");
}

} // namespace
} // namespace sprig::interp
