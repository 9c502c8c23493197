// Which layer an operation of a model belongs to, by its name. For placement and profiles, which must agree; needs no
// MLIR.
#pragma once
#include <string_view>

namespace sprig::exec {

/// "/layer1/layer1.0/conv1/Conv" is an operation of the layer "/layer1/layer1.0/conv1"; one without a part in front is
/// a layer itself. "" of no name.
inline std::string_view layerOf(std::string_view operationName) {
  size_t slash = operationName.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? operationName : operationName.substr(0, slash);
}

} // namespace sprig::exec
