// A parsed ONNX model and the checks that need no import: file, versions, structure of the graph.
// For the importer. Throws sprig::Error that names the file, the place and both facts.
#pragma once
#include "onnx/onnx_pb.h"
#include "sprig/error.h"
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace sprig::onnximport {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

struct Model {
  std::string file;   ///< what errors call it
  std::string folder; ///< of external data; empty: none allowed
  onnx::ModelProto proto;
  std::map<std::string, int64_t> opsets; ///< domain -> version; the default domain is ""
  /// Itself, where it is shared: large constants of what is imported are bytes of it, and keep it.
  std::weak_ptr<const Model> self = {};

  [[noreturn]] void fail(ErrorKind kind, const std::string &text) const { throw Error(kind, file + ": " + text); }
};

/// Parses and checks the model's frame: emptiness, protobuf, IR version, opsets, graph.
Model parseModel(std::string_view bytes, const std::string &file, const std::string &folder);
std::shared_ptr<const Model> share(Model model);
/// Reads and parses a file; its folder serves external data.
std::shared_ptr<const Model> readModel(const std::string &path);

/// How errors call a node: #3 'fc2' (Gemm), or #3 Gemm -> 'h' when it has no name.
std::string nodeLabel(const onnx::NodeProto &node, int64_t index);

/// What the size of an input's dimension i is asked for by: its name, or "x.1" of input 'x' where it has none of its
/// own (no name, "?", a negative size); "" where the file says the size.
std::string dimensionName(const onnx::ValueInfoProto &input, int i);

/// Puts the nodes of each graph and function behind those whose results they read; of a cycle nothing is moved in front
/// of it.
void orderNodes(onnx::ModelProto &model);
/// Names, order and definition of every value, in the graph and the graphs inside it.
void checkGraph(const Model &model, const onnx::GraphProto &graph);
/// Functions of the model: unique, not recursive, importing their opsets.
void checkFunctions(const Model &model);

/// "" for the default domain, however it is written.
std::string normalizeDomain(const std::string &domain);

} // namespace sprig::onnximport
