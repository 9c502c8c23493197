#include "CheckCases.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Data/Counted.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Interpreter/Interpreter.h"
#include "runtime/base/Decimal.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <filesystem>

namespace fs = std::filesystem;
using namespace mlir;

namespace sprig {
namespace {

Type typeOf(MLIRContext &context, data::DType dtype) {
  auto integer = [&](unsigned width, bool isUnsigned) -> Type {
    return IntegerType::get(&context, width, isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  switch (dtype) {
  case data::DType::f64: return Float64Type::get(&context);
  case data::DType::f32: return Float32Type::get(&context);
  case data::DType::f16: return Float16Type::get(&context);
  case data::DType::bf16: return BFloat16Type::get(&context);
  case data::DType::i64: return integer(64, false);
  case data::DType::i32: return integer(32, false);
  case data::DType::i16: return integer(16, false);
  case data::DType::i8: return integer(8, false);
  case data::DType::u64: return integer(64, true);
  case data::DType::u32: return integer(32, true);
  case data::DType::u16: return integer(16, true);
  case data::DType::u8: return integer(8, true);
  case data::DType::i1: return integer(1, false);
  }
  return {};
}

RankedTensorType typeOf(MLIRContext &context, const data::Array &array) {
  return RankedTensorType::get(array.shape, typeOf(context, array.dtype));
}

struct Failure {
  std::string text;
  bool isOfValues = false; ///< types and shapes are as expected
};

std::vector<data::Stored> readAll(const fs::path &set, const std::string &prefix,
                                  const std::vector<InterfaceValue> &values) {
  std::vector<data::Stored> all;
  for (int k = 0;; ++k) {
    fs::path file;
    for (const char *ending : {".pb", ".npy"})
      if (fs::path candidate = set / (prefix + std::to_string(k) + ending); fs::exists(candidate)) file = candidate;
    if (file.empty()) return all;
    all.push_back(data::readStored(file, size_t(k) < values.size() ? values[size_t(k)].holder : data::Holder::tensor));
  }
}

void compare(const data::Array &got, const data::Array &want, size_t k, double atol) {
  std::string name = "output " + std::to_string(k);
  if (data::describe(got) != data::describe(want))
    throw Failure{name + " is " + data::describe(got) + ", expected " + data::describe(want)};
  double rtol = 1e-3;
  if (want.dtype == data::DType::f16) rtol = 4e-3, atol = 2e-3;
  if (want.dtype == data::DType::bf16) rtol = 2e-2, atol = 2e-2;
  bool isFloat = data::isFloat(want.dtype);
  for (int64_t i = 0; i < want.elements(); ++i) {
    double g = got.at(i), w = want.at(i);
    bool equal =
        isFloat ? (std::isnan(g) && std::isnan(w)) || g == w || std::abs(g - w) <= atol + rtol * std::abs(w) : g == w;
    if (!equal)
      throw Failure{name + " element " + std::to_string(i) + " is " + decimal::general(g) + ", expected " +
                        decimal::general(w),
                    /*isOfValues=*/true};
  }
}

data::Array toArray(MLIRContext &context, const interp::Tensor &tensor, const std::string &name) {
  data::Array array{name, data::DType::f32, {tensor.shape().begin(), tensor.shape().end()}, tensor.bytes()};
  for (int k = 0; k < data::kDTypeCount; ++k)
    if (typeOf(context, data::DType(k)) == tensor.elementType()) array.dtype = data::DType(k);
  return array;
}

void checkSet(const fs::path &model, const fs::path &set, const std::map<std::string, int64_t> &dims) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ModelInterface interface = inspectONNX(model.string());
  for (const auto *values : {&interface.inputs, &interface.outputs})
    for (const InterfaceValue &value : *values)
      if (value.dtype == "no tensor") unsupported("'" + value.name + "' is no tensor");
  std::vector<data::Stored> stored = readAll(set, "input_", interface.inputs);
  std::map<std::string, data::Array> inputs;
  ImportOptions options;
  options.entries[0].dims = dims;
  context.loadDialect<ir::NNDialect>();
  for (size_t k = 0; k < stored.size() && k < interface.inputs.size(); ++k) {
    const InterfaceValue &value = interface.inputs[k];
    const data::Held held{stored[k].isPresent, int64_t(stored[k].arrays.size())};
    data::bind(value.holder, value.name, held, options.entries[0].dims);
    std::vector<std::string> names = data::namesOf(value.holder, value.name, held);
    for (size_t i = 0; i < names.size(); ++i) {
      const data::Array &array = inputs[names[i]] = stored[k].arrays[i];
      options.entries[0].shapes[names[i]] = array.shape;
      options.entries[0].values[names[i]] = ir::makeConstant(typeOf(context, array), ArrayRef<char>(array.bytes));
    }
  }
  std::vector<data::Array> outputs;
  for (data::Stored &each : readAll(set, "output_", interface.outputs))
    outputs.insert(outputs.end(), each.arrays.begin(), each.arrays.end());
  auto module = importONNX(context, model.string(), options);
  auto function = *module->getOps<func::FuncOp>().begin();
  std::vector<interp::Tensor> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto found = inputs.find(function.getArgAttrOfType<StringAttr>(i, ir::kNameAttr).str());
    if (found == inputs.end()) continue;
    arguments.push_back(interp::Tensor::ofBytes(typeOf(context, found->second), found->second.bytes));
  }
  if (arguments.size() != function.getNumArguments()) throw Failure{"has inputs without data"};
  std::string diagnostic;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    diagnostic += d.str() + "; ";
    return success();
  });
  auto results = interp::run(function, arguments, {interp::Precision::Rounded, {}});
  if (failed(results)) throw Failure{"interpreter: " + diagnostic};
  std::vector<data::Array> got;
  for (auto [i, tensor] : llvm::enumerate(*results))
    got.push_back(toArray(context, tensor, function.getResultAttrOfType<StringAttr>(unsigned(i), ir::kNameAttr).str()));
  data::cutToCounts(got);
  if (got.size() != outputs.size())
    throw Failure{"gives " + std::to_string(got.size()) + " outputs, expected " + std::to_string(outputs.size())};
  bool isBackend = set.filename().string().rfind("test_", 0) == 0;
  for (size_t k = 0; k < outputs.size(); ++k) compare(got[k], outputs[k], k, isBackend ? 1e-7 : 1e-5);
}

} // namespace

