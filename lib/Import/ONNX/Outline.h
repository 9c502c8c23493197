// What a model's file has in it, told without importing it: for models that cannot be imported, or not with the sizes
// at hand. For inspect.
#pragma once
#include "lib/Import/ONNX/ImportONNX.h"

namespace sprig {

struct ONNXOutline {
  struct Operator {
    std::string name; ///< "Conv", "com.microsoft.QAttention"
    int64_t count = 0;
    std::string obstacle; ///< why Sprig cannot import it, whatever the sizes; empty: it can
  };
  struct Parameter {
    std::string name, type; ///< type as "64x3x3xf32"
    int64_t elements = 0, bytes = 0;
  };
  std::vector<Operator> operators; ///< of the graph, of the graphs inside it and of the functions that are called
  std::vector<Parameter> parameters;
};
ONNXOutline outlineONNX(const onnximport::Model &model);

} // namespace sprig
