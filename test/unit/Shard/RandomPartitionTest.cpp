// Random graphs with random shardings on random meshes, against the whole.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/unit/Shard/Ranks.h"
#include <gtest/gtest.h>
#include <random>

namespace sprig::shard {
namespace {

struct Value {
  std::string name;
  std::vector<int64_t> shape;
  std::string type() const {
    std::string text = "tensor<";
    for (int64_t size : shape) text += std::to_string(size) + "x";
    return text + "f64>";
  }
};

std::string listOf(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

class RandomGraph {
public:
  explicit RandomGraph(uint64_t seed) : random(seed) {}

  std::string write() {
    std::string text = "dist.mesh @mesh [\"a\", \"b\"] [" + std::to_string(1 + below(4)) + ", " +
                       std::to_string(1 + below(3)) + "]\nfunc.func @f(";
    for (int i = 0; i < 3; ++i) {
      std::vector<int64_t> shape;
      for (uint64_t dim = 0, rank = 2 + below(2); dim < rank; ++dim) shape.push_back(sizes[below(5)]);
      values.push_back({"%x" + std::to_string(i), shape});
      text += (i ? ", " : "") + values.back().name + ": " + values.back().type();
      if (i == 0 || below(3)) text += " {dist.sharding = " + sharding(shape.size(), below(4) == 0) + "}";
    }
    for (int i = 0; i < 12; ++i) add();
    std::string results, types;
    for (size_t i = values.size() - 3; i < values.size(); ++i) {
      results += (results.empty() ? "" : ", ") + values[i].name;
      types += (types.empty() ? "" : ", ") + values[i].type();
    }
    std::string stated;
    for (size_t i = values.size() - 3; i < values.size(); ++i) {
      stated += (stated.empty() ? "" : ", ") + values[i].type();
      if (below(3) == 0) stated += " {dist.sharding = " + sharding(values[i].shape.size(), false) + "}";
    }
    return text + ") -> (" + stated + ") {\n" + body + "  return " + results + " : " + types + "\n}\n";
  }

private:
  uint64_t below(uint64_t count) { return random() % count; }
  const Value &any() { return values[below(values.size())]; }
  size_t anyDim(const Value &value) { return below(value.shape.size()); }

  std::string sharding(size_t rank, bool mayBePartial) {
    std::vector<std::string> dims(rank), axes = {"\"a\"", "\"b\""};
    std::string partial;
    if (below(2)) std::swap(axes[0], axes[1]);
    for (const std::string &axis : axes) {
      uint64_t place = below(rank + 1);
      if (place < rank)
        dims[place] += (dims[place].empty() ? "" : ", ") + axis;
      else if (mayBePartial)
        partial += (partial.empty() ? "" : ", ") + axis;
    }
    std::string text = "#dist.sharding<@mesh, [";
    for (size_t i = 0; i < rank; ++i) text += std::string(i ? ", " : "") + "[" + dims[i] + "]";
    return text + "]" + (partial.empty() ? "" : ", partial sum [" + partial + "]") + ">";
  }

  void give(std::vector<int64_t> shape, const std::string &operation) {
    values.push_back({"%" + std::to_string(next++), std::move(shape)});
    body += "  " + values.back().name + " = " + operation + "\n";
  }

  static bool broadcasts(const std::vector<int64_t> &from, const std::vector<int64_t> &to) {
    if (from.size() > to.size()) return false;
    for (size_t i = 1; i <= from.size(); ++i)
      if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i]) return false;
    return true;
  }

