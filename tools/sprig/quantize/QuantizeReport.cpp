#include "tools/sprig/quantize/QuantizeReport.h"
#include <cmath>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

namespace sprig::cli {
namespace {

std::string decibelText(double decibels) {
  if (!std::isfinite(decibels)) return decibels > 0 ? "exact" : "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", decibels);
  return text;
}
std::string decibelText(const std::optional<double> &decibels) { return decibels ? decibelText(*decibels) : ""; }
std::string percentText(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f%%", share * 100);
  return text;
}

/// JSON has no infinity: null stands for no difference at all.
Json numberOf(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

void printText(const QuantizeReport &report, const std::string &output, uint64_t bytes) {
  std::cout << output << ": " << formatBytes(double(bytes)) << ", before " << formatBytes(double(report.bytesBefore))
            << "; " << report.mode;
  if (report.mode == "static")
    std::cout << ", " << report.tensors.size() << " tensors calibrated on " << report.samples << " samples";
  std::cout << "; judged on " << report.evaluated << '\n';
  Table outputs({"output", "signal/noise dB", "largest difference"});
  for (const OutputLoss &loss : report.outputs)
    outputs.add({loss.name, decibelText(loss.decibels), formatDouble(loss.largest, 3)});
  outputs.print();
  if (report.classes && report.classes->before)
    std::cout << "accuracy " << percentText(*report.classes->before) << " before, "
              << percentText(*report.classes->after) << " after; ";
  if (report.classes)
    std::cout << percentText(report.classes->agreement) << " of the samples have the same class as before\n";
  Table layers({"layer", "operator", "operand's range", "weight dB", "result dB"});
  for (const LayerLoss &layer : report.layers) {
    std::string range = layer.low ? formatDouble(*layer.low, 3) + " to " + formatDouble(*layer.high, 3) : "-";
    layers.add({layer.name, layer.op, layer.quantized ? range : "float", decibelText(layer.weightDecibels),
                decibelText(layer.outputDecibels)});
  }
  layers.print();
}

Json toJson(const QuantizeReport &report, const std::string &output, uint64_t bytes) {
  Json document = {{"output", output},
                   {"bytes", bytes},
                   {"bytes_before", report.bytesBefore},
                   {"mode", report.mode},
                   {"samples", report.samples},
                   {"evaluated", report.evaluated}};
  Json outputs = Json::array(), layers = Json::array(), tensors = Json::array();
  for (const OutputLoss &loss : report.outputs)
    outputs.push_back({{"name", loss.name}, {"snr_db", numberOf(loss.decibels)}, {"largest_difference", loss.largest}});
  document["outputs"] = std::move(outputs);
  if (report.classes) {
    document["agreement"] = report.classes->agreement;
    if (report.classes->before) {
      document["accuracy_before"] = *report.classes->before;
      document["accuracy_after"] = *report.classes->after;
    }
  }
  for (const LayerLoss &layer : report.layers)
    layers.push_back({{"name", layer.name},
                      {"op", layer.op},
                      {"quantized", layer.quantized},
                      {"low", numberOf(layer.low)},
                      {"high", numberOf(layer.high)},
                      {"weight_snr_db", numberOf(layer.weightDecibels)},
                      {"result_snr_db", numberOf(layer.outputDecibels)}});
  document["layers"] = std::move(layers);
  for (const TensorLoss &tensor : report.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"scale", tensor.scale},
                       {"zero_point", tensor.zero},
                       {"snr_db", numberOf(tensor.decibels)}});
  document["tensors"] = std::move(tensors);
  return document;
}

} // namespace

void print(const QuantizeReport &report, const std::string &output, uint64_t bytes, bool json) {
  if (json)
    std::cout << toText(toJson(report, output, bytes)) << '\n';
  else
    printText(report, output, bytes);
}

} // namespace sprig::cli
