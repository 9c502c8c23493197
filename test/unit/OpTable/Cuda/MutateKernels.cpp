// mutate-kernels [--list | --ptx ROW | ROW...]: what tests of CUDA kernels find. Each row's kernels are broken in one
// place at a time (test/gpu/mutation/Mutants.h), built, and run like a row of the op table: emulator with every check,
// values against the interpreter. Prints the rows with their mutants, and each that nothing found, as JSON, for
// scripts/gpu-mutate. A mutant runs in a process of its own: it may crash or never end.
#include "lib/Pipeline/Pipeline.h"
#include "test/gpu/mutation/Mutants.h"
#include "test/unit/OpTable/Cuda/CudaRows.h"
#include "test/unit/OpTable/Rows.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::optable;
using Json = nlohmann::ordered_json;

namespace {

// What a kernel has to report when one of the last `places` elements of the second argument is one of `values`.
struct Error {
  int32_t code = SPRIG_RT_KERNEL_OK;
  int64_t bound = 0;
  std::vector<int64_t> values = {};
  size_t places = 1;
};

Error outOfRange(int64_t size, size_t places = 1) {
  return {SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE, size, {size, -size - 1}, places};
}

struct Subject {
  const char *name;
  Row row;
  std::vector<std::vector<Pattern>> others = {}; // inputs beside the row's own
  Error error = {};
  Precision precision = Precision::f32;
};

std::string strides(const std::string &steps, const std::string &padding) {
  return "strides = array<i64: " + steps + ">, dilations = array<i64: 1, 1>, padding = array<i64: " + padding + ">";
}

// Of the first argument times the second.
Row scaledSoftmax(const std::string &type) {
  std::string tensor = "tensor<" + type + ">";
  return {"softmax",
          {type, "f32"},
          "%x = nn.mul %a0, %a1 : " + tensor + ", tensor<f32>\n%r = nn.softmax %x axis = 1 : " + tensor,
          {1024, 1e-12},
          {{Fill::Plain}, {Fill::Positive}}};
}

// What is beyond the edge of a matrix counts as zeros: infinities next to them show where one of the sides has none.
Row productOfReciprocals(const std::string &left, const std::string &right, const std::string &how,
                         Bound bound = {2, 5e-5}) {
  std::string lhs = "tensor<" + left + ">", rhs = "tensor<" + right + ">";
  return {"matmul",
          {left, right},
          "%x = nn.reciprocal %a0 : " + lhs + "\n%y = nn.reciprocal %a1 : " + rhs + "\n%r = nn.matmul %x, %y " + how +
              ": " + lhs + ", " + rhs,
          bound,
          {{Fill::NonZero}, {Fill::NonZero}}};
}

// Scores of the rows of the first argument, less those of a mask.
Row attention(const std::string &query, const std::string &key, const std::string &value, const std::string &scores,
              const std::string &mask) {
  auto tensor = [](const std::string &type) { return "tensor<" + type + ">"; };
  return {"attention",
          {query, key, value, mask},
          "%p = nn.matmul %a0, %a1 {transpose_rhs} : " + tensor(query) + ", " + tensor(key) +
              "\n%s = nn.sub %p, %a3 : " + tensor(scores) + ", " + tensor(mask) + "\n%w = nn.softmax %s axis = 2 : " +
              tensor(scores) + "\n%r = nn.matmul %w, %a2 : " + tensor(scores) + ", " + tensor(value),
          {64, 4e-5},
          std::vector<Pattern>(4, {Fill::Unit})};
}

// Two rows a block, and one in the last; what a stage keeps is multiplied in the next, and columns read others'.
Row twoStages() {
  return {
      "scan",
      {"3x131x36xf32", "131x18xf32", "131x16xf32", "18x36xf32", "18x20xf32"},
      R"(%r:3 = nn.scan steps = 3 over (%x = %a0 : tensor<3x131x36xf32>) carry (%s = %a1 : tensor<131x18xf32>, %t = %a2 : tensor<131x16xf32>) with (%p = %a3 : tensor<18x36xf32>, %q = %a4 : tensor<18x20xf32>) -> (tensor<131x18xf32>, tensor<131x16xf32>, tensor<3x131x18xf32>) {
  %0 = nn.matmul %s, %p : tensor<131x18xf32>, tensor<18x36xf32>
  %1 = nn.add %0, %x : tensor<131x36xf32>, tensor<131x36xf32>
  %2 = nn.slice %1 starts = [0, 0] sizes = [131, 18] steps = [1, 1] : tensor<131x36xf32>
  %3 = nn.slice %1 starts = [0, 18] sizes = [131, 18] steps = [1, 1] : tensor<131x36xf32>
  %4 = nn.sub %2, %3 : tensor<131x18xf32>, tensor<131x18xf32>
  %5 = nn.matmul %4, %q : tensor<131x18xf32>, tensor<18x20xf32>
  %6 = nn.slice %5 starts = [0, 2] sizes = [131, 18] steps = [1, 1] : tensor<131x20xf32>
  %7 = nn.slice %s starts = [0, 2] sizes = [131, 16] steps = [1, 1] : tensor<131x18xf32>
  %8 = nn.add %7, %t : tensor<131x16xf32>, tensor<131x16xf32>
  nn.yield %6, %8, %4 : tensor<131x18xf32>, tensor<131x16xf32>, tensor<131x18xf32>
})",
      {64, 4e-2},
      std::vector<Pattern>(5, {Fill::Unit})};
}

