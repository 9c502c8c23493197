// What users say of where operations run: layers by the model's own names, and `nn.place` in the text.
// For the pipeline, which refuses what cannot be meant before anything is compiled, and for the pass `place`.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <utility>

namespace sprig::place {

/// Layers and devices as CompileOptions::places has them.
using Pins = llvm::ArrayRef<std::pair<std::string, std::string>>;

/// The device names in full ("cpu" is "cpu:0"). `kinds` are those that the target has code for: null devices run that
/// of a single one. Fails on what is no `kind:number`, on a kind for which nothing runs the target's code
/// (not_supported), on a device that is there twice and on more than can be placed on.
llvm::Expected<std::vector<std::string>> parseDevices(llvm::ArrayRef<std::string> devices,
                                                      llvm::ArrayRef<llvm::StringRef> kinds);

/// Whether an operation takes a device's time: no constant, parameter or view.
bool isComputed(mlir::Operation *op);

/// Fails on a device that is not among them, on a layer that is given twice, and on one of which the module has nothing
/// that is placed, which lists near names: an operation that is computed and stands in no other one, or a parameter
/// where these stay state.
llvm::Error checkPins(mlir::ModuleOp module, Pins pins, llvm::ArrayRef<std::string> devices, bool parametersStay);
/// The same for `nn.place` in the text; keeps what it says in the locations of operations, which rewrites keep.
llvm::Error keepPlaces(mlir::ModuleOp module, llvm::ArrayRef<std::string> devices);

/// The number of the device of that name, which may lack the number.
std::optional<unsigned> deviceNumber(llvm::StringRef name, llvm::ArrayRef<std::string> devices);

/// "layer1/conv" of "layer1/conv/Conv", as `sprig profile --group layer` counts; "" of no name.
llvm::StringRef layerOf(llvm::StringRef operationName);

/// The device that an operation of that name and place is pinned to.
std::optional<unsigned> pinOf(mlir::Operation *op, Pins pins, llvm::ArrayRef<std::string> devices);

} // namespace sprig::place
