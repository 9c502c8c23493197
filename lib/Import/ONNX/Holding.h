// What a declared type holds: a tensor, a sequence of tensors or an optional one, which an entry takes and gives as the
// tensors that it stands for (lib/Data/Holders.h).
#pragma once
#include "lib/Data/Holders.h"
#include "lib/Import/ONNX/ImportONNX.h"
#include "onnx/onnx_pb.h"

namespace sprig::onnximport {

struct Holding {
  data::Holder holder = data::Holder::tensor;
  const onnx::TypeProto_Tensor *tensor = nullptr; ///< null: it holds something else (a map, a sequence of sequences)
};
Holding holdingOf(const onnx::TypeProto &type);

/// One of the tensors that a value stands for, as if it were declared by itself.
onnx::ValueInfoProto tensorOf(const Holding &holding, const std::string &name);

/// Throws where an entry has a range for how much an input holds: programs of other lengths take other inputs.
void refuseRanges(const onnx::GraphProto &graph, const ImportEntry &entry);

} // namespace sprig::onnximport