// Branches of which one has parts of several sizes, each of which reads what the one before has written.
Row branch() {
  return {"cond",
          {"7x37xf32", "37xf32", "i1"},
          R"(%r = nn.cond %a2 with (%x = %a0 : tensor<7x37xf32>, %v = %a1 : tensor<37xf32>) -> tensor<7x37xf32> {
  %0 = nn.reduce sum %x axes = [1] : tensor<7x37xf32>
  %1 = nn.reshape %0 : tensor<7xf32> to tensor<7x1xf32>
  %2 = nn.mul %1, %v : tensor<7x1xf32>, tensor<37xf32>
  %3 = nn.reduce sum %2 axes = [0] : tensor<7x37xf32>
  %4 = nn.add %x, %3 : tensor<7x37xf32>, tensor<37xf32>
  nn.yield %4 : tensor<7x37xf32>
} else {
  %0 = nn.sub %v, %x : tensor<37xf32>, tensor<7x37xf32>
  nn.yield %0 : tensor<7x37xf32>
})",
          {2, 4e-6},
          {{Fill::Unit}, {Fill::Unit}, {Fill::Distinct}}};
}

// Until a sum is small, or six steps; of all that is written, other threads read some.
Row loop() {
  return {
      "while",
      {"37xf32", "37xf32", "37x33xf32", "f32"},
      R"(%r:2 = nn.while max_steps = 6 carry (%x = %a0 : tensor<37xf32>, %y = %a1 : tensor<37xf32>) with (%m = %a2 : tensor<37x33xf32>, %t = %a3 : tensor<f32>) {
  %0 = nn.mul %x, %x : tensor<37xf32>, tensor<37xf32>
  %1 = nn.reduce sum %0 axes = [0] : tensor<37xf32>
  %2 = nn.compare gt %1, %t : tensor<f32>, tensor<f32>
  nn.yield %2 : tensor<i1>
} do {
  %0 = nn.reduce sum %x axes = [0] : tensor<37xf32>
  %1 = nn.reshape %y : tensor<37xf32> to tensor<37x1xf32>
  %2 = nn.mul %m, %1 : tensor<37x33xf32>, tensor<37x1xf32>
  %3 = nn.reduce sum %2 axes = [1] : tensor<37x33xf32>
  %4 = nn.sub %3, %0 : tensor<37xf32>, tensor<f32>
  %c = nn.constant dense<0.03125> : tensor<f32>
  %5 = nn.mul %4, %c : tensor<37xf32>, tensor<f32>
  nn.yield %5, %x : tensor<37xf32>, tensor<37xf32>
})",
      {64, 1e-6},
      {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Positive}}};
}

