#include "lib/JIT/ReadModel.h"
#include "lib/Data/File.h"

using namespace sprig;

std::string sprig::readContent(const Model &model) {
  if (!model.isFile()) return model.content();
  return data::readText(model.name());
}

ModelSource sprig::sourceOf(const Model &model, const std::string &content) {
  return {content, model.name(), model.isFile() ? folderOfModel(model.name()) : "", modelKind(content, model.name())};
}

std::vector<std::map<std::string, int64_t>> sprig::entrySizes(const CompileOptions &options) {
  std::vector<std::map<std::string, int64_t>> entries(1);
  for (const auto &[name, sizes] : options.dims) {
    if (sizes.empty()) badUse("dimension '" + name + "' is given no size");
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

ImportOptions sprig::importOptions(const std::vector<std::map<std::string, int64_t>> &sizes,
                                   const CompileOptions &options, bool training) {
  if (training && !options.ranges.empty())
    unsupported("ranges['" + options.ranges.begin()->first + "']: a training step has fixed sizes");
  ImportOptions import;
  import.training = training;
  import.warn = options.report;
  import.entries.clear();
  for (const auto &dims : sizes) {
    ImportEntry entry;
    for (const auto &[dim, size] : dims)
      if (sizes.size() > 1) entry.name += "_" + dim + std::to_string(size);
    entry.dims = dims;
    entry.ranges = options.ranges;
    entry.sums = options.sums;
    entry.shapes = options.shapes;
    entry.fixed = options.values;
    import.entries.push_back(std::move(entry));
  }
  return import;
}

mlir::OwningOpRef<mlir::ModuleOp> sprig::readText(mlir::MLIRContext &context, const ModelSource &model,
                                                  const CompileOptions &options) {
  if (!options.dims.empty() || !options.ranges.empty() || !options.sums.empty() || !options.shapes.empty() ||
      !options.values.empty())
    refuseOfText(model.name, "dims, ranges, sums, shapes and values are");
  return readProgram(context, model, options.compileFrom);
}
