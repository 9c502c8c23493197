// The compiler for C++ programs: a model in, a program that runs out.
// For embedders; no type of LLVM or MLIR is seen. What is wrong with a model or an option is thrown as sprig::Error,
// what is wrong with a call as sprig::rt::Error. Any thread may compile; a Program is used by one thread at a time.
//
//   auto program = sprig::compile(sprig::Model::file("mlp.onnx"), {.dims = {{"batch", {8}}}});
//   std::vector<float> x(8 * 784);
//   std::vector<sprig::rt::Array> y = program({sprig::rt::TensorView(x.data(), {8, 784})});
#pragma once
#include "sprig/api.h"
#include "sprig/error.h"
#include "sprig/options.h"
#include "sprig/rt/sprig_rt.hpp"
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sprig {

/// Where a model comes from. The content decides what it is: an ONNX model, MLIR text in the nn dialect, or a package.
class Model {
public:
  /// External data of an ONNX model is looked for in the file's folder.
  static Model file(std::string path) { return Model(std::move(path), {}, true); }
  /// `name` stands in messages.
  static Model bytes(std::span<const uint8_t> content, std::string name = "model in memory") {
    return Model(std::move(name), std::string(content.begin(), content.end()), false);
  }
  static Model text(std::string mlir, std::string name = "model in memory") {
    return Model(std::move(name), std::move(mlir), false);
  }

  const std::string &name() const { return modelName; }
  const std::string &content() const { return modelContent; }
  bool isFile() const { return fromFile; }

private:
  Model(std::string name, std::string content, bool isFile)
      : modelName(std::move(name)), modelContent(std::move(content)), fromFile(isFile) {}
  std::string modelName, modelContent;
  bool fromFile;
};

/// A compiled model with what one thread needs to run it. Copies of package() share the code; for another thread, make
/// another rt::Context of it.
class Program {
public:
  explicit Program(rt::Package package, const rt::ContextOptions &options = {})
      : shared(std::move(package)), context_(shared, options) {}

  /// Runs the entry that the shapes fit, into fresh arrays.
  std::vector<rt::Array> operator()(std::span<const rt::TensorView> inputs) { return context_.run(inputs); }
  std::vector<rt::Array> operator()(std::initializer_list<rt::TensorView> inputs) {
    return context_.run(std::span(inputs.begin(), inputs.size()));
  }
  const rt::Package &package() const { return shared; }
  rt::Context &context() { return context_; }

private:
  rt::Package shared;
  rt::Context context_;
};

/// The bytes of a package; a model that is one comes back as it is.
SPRIG_API std::vector<uint8_t> compileToPackage(const Model &model, const CompileOptions &options = {});

/// Compiles and loads, through the same loader that reads packages from files; `load` says on which devices.
SPRIG_API Program compile(const Model &model, const CompileOptions &options = {},
                          const rt::ContextOptions &context = {}, const rt::LoadOptions &load = {});

} // namespace sprig