// The same for what is beyond the edge of an image.
Row convolutionOf(const std::string &op, const std::string &left, const std::string &right, const std::string &how) {
  std::string lhs = "tensor<" + left + ">", rhs = "tensor<" + right + ">";
  return {op,
          {left, right},
          "%y = nn.reciprocal %a1 : " + rhs + "\n%r = " + op + " %a0, %y {" + how + "} : " + lhs + ", " + rhs,
          {4, 1e-4},
          {{Fill::Unit}, {Fill::NonZero}}};
}

// With a filter whose rows lie side by side. On tensor cores padding counts as zeros: weights are finite.
Row convOfReciprocal() {
  return {"nn.conv",
          {"1x15x9x10xf32", "1x2x15x36xf32"},
          R"(%x = nn.reciprocal %a0 : tensor<1x15x9x10xf32>
%w = nn.transpose %a1 [3, 2, 0, 1] : tensor<1x2x15x36xf32>
%r = nn.conv %x, %w {)" +
              strides("2, 1", "0, 1, 0, 0") + "} : tensor<1x15x9x10xf32>, tensor<36x15x1x2xf32>",
          {0, 0.02},
          {{Fill::NonZero}, {Fill::NonZero}}};
}

// One of each family of emitters and of threads that meet, in sizes that end amid blocks, warps and vectors.
std::vector<Subject> subjects() {
  const Bound sums{2, 4e-6};
  const std::vector<Pattern> units = {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}};
  const std::string image = "15x3x9x8xf32";
  // Equal elements, of which the first or the last is wanted.
  const std::vector<std::vector<Pattern>> ties = {{{Fill::Index, 2}}};
  // Reciprocals of zeros, few of them.
  const std::vector<std::vector<Pattern>> infinities = {{{Fill::Index, 40}, {Fill::NonZero}},
                                                        {{Fill::NonZero}, {Fill::Index, 40}}};
  const std::vector<std::vector<Pattern>> borders = {{{Fill::Unit}, {Fill::Index, 40}}};
  // Rows whose values overflow unless the largest is subtracted first.
  const std::vector<std::vector<Pattern>> steep = {{{Fill::Plain}, {Fill::Distinct}},
                                                   {{Fill::Distinct}, {Fill::Distinct}}};
  // Rows of which few scores count; so large ones that they overflow unless the largest is subtracted first.
  const std::vector<std::vector<Pattern>> masks = {
      {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Plain}},
      {{Fill::Index, 400}, {Fill::Index, 400}, {Fill::Unit}, {Fill::Index, 9}}};
  // No step, all six, and limits on both sides of the first sum.
  std::vector<std::vector<Pattern>> limits = {{{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Index, 1000}},
                                              {{Fill::Unit}, {Fill::Unit}, {Fill::Unit}, {Fill::Distinct}}};
  for (int64_t most = 16; most <= 48; most += 8)
    limits.push_back({{Fill::Index, 2}, {Fill::Unit}, {Fill::Unit}, {Fill::Index, most}});
  return {
      {"add", row("nn.add %a0, %a1", {"29x33xf32", "33xf32"})},
      {"add, 128 bits", row("nn.add %a0, %a1", {"130x132xf32", "130x132xf32"})},
      {"exp", row("nn.exp %a0", {"1067xf32"}, {2}, {{Fill::Special}})},
      {"log of f64", row("nn.log %a0", {"1067xf64"}, {0.02}, {{Fill::Special}})},
      {"select", row("nn.select %a0, %a1, %a2", {"29x1xi1", "33xf32", "29x33xf32"})},
      {"division of integers",
       row("nn.div %a0, %a1", {"1067xi32", "1067xi32"}, {}, {{Fill::Special}, {Fill::NonZero}}),
       {{{}, {Fill::NonZero}}},
       {SPRIG_RT_KERNEL_DIVISION_BY_ZERO, 0, {0}}},
      {"cast to i8",
       {"cast", {"1067xi32"}, "%r = nn.cast %a0 : tensor<1067xi32> to tensor<1067xi8>", {}, {{Fill::Special}}}},
      {"transpose", row("nn.transpose %a0 [0, 2, 1]", {"7x17x9xf32"})},
      {"pad", row("nn.pad constant %a0, %a1 low = [2, 3] high = [1, 4]", {"35x17xf32", "f32"})},
      {"concat", row("nn.concat %a0, %a1 axis = 1", {"43x17xf32", "43x5xf32"})},
      {"gather",
       row("nn.gather %a0, %a1 axis = 1", {"3x7x5xf32", "2x35xi64"}, {}, {{}, {Fill::Index, 7}}),
       {},
       outOfRange(7)},
      {"matmul", row("nn.matmul %a0, %a1", {"29x5xf32", "5x33xf32"}, sums, units)},
      {"matmul by tiles", productOfReciprocals("29x19xf32", "19x33xf32", ""), infinities},
      {"matmul by tiles, transposed", productOfReciprocals("5x19x21xf32", "9x21xf32", "{transpose_rhs} "), infinities},
      // Slices that are copied while others are multiplied, more of them than there are places.
      {"matmul of memory by tiles", row("nn.matmul %a0, %a1", {"29x84xf32", "84x36xf32"}, sums, units)},
      {"matmul in parts", row("nn.matmul %a0, %a1 {transpose_lhs}", {"1030x9xf32", "1030x7xf32"}, {2, 2e-4}, units)},
      {"matmul on tensor cores",
       productOfReciprocals("35x68xf32", "68x36xf32", "", {0, 0.02}),
       infinities,
       {},
       Precision::tf32},
      {"conv", row("nn.conv %a0, %a1 {" + strides("2, 2", "1, 1, 1, 1") + "}", {image, "4x3x3x3xf32"}, sums, units)},
      {"conv by tiles", convolutionOf("nn.conv", "1x16x7x6xf32", "15x16x3x3xf32", strides("1, 1", "1, 1, 1, 1")),
       borders},
      {"conv on tensor cores", convOfReciprocal(), {infinities[0]}, {}, Precision::tf32},
      {"conv_transpose by tiles",
       convolutionOf("nn.conv_transpose", "1x16x8x6xf32", "16x15x3x3xf32",
                     strides("2, 1", "1, 1, 0, 1") + ", output_padding = array<i64: 0, 0>"),
       borders},
      {"conv_filter_grad by tiles",
       convolutionOf("nn.conv_filter_grad", "1x16x7x6xf32", "1x15x7x6xf32",
                     strides("1, 1", "1, 1, 1, 1") + ", window = array<i64: 3, 3>"),
       borders},
      {"conv_filter_grad in parts",
       convolutionOf("nn.conv_filter_grad", "5x1x17x16xf32", "5x6x15x14xf32",
                     strides("1, 1", "0, 0, 0, 0") + ", window = array<i64: 3, 3>"),
       borders},
      {"max_pool", row("nn.pool max %a0 {window = array<i64: 3, 3>, " + strides("2, 2", "1, 1, 1, 1") + "}", {image},
                       {}, {{Fill::Distinct}})},
      {"max_pool, 128 bits", row("nn.pool max %a0 {window = array<i64: 2, 2>, " + strides("2, 2", "0, 0, 0, 0") + "}",
                                 {"43x3x9x8xf32"}, {}, {{Fill::Distinct}})},
      // Roots of what is negative are NaN.
      {"arg_max_pool",
       {"arg_max_pool",
        {"15x3x10x8xf32"},
        "%x = nn.sqrt %a0 : tensor<15x3x10x8xf32>\n%r = nn.arg_max_pool %x {window = array<i64: 2, 2>, " +
            strides("2, 2", "0, 0, 0, 0") + "} : tensor<15x3x10x8xf32>",
        {},
        {}},
       ties},
      {"softmax", scaledSoftmax("229x37xf32"), steep},
      {"softmax of long rows", scaledSoftmax("61x301xf32"), steep},
      {"attention", attention("1x255x5xf32", "1x35x5xf32", "1x35x6xf32", "1x255x35xf32", "35xf32"), masks},
      {"attention of long rows", attention("15x1x4xf32", "15x301x4xf32", "15x301x5xf32", "15x1x301xf32", "301xf32"),
       masks},
      {"layer_norm", row("nn.layer_norm %a0, %a1, %a2 axis = 1 {epsilon = 0.001 : f64}",
                         {"27x33xf32", "33xf32", "33xf32"}, {64, 1e-5})},
      {"sum of few long columns", row("nn.reduce sum %a0 axes = [0]", {"1200x21xf32"}, {2, 1e-2}, units)},
      {"arg_reduce",
       {"arg_reduce",
        {"7x605xf32"},
        "%x = nn.sqrt %a0 : tensor<7x605xf32>\n%r = nn.arg_reduce max %x axis = 0 : tensor<7x605xf32>",
        {},
        {}},
       ties},
      {"arg_reduce of short rows", row("nn.arg_reduce max %a0 axis = 1", {"605x6xf32"}, {}, {{Fill::Special}}), ties},
      {"arg_reduce of long rows", row("nn.arg_reduce max %a0 axis = 1", {"57x75xf32"}, {}, {{Fill::Special}}), ties},
      {"top_k",
       {"top_k",
        {"605x7xf32"},
        "%v, %i = nn.top_k %a0 {k = 3 : i64, axis = 1 : i64} : tensor<605x7xf32>",
        {},
        {{Fill::Special}}},
       ties},
      {"cumulative", row("nn.cumulative sum %a0 axis = 1", {"605x7xi32"})},
      {"scatter_elements",
       row("nn.scatter_elements add %a0, %a1, %a2 axis = 1", {"605x7xf32", "605x4xi64", "605x4xf32"}, {4, 1e-5},
           {{}, {Fill::Index, 7}}),
       {},
       outOfRange(7, 4)},
      {"scatter_nd",
       row("nn.scatter_nd add %a0, %a1, %a2", {"5x757xf32", "23x1xi64", "23x757xf32"}, {4, 1e-5},
           {{}, {Fill::Index, 5}}),
       {},
       outOfRange(5)},
      {"scan", twoStages()},
      {"cond", branch(), {{{Fill::Unit}, {Fill::Unit}, {Fill::Special}}}},
      {"while", loop(), limits},
      {"philox", row("nn.philox %a0, %a1, %a2", {"15x1xi64", "47xi64", "15x1xi64"}, {},
                     {{Fill::Positive}, {Fill::Special}, {Fill::Special}})},
  };
}

