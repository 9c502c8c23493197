#include "lib/Import/ONNX/Model.h"
#include "lib/Data/File.h"
#include "onnx/defs/schema.h"
#include <filesystem>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <limits>

namespace sprig::onnximport {

std::string normalizeDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

std::string nodeLabel(const onnx::NodeProto &node, int64_t index) {
  std::string label = "#" + std::to_string(index) + " ";
  if (!node.name().empty()) return label + "'" + node.name() + "' (" + node.op_type() + ")";
  label += node.op_type();
  for (const std::string &output : node.output())
    if (!output.empty()) return label + " -> '" + output + "'";
  return label;
}

static void checkIRVersion(const Model &model) {
  int64_t version = model.proto.ir_version();
  int64_t newest = onnx::Version::IR_VERSION;
  if (!model.proto.has_ir_version()) model.fail(ErrorKind::badInput, "has no IR version, so it is not an ONNX model");
  if (version < 1 || version > newest)
    model.fail(ErrorKind::badInput,
               "has IR version " + std::to_string(version) + "; known are 1 to " + std::to_string(newest));
}

/// Reads the operator sets. `where` is the model or a function of it.
static void readOpsets(const Model &model, const std::string &where,
                       const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports,
                       std::map<std::string, int64_t> &opsets) {
  const auto &known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto &import : imports) {
    std::string domain = normalizeDomain(import.domain());
    std::string shown = domain.empty() ? "the default domain" : "domain '" + domain + "'";
    int64_t version = import.version();
    auto [previous, isNew] = opsets.emplace(domain, version);
    if (!isNew && previous->second != version)
      model.fail(ErrorKind::badInput, where + "imports opsets " + std::to_string(previous->second) + " and " +
                                          std::to_string(version) + " of " + shown);
    if (version < 1)
      model.fail(ErrorKind::badInput,
                 where + "imports opset " + std::to_string(version) + " of " + shown + "; versions start at 1");
    auto range = known.find(domain);
    if (range != known.end() && version > range->second.second)
      model.fail(ErrorKind::unsupported, where + "imports opset " + std::to_string(version) + " of " + shown +
                                             "; the newest known is " + std::to_string(range->second.second));
    if (domain.empty() && version < 6)
      model.fail(ErrorKind::unsupported,
                 where + "imports opset " + std::to_string(version) + " of " + shown + "; supported are 6 and newer");
  }
}

static Model parseParsed(Model model) {
  checkIRVersion(model);
  if (!model.proto.has_graph()) model.fail(ErrorKind::badInput, "has no graph, so it is not an ONNX model");
  if (model.proto.opset_import_size() == 0)
    model.fail(ErrorKind::badInput, "has no opset_import, so the meaning of its operators is not defined");
  readOpsets(model, "", model.proto.opset_import(), model.opsets);
  for (const auto &function : model.proto.functions()) {
    std::map<std::string, int64_t> ignored;
    readOpsets(model, "function '" + function.name() + "' (" + function.domain() + ") ", function.opset_import(),
               ignored);
  }
  orderNodes(model.proto);
  checkFunctions(model);
  const onnx::GraphProto &graph = model.proto.graph();
  if (graph.output_size() == 0) model.fail(ErrorKind::badInput, "the graph has no outputs");
  checkGraph(model, graph);
  return model;
}

Model parseModel(std::string_view bytes, const std::string &file, const std::string &folder) {
  Model model{file, folder, {}, {}};
  if (bytes.empty()) model.fail(ErrorKind::badInput, "the file is empty (0 bytes)");
  constexpr size_t kLargest = std::numeric_limits<int>::max();
  if (bytes.size() > kLargest)
    model.fail(ErrorKind::badInput, "has " + std::to_string(bytes.size()) + " bytes; a protobuf message has at most " +
                                        std::to_string(kLargest) + " (keep the weights in external data)");
  google::protobuf::LogSilencer silence; // the text of ours says more
  google::protobuf::io::ArrayInputStream array(bytes.data(), int(bytes.size()));
  google::protobuf::io::CodedInputStream stream(&array);
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!model.proto.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    model.fail(ErrorKind::badInput, "is not an ONNX model: its " + std::to_string(bytes.size()) +
                                        " bytes do not parse as protobuf (truncated, damaged or of another format)");
  return parseParsed(std::move(model));
}

std::shared_ptr<const Model> share(Model model) {
  auto shared = std::make_shared<Model>(std::move(model));
  shared->self = shared;
  return shared;
}

std::shared_ptr<const Model> readModel(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return share(parseModel(data::readText(path), path, folder.empty() ? "." : folder));
}

} // namespace sprig::onnximport