int checkCases(const std::vector<std::string> &folders, const std::map<std::string, int64_t> &dims, bool verbose) {
  std::vector<fs::path> cases;
  for (const std::string &folder : folders) {
    if (fs::exists(fs::path(folder) / "model.onnx"))
      cases.push_back(folder);
    else
      for (const auto &entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  int passed = 0, failures = 0, unsupported = 0;
  for (const fs::path &path : cases) {
    std::vector<fs::path> sets;
    for (const auto &entry : fs::directory_iterator(path))
      if (entry.is_directory() && entry.path().filename().string().find("data") != std::string::npos)
        sets.push_back(entry.path());
    std::sort(sets.begin(), sets.end());
    for (const fs::path &set : sets) {
      std::string name = path.filename().string() + "/" + set.filename().string();
      try {
        checkSet(path / "model.onnx", set, dims);
        ++passed;
        if (verbose) llvm::outs() << "PASS " << name << "\n";
      } catch (const Failure &failure) {
        if (failure.isOfValues && inspectONNX((path / "model.onnx").string()).drawsRandomNumbers) {
          ++unsupported;
          llvm::outs() << "UNSUPPORTED " << name
                       << ": draws random numbers, and what is stored is of another generator\n";
          continue;
        }
        ++failures;
        llvm::outs() << "FAIL " << name << ": " << failure.text << "\n";
      } catch (const Error &error) {
        bool refused = error.kind() == ErrorKind::unsupported;
        ++(refused ? unsupported : failures);
        llvm::outs() << (refused ? "UNSUPPORTED " : "FAIL ") << name << ": " << error.what() << "\n";
      }
      llvm::outs().flush();
    }
  }
  llvm::outs() << passed << " passed, " << failures << " failed, " << unsupported << " unsupported\n";
  return failures;
}

} // namespace sprig
