// Rows as a module: a function for each.
// For those who check the rows of the op table.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/unit/OpTable/Harness.h"

namespace sprig::optable {

mlir::MLIRContext &sharedContext();
/// The function's name of row i.
std::string entryName(size_t i);
/// Gives each row its seed.
void numberRows(std::vector<Row> &rows);
/// Of the row's name.
uint64_t hashOf(const Row &row);
/// Whether the row is compiled in every way: one in eight, or all (Harness.h).
bool isInSample(const Row &row);
/// Null where a row is not valid.
mlir::OwningOpRef<mlir::ModuleOp> parseRows(const std::vector<Row> &rows);

} // namespace sprig::optable
