#include "test/unit/Frontend/Ops/Harness.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Record.h"
#include <cstring>

namespace sprig::test {

void expectClose(const std::string &name, const Tensor &got, const Want &want, double tolerance) {
  TensorType type{want.type, want.array.shape};
  ASSERT_EQ(describe(got.type()), describe(type)) << name;
  Array values = arrayOf(got);
  bool isExact = !isFloat(want.type);
  for (size_t i = 0; i < values.values.size(); ++i) {
    double g = values.values[i], w = want.array.values[i];
    bool agrees =
        std::isnan(w) ? std::isnan(g) : g == w || (!isExact && std::abs(g - w) <= tolerance * (1 + std::abs(w)));
    ASSERT_TRUE(agrees) << name << ": element " << i << " is " << g << ", expected " << w;
  }
}

namespace {
/// The recorded graph, compiled on its own: the dialect verifies every type on the way.
std::vector<Tensor> compiled(const std::string &name, const std::vector<Tensor> &inputs, const Many &f) {
  std::vector<TensorType> types;
  for (const Tensor &input : inputs) types.push_back(input.type());
  std::vector<Tensor> captured;
  frontend::Graph graph = frontend::traceRegion(types, [&](Inputs in) { return f(in); }, captured, Source::here());
  CompileOptions options;
  options.threads = 1;
  auto plan = frontend::compilePlan(graph, {}, options, name);
  std::vector<void *> pointers, results;
  std::vector<Tensor> all(inputs);
  all.insert(all.end(), captured.begin(), captured.end());
  for (const Tensor &input : all) pointers.push_back(const_cast<void *>(input.bytes()));
  std::vector<Tensor> outputs;
  for (uint32_t output : graph.outputs) {
    const TensorType &type = graph.types[output];
    size_t bytes = (size_t(type.bytes()) + 191) / 64 * 64;
    void *memory = std::aligned_alloc(64, bytes);
    std::memset(memory, 0, bytes);
    results.push_back(memory);
    outputs.push_back(Tensor::adopt(memory, type, int64_t(bytes), [](void *user) { std::free(user); }, memory));
  }
  plan->run(pointers, results, {});
  return outputs;
}
} // namespace

void checkMany(const std::string &name, const std::vector<Tensor> &inputs, const Many &f,
               const std::vector<Want> &wants, double tolerance) {
  try {
    std::vector<Tensor> got = f(inputs);
    ASSERT_EQ(got.size(), wants.size()) << name;
    for (size_t i = 0; i < got.size(); ++i)
      expectClose(name + " result " + std::to_string(i), got[i], wants[i], tolerance);
    std::vector<Tensor> again = compiled(name, inputs, f);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(std::memcmp(got[i].bytes(), again[i].bytes(), size_t(got[i].type().bytes())), 0)
          << name << " result " << i << ": compiled as a whole it has other bits";
  } catch (const Error &error) {
    ADD_FAILURE() << name << ": " << error.what();
  }
}

void expectRefused(int line, const std::string &op, const std::vector<std::string> &texts,
                   const std::function<void()> &f) {
  try {
    f();
    ADD_FAILURE() << op << " at line " << line << " took what it must refuse";
  } catch (const Error &error) {
    std::string what = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::usage) << what;
    std::vector<std::string> all(texts);
    all.push_back("RefusalTest.cpp:" + std::to_string(line) + ": " + op);
    for (const std::string &text : all) EXPECT_NE(what.find(text), std::string::npos) << what << "\n has no: " << text;
  }
}

} // namespace sprig::test
