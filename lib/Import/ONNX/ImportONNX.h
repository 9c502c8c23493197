// ONNX models to the nn dialect: one function per entry, weights as nn.param symbols under the model's own names.
// For the pipeline and the command line. Everything that is wrong with a model is thrown as sprig::Error, whose text
// is `FILE:#3 'fc2' (Gemm): what is wrong, with both facts`; nothing a file says can abort the process.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "lib/Data/Holders.h"
#include "sprig/error.h"
#include "sprig/options.h"
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::onnximport {
struct Model;
}

namespace sprig {

/// Bounds that stand before any allocation, so that a hostile file cannot take the machine down.
struct ImportLimits {
  int64_t nodes = 200'000;                ///< nodes imported, unrolled iterations and inlined functions included
  int64_t nesting = 64;                   ///< depth of functions, branches and loop bodies
  int64_t loopIterations = 4096;          ///< of one unrolled Loop or Scan
  int64_t tensorBytes = int64_t(1) << 36; ///< of any one tensor
  int64_t foldedBytes = int64_t(1) << 26; ///< of a constant computed at import
};

/// One entry of the module: the sizes that its symbolic dimensions take.
struct ImportEntry {
  std::string name = "main"; ///< symbol of the function
  // Of what is no tensor, dims, shapes and values are those of the tensors that it stands for (lib/Data/Holders.h).
  std::map<std::string, int64_t> dims;       ///< symbolic dimension -> size
  std::map<std::string, LengthRange> ranges; ///< symbolic dimension -> sizes that calls choose from
  /// Symbolic dimension -> a sum of others and numbers, `past + 1`. One that is called so by the model needs none.
  std::map<std::string, std::string> sums;
  std::map<std::string, std::vector<int64_t>> shapes; ///< input -> whole shape
  /// Values of inputs. Where one decides a shape (the target of a Reshape, the axes of a reduction) it is taken as a
  /// constant, and the input leaves the entry's signature; the others are not looked at.
  std::map<std::string, mlir::ElementsAttr> values;
  /// Values that inputs always have: they are constants, and no inputs of the entry. As many as the input's shape
  /// takes.
  std::map<std::string, std::vector<double>> fixed;
};

struct ImportOptions {
  std::vector<ImportEntry> entries = {{}};
  ImportLimits limits;
  /// Keeps what an inference does without but training needs: Dropout nodes become nn.dropout on placeholders for key
  /// and counter, and batch norms carry their momentum as `nn.momentum`.
  bool training = false;
  /// Told of what is odd about a model but no error: declared shapes that do not fit the sizes of an entry.
  std::function<void(const std::string &)> warn;
};

/// An input or output of a model's graph. A dimension is a size, or a name; of outputs it may be neither (unknown).
/// Dimensions of inputs that have no name are called INPUT.INDEX, by which sizes are given to them.
struct InterfaceDim {
  std::optional<int64_t> size;
  std::string symbol;
};
struct InterfaceValue {
  std::string name;
  std::string dtype; ///< f32, i64, ui8, i1, ... or ONNX's own name where Sprig has no such type
  bool hasShape = true;
  std::vector<InterfaceDim> dims;
  data::Holder holder = data::Holder::tensor; ///< type and shape are those of each tensor
};
struct ModelInterface {
  std::vector<InterfaceValue> inputs, outputs; ///< inputs without those that have an initializer
  bool drawsRandomNumbers = false;             ///< so that results are those of a generator
};

/// A model that was parsed and checked, for whoever asks more than one thing of it. What is imported of it keeps it.
using ParsedONNX = std::shared_ptr<const onnximport::Model>;
ParsedONNX parseONNX(std::string_view bytes, const std::string &fileName, const std::string &folder);
ModelInterface inspectONNX(const onnximport::Model &model);
mlir::OwningOpRef<mlir::ModuleOp> importONNX(mlir::MLIRContext &context, const onnximport::Model &model,
                                             const ImportOptions &options = {});

/// Inputs and outputs of a model file, without importing it.
ModelInterface inspectONNX(const std::string &path);
ModelInterface inspectONNX(std::string_view bytes, const std::string &fileName);

/// Imports a file. External data is looked for in the file's folder.
mlir::OwningOpRef<mlir::ModuleOp> importONNX(mlir::MLIRContext &context, const std::string &path,
                                             const ImportOptions &options = {});

/// Imports a model from memory; `fileName` is what errors call it. `folder` holds its external data, none if empty.
mlir::OwningOpRef<mlir::ModuleOp> importONNX(mlir::MLIRContext &context, std::string_view bytes,
                                             const std::string &fileName, const std::string &folder,
                                             const ImportOptions &options = {});

/// A row of the operator table, or an operator that its standard function body serves.
struct ONNXOperator {
  std::string domain, name;
  int sinceVersion = 0;
  bool byFunction = false;
  std::vector<std::string> types; ///< element types of its first operand (or result) that Sprig has: f32, i64, ...
};
/// All of them, ordered by domain, name and version.
std::vector<ONNXOperator> supportedONNXOperators();

} // namespace sprig
