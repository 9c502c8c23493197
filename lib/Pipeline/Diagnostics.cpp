#include "lib/Pipeline/Diagnostics.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace sprig;

std::string sprig::describeLocation(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) {
    std::string text = file.getFilename().str();
    if (file.getLine()) text += ":" + std::to_string(file.getLine());
    if (file.getLine() && file.getColumn()) text += ":" + std::to_string(file.getColumn());
    return text;
  }
  if (auto name = dyn_cast<NameLoc>(location)) {
    std::string outer = describeLocation(name.getChildLoc());
    return (outer.empty() ? "" : outer + ":") + name.getName().str();
  }
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (auto text = dyn_cast_if_present<StringAttr>(fused.getMetadata())) return text.str();
    for (Location part : fused.getLocations())
      if (std::string text = describeLocation(part); !text.empty()) return text;
    return "";
  }
  if (auto call = dyn_cast<CallSiteLoc>(location)) return describeLocation(call.getCallee());
  return "";
}

static void append(std::string &text, Diagnostic &diagnostic, StringRef prefix) {
  std::string place = describeLocation(diagnostic.getLocation());
  if (!text.empty()) text += "\n";
  text += prefix.str() + (place.empty() ? "" : place + ": ") + diagnostic.str();
}

DiagnosticText::DiagnosticText(MLIRContext *context, Sink other)
    : other(std::move(other)), handler(context, [this](Diagnostic &diagnostic) {
        std::lock_guard lock(mutex);
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
          append(text, diagnostic, "");
          for (Diagnostic &note : diagnostic.getNotes()) append(text, note, "note: ");
        } else if (this->other) {
          std::string line;
          append(line, diagnostic, diagnostic.getSeverity() == DiagnosticSeverity::Warning ? "warning: " : "remark: ");
          for (Diagnostic &note : diagnostic.getNotes()) append(line, note, "note: ");
          this->other(line);
        }
        return success();
      }) {
  // A message names its operation. A dump of it (of the whole program for a module) helps no user, and two threads that
  // generate code must not print what both of them read.
  context->printOpOnDiagnostic(false);
}

std::string DiagnosticText::take() {
  std::lock_guard lock(mutex);
  return std::exchange(text, {});
}

void DiagnosticText::raise(ErrorKind kind, const std::string &fallback) {
  std::string kept = take();
  throw Error(kind, kept.empty() ? fallback : kept);
}
