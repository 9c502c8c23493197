// For the generated sources of the dialects (dialects/OpKind.cpp.in).
#pragma once
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OperationSupport.h"

namespace sprig {

template <typename... Ops> void registerOperations(mlir::Dialect &dialect) {
  (mlir::RegisteredOperationName::insert<Ops>(dialect), ...);
}

} // namespace sprig
