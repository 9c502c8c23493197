// Changes of ONNX models that stay models: messages are changed by their descriptors, names by the names that are
// there.
#pragma once
#include "onnx/onnx_pb.h"
#include "test/fuzz/Fuzz.h"
#include <string>
#include <vector>

namespace sprig::fuzz {

class ModelMutator {
public:
  ModelMutator(onnx::ModelProto &model, Choices &choose);
  /// One change.
  void mutate();

private:
  using Message = google::protobuf::Message;
  using Field = google::protobuf::FieldDescriptor;

  void collect(Message &message);
  void changeField(Message &message);
  void changeRepeated(Message &message, const Field &field);
  void changeSingle(Message &message, const Field &field);
  std::string textFor(const Message &message, const Field &field, const std::string &old);
  int64_t numberFor(const Field &field, int64_t old);
  const Message *another(const google::protobuf::Descriptor &type);

  void changeOperator();
  void rewire();
  void addNode();
  void changeInitializer();
  void addAttribute(onnx::NodeProto &node);

  onnx::ModelProto &model;
  Choices &choose;
  std::vector<Message *> messages; ///< all of them, the model's own first
  std::vector<onnx::NodeProto *> nodes;
  std::vector<onnx::TensorProto *> tensors;
  std::vector<std::string> values; ///< names of inputs, initializers and results
};

} // namespace sprig::fuzz
