// The gradient table's machinery: small functions of doubles whose derivatives, made by the differentiate pass, are
// compared with central differences, all on the interpreter. A row is the body of a function; the results of its last
// operation are the outputs, its float arguments what is differentiated by. Of each row are compared: the vector-
// Jacobian product, the Jacobian-vector product, and the gradient of the sum of squares of the first (second order).
#pragma once
#include "test/unit/OpTable/InputData.h"
#include <string>
#include <vector>

namespace sprig::gradients {

using optable::Fill;
using optable::Pattern;

struct Row {
  std::string name;
  std::vector<std::string> arguments; ///< types of %a0, %a1 ... without `tensor<>`: 3x4xf64
  std::string body;
  std::vector<Pattern> patterns = {}; ///< of the arguments; Plain where there is none
  bool isLinearised = true;           ///< whether what the first gradient is made of has gradients itself
  bool isForwardOnly = false;         ///< whether it has Jacobian-vector products alone
};

/// `operation` with arguments only: makes "%r = OPERATION : TYPES".
Row row(std::string operation, std::vector<std::string> arguments, std::vector<Pattern> patterns = {});

/// Every table of this program, by the files of rows.
std::vector<Row> elementwiseRows();
std::vector<Row> contractionRows();
std::vector<Row> reductionRows();
std::vector<Row> shapeRows();
std::vector<Row> compositeRows();
std::vector<Row> structureRows();

void check(const std::vector<Row> &rows);

/// Names of the operations in the rows' bodies, regions included.
std::vector<std::string> operationsIn(const std::vector<Row> &rows);

} // namespace sprig::gradients
