#include "lib/JIT/ReadModel.h"
#include "dialects/NN/Attributes.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "lib/Pipeline/ReadText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace sprig;

std::string sprig::readContent(const Model &model) {
  if (!model.isFile()) return model.content();
  auto buffer = llvm::MemoryBuffer::getFile(model.name(), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer) throw Error(ErrorKind::badInput, model.name() + ": cannot be read: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

bool sprig::isPackage(const std::string &content) { return content.starts_with("SPRIGPKG"); }

// ONNX is a protobuf message: its first bytes are a field's tag and no text. MLIR text has neither zero nor control
// characters but white space.
static bool looksLikeText(const std::string &content) {
  for (unsigned char c : std::string_view(content).substr(0, 256))
    if (c < 32 && c != '\n' && c != '\r' && c != '\t') return false;
  return true;
}

std::vector<std::map<std::string, int64_t>> sprig::entrySizes(const CompileOptions &options) {
  std::vector<std::map<std::string, int64_t>> entries(1);
  for (const auto &[name, sizes] : options.dims) {
    if (sizes.empty()) throw Error(ErrorKind::usage, "dimension '" + name + "' is given no size");
    std::vector<std::map<std::string, int64_t>> product;
    for (const auto &entry : entries)
      for (int64_t size : sizes) {
        product.push_back(entry);
        product.back()[name] = size;
      }
    entries = std::move(product);
  }
  return entries;
}

mlir::OwningOpRef<mlir::ModuleOp> sprig::readEntries(mlir::MLIRContext &context, const Model &model,
                                                     const std::string &content,
                                                     const std::vector<std::map<std::string, int64_t>> &sizes,
                                                     const CompileOptions &options, bool training) {
  ImportOptions import;
  import.training = training;
  import.entries.clear();
  for (const auto &dims : sizes) {
    ImportEntry entry;
    for (const auto &[dim, size] : dims)
      if (sizes.size() > 1) entry.name += "_" + dim + std::to_string(size);
    entry.dims = dims;
    entry.shapes = options.shapes;
    entry.fixed = options.values;
    import.entries.push_back(std::move(entry));
  }
  std::string folder;
  if (model.isFile()) {
    size_t slash = model.name().rfind('/');
    folder = slash == std::string::npos ? "." : model.name().substr(0, slash + 1);
  }
  auto module = importONNX(context, content, model.name(), folder, import);
  // Entries of one model are one program to the caller: the runtime picks among equal names by shape.
  for (auto function : module->getOps<mlir::func::FuncOp>())
    function->setAttr(ir::kEntryAttr, mlir::StringAttr::get(&context, "main"));
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> sprig::readModule(mlir::MLIRContext &context, const Model &model,
                                                    const std::string &content, const CompileOptions &options) {
  if (content.empty()) throw Error(ErrorKind::badInput, model.name() + ": is empty, expected a model");
  if (!looksLikeText(content))
    return readEntries(context, model, content, entrySizes(options), options, /*training=*/false);
  if (!options.dims.empty() || !options.shapes.empty() || !options.values.empty())
    throw Error(ErrorKind::usage, model.name() +
                                      ": is MLIR text, whose inputs and their shapes are fixed; dims, shapes "
                                      "and values are for ONNX models");
  return readText(context, content, model.name(), options.compileFrom);
}
