// Modules from text and their functions, for tests of the interpreter.
#pragma once
#include "dialects/Kernel/KernelDialect.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace sprig::interp {

class ModuleFixture : public testing::Test {
protected:
  ModuleFixture() { context.loadDialect<ir::NNDialect, kernel::KernelDialect, mlir::func::FuncDialect>(); }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  static mlir::func::FuncOp onlyFunction(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }

  mlir::MLIRContext context;
};

} // namespace sprig::interp