  void add() {
    Value x = any();
    std::vector<int64_t> shape = x.shape;
    size_t dim = shape.empty() ? 0 : anyDim(x);
    const char *unary[] = {"nn.tanh", "nn.neg", "nn.relu", "nn.gelu", "nn.sin"};
    if (shape.empty() || below(7) == 0)
      return give(shape, std::string(unary[below(5)]) + " " + x.name + " : " + x.type());
    switch (below(12)) {
    case 0:
    case 1: { // with itself, or with what has the same shape or broadcasts to it
      Value y = x;
      for (int i = 0; i < 8 && y.name == x.name; ++i)
        if (const Value &other = any(); broadcasts(other.shape, shape)) y = other;
      const char *binary[] = {"nn.add", "nn.mul", "nn.sub", "nn.max"};
      return give(shape,
                  std::string(binary[below(4)]) + " " + x.name + ", " + y.name + " : " + x.type() + ", " + y.type());
    }
    case 2: { // a product of the last dimensions
      Value y = any();
      if (shape.size() < 2) return;
      bool fits = y.shape.size() >= 2 && y.shape.back() == shape.back() &&
                  (y.shape.size() == 2 ||
                   (y.shape.size() == shape.size() && std::equal(shape.begin(), shape.end() - 2, y.shape.begin())));
      if (!fits) y = x;
      std::vector<int64_t> result = shape;
      result.back() = y.shape[y.shape.size() - 2];
      return give(result, "nn.matmul " + x.name + ", " + y.name + " {transpose_rhs} : " + x.type() + ", " + y.type());
    }
    case 3:
    case 4: { // a reduction
      const char *kinds[] = {"reduce sum", "reduce max", "reduce_mean"};
      shape.erase(shape.begin() + int64_t(dim));
      return give(shape, std::string("nn.") + kinds[below(3)] + " " + x.name + " axes = [" + std::to_string(dim) +
                             "] : " + x.type());
    }
    case 5: { // a permutation
      std::vector<int64_t> order(shape.size()), turned;
      for (size_t i = 0; i < order.size(); ++i) order[i] = int64_t((i + dim) % order.size());
      for (int64_t from : order) turned.push_back(shape[size_t(from)]);
      return give(turned, "nn.transpose " + x.name + " [" + listOf(order) + "] : " + x.type());
    }
    case 6: { // dimensions become one, or one becomes two
      std::vector<int64_t> other = shape;
      if (shape.size() > 1 && below(2)) {
        size_t at = below(shape.size() - 1);
        other[at] *= other[at + 1];
        other.erase(other.begin() + int64_t(at) + 1);
      } else if (shape[dim] % 2 == 0) {
        other[dim] /= 2;
        other.insert(other.begin() + int64_t(dim), 2);
      }
      Value to{"", other};
      return give(other, "nn.reshape " + x.name + " : " + x.type() + " to " + to.type());
    }
    case 7: { // along an axis
      const char *kinds[] = {"nn.softmax", "nn.log_softmax", "nn.cumulative sum"};
      return give(shape,
                  std::string(kinds[below(3)]) + " " + x.name + " axis = " + std::to_string(dim) + " : " + x.type());
    }
    case 8: { // a part
      std::vector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
      if (shape[dim] > 1) shape[dim] -= 1, starts[dim] = 1;
      return give(shape, "nn.slice " + x.name + " starts = [" + listOf(starts) + "] sizes = [" + listOf(shape) +
                             "] steps = [" + listOf(steps) + "] : " + x.type());
    }
    case 9:
      shape[dim] *= 2;
      return give(shape, "nn.concat " + x.name + ", " + x.name + " axis = " + std::to_string(dim) + " : " + x.type() +
                             ", " + x.type());
    case 10: { // a loss, of what has the same shape
      Value y = x;
      for (int i = 0; i < 8 && y.name == x.name; ++i)
        if (const Value &other = any(); other.shape == shape) y = other;
      const char *reductions[] = {"none", "sum", "mean"};
      uint64_t reduction = below(3);
      return give(reduction ? std::vector<int64_t>() : shape, std::string("nn.huber_loss ") + reductions[reduction] +
                                                                  " " + x.name + ", " + y.name + " : " + x.type() +
                                                                  ", " + y.type());
    }
    default: return give(shape, "dist.shard " + x.name + " : " + x.type() + " to " + sharding(shape.size(), false));
    }
  }

  static constexpr int64_t sizes[5] = {1, 2, 3, 4, 6};
  std::mt19937_64 random;
  std::vector<Value> values;
  std::string body;
  int next = 0;
};

TEST(RandomPartition, RanksTogetherAreTheWhole) {
  mlir::MLIRContext context;
  context.loadDialect<ir::NNDialect, ir::dist::DistDialect, mlir::func::FuncDialect>();
  llvm::StringMap<int> counts;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::string text = RandomGraph(seed).write();
    Outcome outcome = compareRanks(context, text, seed);
    ASSERT_EQ(outcome.error, "") << "seed " << seed << "\n" << text;
    ASSERT_EQ(compareUnpropagated(context, text, seed).error, "") << "seed " << seed << ", unpropagated\n" << text;
    for (auto &entry : outcome.counts) counts[entry.first()] += entry.second;
  }
  // They have met in all that the partition makes.
  for (const char *kind : {"all_reduce", "reduce_scatter", "all_gather", "all_to_all"})
    EXPECT_GT(counts[kind], 10) << kind;
}

} // namespace
} // namespace sprig::shard
