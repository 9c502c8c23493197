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
/// Of the row's name: the same on every machine.
uint64_t hashOf(const Row &row);
/// Whether the row is compiled in every way (Harness.h): of a sample, one in eight is.
bool isInEveryWay(const Row &row, Depth depth);
/// Null where a row is not valid.
mlir::OwningOpRef<mlir::ModuleOp> parseRows(const std::vector<Row> &rows);

} // namespace sprig::optable