class Mutation {
public:
  explicit Mutation(const Subject &subject) : subject(subject), rows{{subject.row}}, module(parseRows(rows.front())) {
    if (!module) throw std::runtime_error(std::string(subject.name) + ": the row is not valid");
    for (const std::vector<Pattern> &patterns : subject.others) {
      rows.push_back({subject.row});
      rows.back().front().patterns = patterns;
    }
    for (const std::vector<Row> &row : rows)
      for (Prepared &ready : prepare(*module, row)) prepared.push_back(std::move(ready));
    if (prepared.size() != rows.size()) throw std::runtime_error(std::string(subject.name) + ": the interpreter fails");
    CompileOptions options;
    options.target = "cuda";
    options.architectures = {"sm_80"};
    options.precision = subject.precision;
    runPhases(*module, options, "fuse");
    if (std::string why = emulated.take(function()); !why.empty())
      throw std::runtime_error(std::string(subject.name) + ": " + why);
    if (isFound(emulated.ptx()) != Verdict::survived)
      throw std::runtime_error(std::string(subject.name) + ": fails as it is");
  }

  const std::string &ptx() const { return emulated.ptx(); }

  Json run() {
    std::vector<gpu::Mutant> mutants = gpu::mutantsOf(emulated.ptx());
    std::map<Verdict, int> counts;
    std::map<std::string, std::vector<unsigned>> survivors;
    for (const gpu::Mutant &mutant : mutants) {
      Verdict verdict = isFound(mutant.text);
      ++counts[verdict];
      if (verdict == Verdict::survived) survivors[mutant.name()].push_back(mutant.line);
      if (verdict == Verdict::invalid)
        std::fprintf(stderr, "%s: not a program: %s\n", subject.name, mutant.name().c_str());
    }
    return {{"row", subject.name},
            {"mutants", mutants.size() - counts[Verdict::invalid]},
            {"found", counts[Verdict::found]},
            {"endless", counts[Verdict::endless]},
            {"survivors", survivors}};
  }

private:
  enum class Verdict { survived, found, invalid, endless };

