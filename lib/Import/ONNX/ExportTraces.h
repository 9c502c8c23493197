// The searches behind ExportFindings.h, one for each thing that exporters do.
#pragma once
#include "lib/Data/Listed.h"
#include "lib/Import/ONNX/ExportFindings.h"
#include "lib/Import/ONNX/ExportGraph.h"

namespace sprig::onnximport {

/// Initializers that several layers share though each had its own: TorchScript's exporter and the optimizer of the
/// newer one merge equal ones, so all biases of zeros and all norms' scales of ones become one.
void findMerged(ExportGraph &graph, std::vector<ExportFinding> &findings);

/// Weights that were one and are two: an embedding and its transposed copy in the head.
void findUntied(ExportGraph &graph, std::vector<ExportFinding> &findings);

/// Weights that an exporter computed: batch norms folded into products, weight norms.
void findFolded(const ExportGraph &graph, std::vector<ExportFinding> &findings);

/// Layers that left nothing in the graph: dropouts of an export for inference, biases of zeros.
void findDroppedLayers(const ExportGraph &graph, std::vector<ExportFinding> &findings);

/// Whether a batch norm was folded into the node.
bool hasFoldedNorm(const ExportGraph &graph, const ExportNode &node);

using data::listed;
std::string inQuotes(const std::string &name);

} // namespace sprig::onnximport
