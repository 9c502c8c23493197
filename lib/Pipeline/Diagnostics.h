// MLIR's diagnostics as the text of one sprig::Error.
// For everything that calls MLIR on behalf of a user and reports by exception.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "sprig/error.h"
#include <functional>
#include <mutex>
#include <string>

namespace sprig {

/// While it lives, errors of the context are kept; remarks and warnings go to the callback, if there is one.
class DiagnosticText {
public:
  using Sink = std::function<void(const std::string &line)>;
  explicit DiagnosticText(mlir::MLIRContext *context, Sink other = nullptr);

  bool empty() const { return text.empty(); }
  /// The errors, notes below them; the first line names the place. Forgets them.
  std::string take();
  /// Throws what was kept, or `fallback` when nothing was.
  [[noreturn]] void raise(ErrorKind kind, const std::string &fallback);

private:
  std::string text;
  std::mutex mutex;
  Sink other;
  mlir::ScopedDiagnosticHandler handler;
};

/// A location for people: `model.onnx:#3 'fc2'`, `file.mlir:3:7`, or the text that a front-end fused with it; empty
/// when it says nothing.
std::string describeLocation(mlir::Location location);

} // namespace sprig