  mlir::func::FuncOp function() { return module->lookupSymbol<mlir::func::FuncOp>(entryName(0)); }

  // In a child: what it writes is lost, its exit code stays.
  Verdict isFound(const std::string &text) {
    std::fflush(nullptr);
    *isBuilt = false;
    pid_t child = fork();
    if (child < 0) throw std::runtime_error("cannot start a process");
    if (child == 0) {
      if (!std::freopen("/dev/null", "w", stdout) || !std::freopen("/dev/null", "w", stderr)) _exit(3);
      _exit(judgeText(text));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && !*isBuilt) return Verdict::invalid;
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGALRM ? Verdict::endless : Verdict::found;
    switch (WEXITSTATUS(status)) {
    case 0: return Verdict::survived;
    case 1: return Verdict::found;
    case 2: return Verdict::invalid;
    default: throw std::runtime_error("a child process fails");
    }
  }

  // The exit code: 0 nothing found, 1 found, 2 no program.
  int judgeText(const std::string &text) {
    try {
      emulated.build(text);
    } catch (const std::exception &) {
      return 2;
    }
    *isBuilt = true;
    alarm(60); // many times what it takes
    for (const Prepared &each : prepared) judge(each, "mutant", emulated.run(function(), each.inputs, subject.name));
    for (size_t place = 0; place < subject.error.places; ++place)
      for (int64_t value : subject.error.values) checkError(value, place);
    return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed();
  }

