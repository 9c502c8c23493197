// From a planned program and its images to the bytes of a package.
// For the pipeline's package phase. The same module and images give the same bytes; docs/package-format.md has the
// format.
#pragma once
#include "lib/Target/Image.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <utility>
#include <vector>

namespace sprig {

struct PackageSizes {
  size_t metadata = 0, constants = 0, code = 0, total = 0;
};

/// `facts` are key and value, for people. A failure has been reported on the module.
mlir::FailureOr<std::vector<uint8_t>> writePackage(mlir::ModuleOp program, llvm::ArrayRef<PackageImage> images,
                                                   llvm::StringRef producer,
                                                   llvm::ArrayRef<std::pair<std::string, std::string>> facts,
                                                   PackageSizes *sizes = nullptr);

} // namespace sprig
