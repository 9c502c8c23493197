#include "test/unit/OpTable/Rows.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/xxhash.h"
#include <cstdlib>

namespace sprig::optable {

std::string entryName(size_t i) { return "row" + std::to_string(i); }

mlir::MLIRContext &sharedContext() {
  static mlir::MLIRContext context(
      [] {
        mlir::DialectRegistry registry;
        registerSprigDialects(registry);
        return registry;
      }(),
      mlir::MLIRContext::Threading::DISABLED);
  return context;
}

namespace {

// A row as a function that returns the results of its last operation.
std::string functionText(const Row &row, size_t i) {
  std::string text = "func.func @" + entryName(i) + "(";
  for (size_t a = 0; a < row.arguments.size(); ++a)
    text += (a ? ", %a" : "%a") + std::to_string(a) + ": tensor<" + row.arguments[a] + ">";
  return text + ") {\n" + row.body + "\nreturn\n}\n";
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> parseRows(const std::vector<Row> &rows) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) text += functionText(rows[i], i);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &sharedContext());
  if (!module) return nullptr;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    mlir::Block &block = function.getBody().front();
    mlir::Operation *last = block.getTerminator()->getPrevNode();
    block.getTerminator()->setOperands(last->getResults());
    function.setFunctionType(
        mlir::FunctionType::get(&sharedContext(), function.getArgumentTypes(), last->getResultTypes()));
  }
  return mlir::failed(mlir::verify(*module)) ? nullptr : std::move(module);
}

void numberRows(std::vector<Row> &rows) {
  for (size_t i = 0; i < rows.size(); ++i) rows[i].seed = 100 * i;
}

uint64_t hashOf(const Row &row) { return llvm::xxh3_64bits(row.name); }

bool isInEveryWay(const Row &row, Depth depth) {
  static const bool all = std::getenv("SPRIG_TEST_EVERY_WAY") != nullptr;
  return all || depth == Depth::everyWay || hashOf(row) % 8 == 0;
}

std::string typeList(const std::vector<std::string> &arguments) {
  std::string text;
  for (const std::string &argument : arguments) text += (text.empty() ? "tensor<" : ", tensor<") + argument + ">";
  return text;
}

Row row(std::string operation, std::vector<std::string> arguments, Bound bound, std::vector<Pattern> patterns) {
  std::string name = operation + " : " + typeList(arguments);
  return {name, arguments, "%r = " + name, bound, std::move(patterns)};
}

} // namespace sprig::optable