  // With one value, so far from the end of the second argument.
  void checkError(int64_t value, size_t place) {
    std::vector<interp::Tensor> inputs = prepared.front().inputs;
    std::vector<char> bytes = inputs[1].bytes();
    size_t width = storageBytes(inputs[1].elementType());
    std::memcpy(bytes.data() + bytes.size() - (place + 1) * width, &value, width);
    inputs[1] = interp::Tensor::ofBytes(inputs[1].type(), bytes);
    sprig_rt_kernel_status error{};
    emulated.run(function(), inputs, subject.name, &error);
    EXPECT_TRUE(error.code == subject.error.code && error.op == 0 && error.value == value &&
                error.bound == subject.error.bound);
  }

  // What a child has written before it ends, however it ends: that its image was there to be run.
  struct Shared {
    Shared() : at(mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
      if (at == MAP_FAILED) throw std::runtime_error("no memory to share");
    }
    ~Shared() { munmap(at, 1); }
    volatile bool &operator*() const { return *static_cast<volatile bool *>(at); }
    void *at;
  } isBuilt;
  const Subject &subject;
  std::deque<std::vector<Row>> rows; // with each pattern; they stay where they are
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Prepared> prepared;
  CudaRows emulated{makeEmulatorRunner()};
};

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest();
  std::vector<std::string> words(argv + 1, argv + argc);
  bool lists = words == std::vector<std::string>{"--list"};
  bool shows = words.size() == 2 && words.front() == "--ptx";
  if (lists || shows) words.erase(words.begin());
  Json result = Json::array();
  try {
    for (const Subject &subject : subjects()) {
      if (!lists && !words.empty() && !std::erase(words, subject.name)) continue;
      if (lists)
        result.push_back(subject.name);
      else if (shows)
        std::fputs(Mutation(subject).ptx().c_str(), stdout);
      else
        result.push_back(Mutation(subject).run());
      if (!lists && words.empty() && argc > 1) break;
    }
    if (!words.empty()) throw std::runtime_error("there is no row '" + words.front() + "': --list names them");
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "error: %s\n", error.what()), 1;
  }
  if (!shows) std::puts(result.dump(1).c_str());
  return 0;
}
