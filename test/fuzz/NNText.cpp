// Text in the nn, kernel, dist and exec dialects: parsers, verifiers and inference of shapes say what is wrong, and a
// module that is sound is printed and read again the same.
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Pipeline/TextLimits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "sprig/error.h"
#include "test/fuzz/TextMutator.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace sprig::fuzz;

namespace {

// What a context has seen stays in it.
constexpr int kInputsOfContext = 2000;

void loadDialects(mlir::MLIRContext &context) {
  context.loadDialect<sprig::ir::NNDialect, sprig::kernel::KernelDialect, sprig::exec::ExecDialect,
                      mlir::func::FuncDialect, sprig::ir::dist::DistDialect>();
}

mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int inputs = 0;
  if (inputs++ % kInputsOfContext == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    loadDialects(*context);
  }
  return *context;
}

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  try {
    sprig::checkNesting(text, "fuzz.mlir"); // as every reader of users' text does
  } catch (const sprig::Error &) {
    return -1;
  }
  mlir::MLIRContext &context = freshContext();
  bool said = false;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    said |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    diagnostic.str(); // what it prints is part of what may fail
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "fuzz.mlir");
  if (!module) {
    require(said, "a refusal says why");
    return 0;
  }
  std::string once = printed(*module);
  auto again = mlir::parseSourceString<mlir::ModuleOp>(once, &context, "again.mlir");
  require(bool(again), "a module that is printed can be read:\n" + once);
  // A context that has seen a resource gives another of its name a new one.
  if (once.find("dialect_resources") == std::string::npos)
    require(printed(*again) == once, "a module that is printed reads back the same:\n" + once);
  return 0;
}

// Names of all operations, and what types and attributes are made of.
static const std::vector<std::string_view> &grammar() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> found = {"tensor<4xf32>",
                                           "tensor<2x3xf32>",
                                           "tensor<f32>",
                                           "tensor<0xf32>",
                                           "tensor<?xf32>",
                                           "tensor<*xf32>",
                                           "tensor<2xi1>",
                                           "tensor<2xi64>",
                                           "memref<2xf32>",
                                           "vector<2xf32>",
                                           "f16",
                                           "bf16",
                                           "f64",
                                           "ui8",
                                           "index",
                                           "i3",
                                           "complex<f32>",
                                           "none",
                                           "%arg0",
                                           "%0",
                                           "%0#1",
                                           "dense<1.0>",
                                           "dense<[]>",
                                           "\"0xFF\"",
                                           "array<i64>",
                                           "axes = [0]",
                                           "axis = -1",
                                           "{",
                                           "}",
                                           "(",
                                           ")",
                                           "[",
                                           "]",
                                           "->",
                                           ":",
                                           ",",
                                           "unit",
                                           "true",
                                           "loc(unknown)"};
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    loadDialects(context);
    static std::vector<std::string> names;
    for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
      names.push_back(name.getStringRef().str());
    found.insert(found.end(), names.begin(), names.end());
    return found;
  }();
  return words;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return mutateAsText(data, size, maxSize, seed, grammar());
}
