// Networks as ONNX models: written, judged by ONNX, compiled by Sprig from the file, compared with the network itself.
#include "sprig/control.h"
#include "lib/Data/Largest.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/compile.h"
#include "sprig/nn.h"
#include "sprig/onnx.h"
#include "sprig/ops.h"
#include "test/unit/Frontend/OnnxModels.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::onnxexport::test;

namespace {

Tensor ramp(const Shape &shape, float scale = 0.05f) {
  std::vector<float> numbers(size_t(shape.elements()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = scale * float(int(i * 7 % 41) - 20);
  return Tensor::from(numbers, shape);
}

rt::TensorView viewOf(const Tensor &tensor) {
  return rt::TensorView(const_cast<void *>(tensor.bytes()), rt::DType(int(tensor.dtype())),
                        rt::Dims(tensor.shape().vector()));
}

/// How far the model that is read back is from the network; models are kept under SPRIG_ONNX_DUMP with their inputs
/// and outputs, for other runtimes to run.
struct Compared {
  bool sameBits = true;
  double error = 0; ///< largest |got - want| / max(1, |want|)
  onnx::ModelProto model;
};

template <typename F>
Compared compare(const std::string &name, const F &f, const std::vector<Tensor> &inputs,
                 std::vector<TensorType> types = {}, OnnxOptions options = {}) {
  if (types.empty())
    for (const Tensor &input : inputs) types.push_back(input.type());
  std::vector<uint8_t> bytes = exportOnnxBytes(f, types, options);
  Compared result;
  result.model = parsed({reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  EXPECT_EQ(complaintsOf(result.model), "");

  CompileOptions compileOptions;
  compileOptions.math = MathMode::strict;
  compileOptions.freeze = false; // constants may be folded with other roundings
  compileOptions.optimization = 1;
  for (size_t i = 0; i < types.size(); ++i)
    for (int axis = 0; axis < types[i].shape.rank(); ++axis)
      if (types[i].shape[axis] == -1) compileOptions.dims[options.batch] = {inputs[i].size(axis)};
  Program program = compile(Model::bytes(bytes, name + ".onnx"), compileOptions);
  std::vector<rt::TensorView> views;
  for (const Tensor &input : inputs) views.push_back(viewOf(input));
  std::vector<rt::Array> got = program(views);

  std::vector<Tensor> want = PackageBuilder::bodyOf(f, inputs.size(), "test", Source::here())(inputs);
  EXPECT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(size_t(want[i].type().bytes()), got[i].bytes());
    const void *data = got[i].data();
    result.sameBits &= std::memcmp(want[i].bytes(), data, size_t(want[i].type().bytes())) == 0;
    if (want[i].dtype() != DType::f32) continue;
    for (int64_t k = 0; k < want[i].numel(); ++k) {
      double a = static_cast<const float *>(data)[k], b = want[i].data<float>()[k];
      result.error = data::largest(result.error, std::fabs(a - b) / std::max(1.0, std::fabs(b)));
    }
  }
  if (const char *folder = std::getenv("SPRIG_ONNX_DUMP")) {
    std::string base = std::string(folder) + "/" + name;
    auto write = [](const std::string &path, const void *data, size_t size) {
      std::ofstream(path, std::ios::binary).write(static_cast<const char *>(data), std::streamsize(size));
    };
    write(base + ".onnx", bytes.data(), bytes.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      write(base + ".in" + std::to_string(i), inputs[i].bytes(), size_t(inputs[i].type().bytes()));
    for (size_t i = 0; i < want.size(); ++i)
      write(base + ".out" + std::to_string(i), want[i].bytes(), size_t(want[i].type().bytes()));
  }
  return result;
}

template <typename F>
Compared expectSame(const std::string &name, const F &f, const std::vector<Tensor> &inputs,
                    std::vector<TensorType> types = {}, OnnxOptions options = {}) {
  Compared result = compare(name, f, inputs, std::move(types), options);
  EXPECT_TRUE(result.sameBits) << name << " differs by " << result.error;
  return result;
}
template <typename F>
Compared expectClose(const std::string &name, const F &f, const std::vector<Tensor> &inputs,
                     std::vector<TensorType> types = {}, OnnxOptions options = {}) {
  Compared result = compare(name, f, inputs, std::move(types), options);
  EXPECT_LE(result.error, 1e-6) << name;
  return result;
}

const TensorType kBatched{DType::f32, {-1, 12}};

struct Mlp : nn::Module {
  nn::Linear a = add("a", nn::Linear(12, 16)), b = add("b", nn::Linear(16, 5));
  Tensor operator()(const Tensor &x) const { return b(relu(a(x))); }
};

TEST(OnnxExport, Mlp) {
  Mlp net;
  Compared c = expectSame("mlp", net, {ramp({7, 12})}, {kBatched},
                          {.inputs = {"image"}, .outputs = {"scores"}, .batch = "n", .name = "mlp"});
  EXPECT_EQ(operatorsOf(c.model), "Gemm Relu Gemm");
  const onnx::GraphProto &graph = c.model.graph();
  EXPECT_EQ(graph.name(), "mlp");
  EXPECT_EQ(graph.input(0).name(), "image");
  EXPECT_EQ(graph.input(0).type().tensor_type().shape().dim(0).dim_param(), "n");
  EXPECT_EQ(graph.output(0).name(), "scores");
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(0).dim_param(), "n");
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(1).dim_value(), 5);
  std::vector<std::string> names;
  for (const auto &initializer : graph.initializer()) names.push_back(initializer.name());
  EXPECT_EQ(names, (std::vector<std::string>{"a.weight", "a.bias", "b.weight", "b.bias"}));
  EXPECT_EQ(graph.node(0).name(), "a/Gemm");
  EXPECT_EQ(graph.node(0).doc_string().substr(0, 19), "OnnxExportTest.cpp:");
  EXPECT_EQ(c.model.opset_import(0).version(), 17);
}

struct LeNet : nn::Module {
  nn::Conv2d c1 = add("c1", nn::Conv2d(1, 4, 5, {.padding = 2})), c2 = add("c2", nn::Conv2d(4, 6, 5));
  nn::Linear f1 = add("f1", nn::Linear(6 * 5 * 5, 20)), f2 = add("f2", nn::Linear(20, 10));
  Tensor operator()(const Tensor &x) const {
    Tensor y = maxPool2d(relu(c1(x)), 2);
    y = avgPool2d(tanh(c2(y)), 2);
    return logSoftmax(f2(sigmoid(f1(flatten(y, 1)))), -1);
  }
};

TEST(OnnxExport, LeNet) {
  LeNet net;
  Compared c = expectSame("lenet", net, {ramp({3, 1, 28, 28})}, {{DType::f32, {-1, 1, 28, 28}}});
  // A bias is an operand of its convolution, and the batch of a reshape is what is left.
  EXPECT_EQ(operatorsOf(c.model), "Conv Relu MaxPool Conv Tanh AveragePool Reshape Gemm Sigmoid Gemm LogSoftmax");
  EXPECT_EQ(c.model.graph().node(0).input_size(), 3);
  EXPECT_EQ(c.model.graph().node(0).input(2), "c1.bias");
}

struct Block : nn::Module {
  nn::Conv2d c1 = add("conv1", nn::Conv2d(4, 8, 3, {.stride = 2, .padding = 1, .bias = false}));
  nn::BatchNorm2d n1 = add("bn1", nn::BatchNorm2d(8));
  nn::Conv2d c2 = add("conv2", nn::Conv2d(8, 8, 3, {.padding = 1, .bias = false}));
  nn::BatchNorm2d n2 = add("bn2", nn::BatchNorm2d(8));
  nn::Conv2d down = add("downsample", nn::Conv2d(4, 8, 1, {.stride = 2}));
  Tensor operator()(const Tensor &x) const { return relu(n2(c2(relu(n1(c1(x))))) + down(x)); }
};

TEST(OnnxExport, ResidualBlock) {
  Block net;
  net.n1.runningMean.set(ramp({8}, 0.01f));
  net.n1.runningVariance.set(ramp({8}, 0.01f) + 1.0);
  net.eval();
  Compared c = expectSame("resnet_block", net, {ramp({2, 4, 10, 10})}, {{DType::f32, {-1, 4, 10, 10}}});
  EXPECT_EQ(operatorsOf(c.model), "Conv BatchNormalization Relu Conv BatchNormalization Conv Add Relu");
  net.train();
  std::string text = errorOf([&] { exportOnnxBytes(net, {{DType::f32, {2, 4, 10, 10}}}); });
  EXPECT_NE(text.find("sets the parameter 'bn1."), std::string::npos) << text;
  EXPECT_NE(text.find("(layer 'bn1')"), std::string::npos) << text;
  EXPECT_NE(text.find("eval()"), std::string::npos) << text;
}

TEST(OnnxExport, Transformer) {
  nn::TransformerEncoderLayer layer(16, 4, {.feedForward = 32, .batchFirst = true});
  layer.eval();
  auto f = [&](const Tensor &x) { return layer(x); };
  for (int opset : {17, 21}) {
    Compared c = expectClose("transformer" + std::to_string(opset), f, {ramp({3, 6, 16})}, {{DType::f32, {-1, 6, 16}}},
                             {.opset = opset});
    EXPECT_NE(operatorsOf(c.model).find("LayerNormalization"), std::string::npos);
    EXPECT_NE(operatorsOf(c.model).find("Softmax"), std::string::npos);
  }
}

TEST(OnnxExport, Recurrent) {
  Tensor x = ramp({5, 3, 6});
  std::vector<TensorType> types{{DType::f32, {5, -1, 6}}};
  nn::LSTM lstm(6, 8, {.layers = 2, .bidirectional = true});
  auto runLstm = [&](const Tensor &x) {
    auto r = lstm(x);
    return std::tuple(r.output, r.h, r.c);
  };
  Compared c = expectSame("lstm", runLstm, {x}, types, {.outputs = {"y", "h", "c"}});
  EXPECT_NE(operatorsOf(c.model).find("LSTM"), std::string::npos);
  nn::GRU gru(6, 8);
  expectSame("gru", [&](const Tensor &x) { return gru(x).output; }, {x}, types);
  nn::RNN rnn(6, 8, {}, RnnActivation::relu);
  expectSame("rnn", [&](const Tensor &x) { return rnn(x).output; }, {x}, types);
}

TEST(OnnxExport, Norms) {
  nn::LayerNorm layer(Ints{6, 6});
  nn::GroupNorm group(2, 4);
  nn::InstanceNorm2d instance(4, {.affine = true});
  nn::RMSNorm rms(6);
  auto f = [&](const Tensor &x) { return std::tuple(layer(x), group(x), instance(x), rms(x)); };
  expectClose("norms17", f, {ramp({2, 4, 6, 6})}, {{DType::f32, {-1, 4, 6, 6}}});
  Compared c = expectClose("norms21", f, {ramp({2, 4, 6, 6})}, {{DType::f32, {-1, 4, 6, 6}}}, {.opset = 21});
  EXPECT_NE(operatorsOf(c.model).find("GroupNormalization"), std::string::npos);
}

TEST(OnnxExport, Activations) {
  auto f = [](const Tensor &x) {
    return std::tuple(gelu(x), silu(x), mish(x), softplus(x), elu(x), log1p(exp(x)), expm1(x), rsqrt(exp(x)));
  };
  expectClose("activations17", f, {ramp({4, 30}, 0.2f)}, {{DType::f32, {-1, 30}}});
  Compared c = expectClose("activations20", f, {ramp({4, 30}, 0.2f)}, {{DType::f32, {-1, 30}}}, {.opset = 20});
  EXPECT_EQ(operatorsOf(c.model).substr(0, 4), "Gelu");
}

// Quantisers around products; what runs on integers is what was trained, up to a step where a sum is about between two.
TEST(OnnxExport, QuantisationAware) {
  for (int bits : {8, 4}) {
    nn::Sequential net(nn::Conv2d(1, 4, 3, {.padding = 1}), nn::ReLU(), nn::Flatten(), nn::Linear(64, 5));
    nn::quantizeAware(net, {.weightBits = bits});
    Tensor x = ramp({8, 1, 4, 4});
    net(x);
    net.eval();
    Compared compared = compare("quantisation aware", net, {x}, {{DType::f32, {-1, 1, 4, 4}}});
    EXPECT_LT(compared.error, 1e-6);
    std::string operators = operatorsOf(compared.model);
    size_t pairs = 0;
    for (size_t at = 0; (at = operators.find("QuantizeLinear", at)) != std::string::npos; ++at) ++pairs;
    EXPECT_EQ(pairs, 4u) << operators;
    std::vector<uint8_t> bytes = exportOnnxBytes(net, {x.type()});
    Program integers = compile(Model::bytes(bytes, "integers.onnx"));
    std::vector<rt::Array> got = integers({viewOf(x)});
    const float *numbers = static_cast<const float *>(got[0].data());
    std::vector<float> wanted = net(x).toVector<float>();
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(numbers[i], wanted[i], 5e-3) << bits << " bits, " << i;
  }
}

// Quantisers of halves came with opset 19, integers of 16 bits with 21.
TEST(OnnxExport, QuantisersOfOlderOpsets) {
  Tensor scale = full({}, 0.125, DType::f16), zero = full({}, 3, DType::i8);
  auto halves = [&](const Tensor &x) { return fakeQuantize(x.to(DType::f16), scale, zero).to(DType::f32); };
  Tensor x = ramp({4, 12});
  for (int opset : {17, 19}) {
    Compared c = expectClose("halves", halves, {x}, {kBatched}, {.opset = opset});
    for (const onnx::NodeProto &node : c.model.graph().node())
      if (node.op_type() == "QuantizeLinear")
        EXPECT_EQ(operatorsOf(c.model).find("Cast QuantizeLinear") == std::string::npos, opset == 19)
            << operatorsOf(c.model);
  }
  Tensor wide = full({}, 0.01), wideZero = full({}, 3, DType::i16);
  auto words = [&](const Tensor &x) { return fakeQuantize(x, wide, wideZero); };
  expectClose("words", words, {x}, {kBatched}, {.opset = 21});
  std::string text = errorOf([&] { exportOnnxBytes(words, {kBatched}, {.opset = 20}); });
  EXPECT_NE(text.find("ONNX has integers of 16 bits there from opset 21 on, and the model is to have opset 20"),
            std::string::npos)
      << text;
}

TEST(OnnxExport, BatchInShapes) {
  // Sizes that are multiples of the batch, a reversed batch, a constant and numbers as long as the batch.
  auto f = [](const Tensor &x) {
    int64_t n = x.size(0);
    Tensor flat = x.reshape({n * 3, 4}), halves = cat({x, x}, 0);
    Tensor second = slice(halves, 0, n, 2 * n);
    Tensor filled = full({n, 4}, 0.5), counted = reshape(arange(n), {n, 1}).to(DType::f32);
    return std::tuple(flat, flip(x, 0), second, broadcastTo(mean(x, 0), {n, 12}), filled + counted);
  };
  expectSame("batch", f, {ramp({5, 12})}, {kBatched});
  // One that is no multiple, and a value that depends on the batch.
  std::string text = errorOf([&] { exportOnnxBytes([](const Tensor &x) { return slice(x, 0, 1); }, {kBatched}); });
  EXPECT_NE(text.find("slice"), std::string::npos) << text;
  EXPECT_NE(text.find("1 with batch 2 and 2 with batch 3"), std::string::npos) << text;
  int line = __LINE__ + 1;
  auto scaled = [](const Tensor &x) { return x * (1.0 / double(x.size(0))); };
  text = errorOf([&] { exportOnnxBytes(scaled, {kBatched}); });
  EXPECT_NE(text.find("OnnxExportTest.cpp:" + std::to_string(line)), std::string::npos) << text;
  EXPECT_NE(text.find("depends on the batch"), std::string::npos) << text;
  line = __LINE__ + 3;
  auto looped = [](Tensor x) {
    int64_t n = x.size(0);
    for (int64_t i = 0; i < n; ++i) x = tanh(x);
    return x;
  };
  text = errorOf([&] { exportOnnxBytes(looped, {kBatched}); });
  EXPECT_NE(text.find("OnnxExportTest.cpp:" + std::to_string(line) + ": tanh"), std::string::npos) << text;
  EXPECT_NE(text.find("2 operations with batch 2 and 3 with batch 3"), std::string::npos) << text;
}

TEST(OnnxExport, ControlFlow) {
  Tensor w = ramp({4, 4});
  auto branch = [&](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return matmul(x, w); }, [&] { return x * 2.0; });
  };
  Compared c = expectSame("cond", branch, {ramp({3, 4}) + 1.0});
  EXPECT_NE(operatorsOf(c.model).find("If"), std::string::npos);
  expectSame("cond_else", branch, {ramp({3, 4}) - 1.0});
  auto recurrence = [&](const Tensor &x) {
    return scan(
        [&](Tensor h, Tensor step) {
          Tensor next = tanh(step + matmul(h, w));
          return std::pair(next, next);
        },
        ramp({2, 4}), x, {.reverse = true});
  };
  c = expectSame("scan", recurrence, {ramp({5, 2, 4})});
  EXPECT_NE(operatorsOf(c.model).find("Scan"), std::string::npos);
  auto doubled = [](const Tensor &x) {
    return whileLoop([](Tensor x) { return sum(x) < 100; }, [](Tensor x) { return x * 2.0; }, x, {.maxSteps = 9});
  };
  c = expectSame("while", doubled, {ramp({3}) + 1.0});
  EXPECT_NE(operatorsOf(c.model).find("Loop"), std::string::npos);
  auto unbounded = [&](const Tensor &x) {
    Tensor limit = sum(w) + 50.0;
    return whileLoop([&](Tensor x) { return sum(x) < limit; }, [&](Tensor x) { return x * 3.0; }, x);
  };
  expectSame("while_unbounded", unbounded, {ramp({3}) + 1.0});
}

TEST(OnnxExport, TiedAndCaptured) {
  struct Tied : nn::Module {
    nn::Embedding table = add("table", nn::Embedding(11, 6));
    Tensor operator()(const Tensor &tokens) const { return matmul(table(tokens), transpose(table.weight)); }
  } net;
  Tensor tokens = Tensor::from(std::vector<int64_t>{1, 10, 3, 0}, {2, 2});
  Compared c = expectSame("tied", net, {tokens}, {{DType::i64, {-1, 2}}});
  EXPECT_EQ(c.model.graph().initializer_size(), 1);
  EXPECT_EQ(c.model.graph().initializer(0).name(), "table.weight");
  // The input itself as an output, the same value twice, and a tensor of outside as a constant.
  Tensor table = ramp({3});
  c = expectSame("outputs", [&](const Tensor &x) { return std::tuple(x, x + table, x + table, table); }, {ramp({3})});
  EXPECT_EQ(c.model.graph().initializer_size(), 0);
  EXPECT_EQ(c.model.graph().output_size(), 4);
}

TEST(OnnxExport, RefusalsNameOperationLayerAndLine) {
  struct Net : nn::Module {
    nn::Linear a = add("a", nn::Linear(4, 4));
    nn::Dropout d = add("drop", nn::Dropout(0.5));
    Tensor operator()(const Tensor &x) const { return d(a(x)); }
  } net;
  std::vector<TensorType> types{{DType::f32, {2, 4}}};
  std::string text = errorOf([&] { exportOnnxBytes(net, types); });
  EXPECT_EQ(text.substr(0, 19), "OnnxExportTest.cpp:") << text;
  EXPECT_NE(text.find("(layer 'drop'): is random"), std::string::npos) << text;
  net.eval();
  EXPECT_EQ(errorOf([&] { exportOnnxBytes(net, types); }), "no error");

  int line = __LINE__ + 1;
  auto product = [](const Tensor &x) { return cumprod(x, 1); };
  text = errorOf([&] { exportOnnxBytes(product, types); });
  EXPECT_EQ(text, "OnnxExportTest.cpp:" + std::to_string(line) +
                      ": cumulative: runs a product; ONNX has running sums only before opset 26");
  EXPECT_NE(errorOf([&] { exportOnnxBytes(net, types, {.opset = 16}); }).find("opset 16; expected 17 to 21"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { exportOnnxBytes(net, {types[0], types[0]}); }).find("exportOnnx: the function does not take"),
            std::string::npos);
  EXPECT_NE(errorOf([&] { exportOnnxBytes(net, types, {.inputs = {"x"}, .outputs = {"x"}}); }).find("called 'x'"),
            std::string::npos);
}

TEST(OnnxExport, AnInputMayHaveItsValueForGood) {
  auto scaled = [](const Tensor &x, const Tensor &by) { return x * by; };
  auto bytes = exportOnnxBytes(scaled, {{DType::f32, {2}}, {DType::f32, {1}}}, {.inputs = {"x", "by"}});
  auto program = compile(Model::bytes(bytes), {.values = {{"by", {3}}}});
  std::vector<float> x = {1, -2};
  auto y = program({rt::TensorView(x.data(), {2})});
  auto *values = static_cast<const float *>(y[0].data());
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[1], -6);
  auto with = [&](CompileOptions options) { return errorOf([&] { compile(Model::bytes(bytes, "m"), options); }); };
  EXPECT_EQ(with({.values = {{"by", {3, 4}}}}), "m: input 'by' is a 1xf32 and is given 2 values");
  EXPECT_EQ(with({.values = {{"to", {3}}}}), "m: has no input 'to' to give a value");
}

TEST(OnnxExport, FilesAppearWholeOrNotAtAll) {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "sprig-onnx-export-test";
  std::filesystem::create_directories(folder);
  std::string path = (folder / "net.onnx").string();
  Mlp net;
  exportOnnx(path, net, {kBatched});
  auto size = std::filesystem::file_size(path);
  EXPECT_GT(size, 1000u);
  CompileOptions two;
  two.dims = {{"batch", {2}}};
  EXPECT_EQ(compile(Model::file(path), two).package().entryCount(), 1u);
  EXPECT_NE(errorOf([&] { exportOnnx(path, [](const Tensor &x) { return cumprod(x, 1); }, {kBatched}); }), "no error");
  EXPECT_EQ(std::filesystem::file_size(path), size);
  EXPECT_NE(errorOf([&] { exportOnnx((folder / "no" / "net.onnx").string(), net, {kBatched}); }), "no error");
  std::filesystem::remove_all(folder);
}

} // namespace
