#include "tools/sprig/quantize/QuantizeModel.h"
#include "runtime/base/Decimal.h"
#include "tools/sprig/run/ArrayLoss.h"
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>

namespace sprig::cli {
namespace {

std::string decibelText(const std::optional<double> &decibels) { return decibels ? cli::decibelText(*decibels) : ""; }
std::string percentText(double share) { return decimal::fixed(share * 100, 2) + "%"; }

Json numberOf(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}
void putDecibels(Json &json, const char *name, const std::optional<double> &value) {
  if (value)
    cli::putDecibels(json, name, *value);
  else
    json[name] = nullptr;
}

void printLoss(const Loss &loss) {
  Table outputs({"output", "signal/noise dB", "largest difference"});
  for (const OutputLoss &output : loss.outputs)
    outputs.add({output.name, output.sizesDiffer ? "other sizes" : decibelText(output.decibels),
                 output.sizesDiffer ? "" : formatDouble(output.largest, 3)});
  outputs.print();
  if (!loss.classes) return;
  if (loss.classes->before)
    std::cout << "accuracy " << percentText(*loss.classes->before) << " before, " << percentText(*loss.classes->after)
              << " after; ";
  std::cout << percentText(loss.classes->agreement) << " of the samples have the same class as before\n";
}

void printQuantizeText(const QuantizeReport &report, const std::string &output, uint64_t bytes) {
  std::cout << output << ": " << formatBytes(double(bytes)) << ", before " << formatBytes(double(report.bytesBefore))
            << "; " << report.mode;
  if (report.mode == "static")
    std::cout << ", " << report.tensors.size() << " tensors calibrated on " << report.samples << " samples";
  if (report.equalized) std::cout << "; " << report.equalized << " pairs of layers equalised";
  if (report.loss) std::cout << "; judged on " << report.evaluated;
  std::cout << '\n';
  for (const std::string &note : report.notes) std::cout << note << '\n';
  if (report.loss) printLoss(*report.loss);
  if (const auto &times = report.times)
    std::cout << "a call of " << times->samples << (times->samples == 1 ? " sample: " : " samples: ")
              << formatNanoseconds(times->before) << " before, " << formatNanoseconds(times->after) << " after\n";
  bool isStatic = report.mode == "static", hasAlone = false;
  for (const LayerLoss &layer : report.layers) hasAlone |= layer.alone.has_value();
  std::vector<std::string> header = {"layer", "operator", isStatic ? "operand's range" : "", "weight dB", "result dB"};
  if (hasAlone) header.insert(header.end(), {"alone dB", "alone drop"});
  Table layers(header);
  for (const LayerLoss &layer : report.layers) {
    std::string range = layer.low ? formatDouble(*layer.low, 3) + " to " + formatDouble(*layer.high, 3) : "";
    std::vector<std::string> row = {layer.name, layer.op, layer.quantized ? range : "float",
                                    decibelText(layer.weightDecibels), decibelText(layer.outputDecibels)};
    if (hasAlone)
      row.insert(row.end(), {decibelText(layer.alone), layer.dropAlone ? percentText(*layer.dropAlone) : ""});
    layers.add(row);
  }
  layers.print();
}

Json layerToJson(const LayerLoss &layer) {
  Json json = {{"name", layer.name},
               {"op", layer.op},
               {"quantized", layer.quantized},
               {"low", numberOf(layer.low)},
               {"high", numberOf(layer.high)}};
  putDecibels(json, "weight_snr_db", layer.weightDecibels);
  putDecibels(json, "result_snr_db", layer.outputDecibels);
  if (layer.alone) putDecibels(json, "alone_snr_db", layer.alone);
  if (layer.dropAlone) json["alone_drop"] = *layer.dropAlone;
  return json;
}

Json reportToJson(const QuantizeReport &report, const std::string &output, uint64_t bytes) {
  Json document = {{"output", output},
                   {"bytes", bytes},
                   {"bytes_before", report.bytesBefore},
                   {"mode", report.mode},
                   {"samples", report.samples},
                   {"evaluated", report.evaluated},
                   {"equalized", report.equalized}};
  if (!report.notes.empty()) document["notes"] = report.notes;
  if (report.loss) {
    Json outputs = Json::array();
    for (const OutputLoss &loss : report.loss->outputs) {
      Json output = {{"name", loss.name}, {"largest_difference", numberOf(loss.largest)}};
      putDecibels(output, "snr_db", loss.decibels);
      if (loss.sizesDiffer) output["sizes_differ"] = true;
      outputs.push_back(std::move(output));
    }
    document["outputs"] = std::move(outputs);
    if (const auto &classes = report.loss->classes) {
      document["agreement"] = classes->agreement;
      if (classes->before) {
        document["accuracy_before"] = *classes->before;
        document["accuracy_after"] = *classes->after;
      }
    }
  }
  if (const auto &times = report.times)
    document["call"] = {{"samples", times->samples}, {"ns_before", times->before}, {"ns_after", times->after}};
  Json layers = Json::array(), tensors = Json::array();
  for (const LayerLoss &layer : report.layers) layers.push_back(layerToJson(layer));
  document["layers"] = std::move(layers);
  for (const TensorLoss &tensor : report.tensors) {
    tensors.push_back({{"name", tensor.name}, {"scale", tensor.scale}, {"zero_point", tensor.zero}});
    putDecibels(tensors.back(), "snr_db", tensor.decibels);
  }
  document["tensors"] = std::move(tensors);
  return document;
}

} // namespace

void print(const QuantizeReport &report, const std::string &output, uint64_t bytes, bool json) {
  if (json)
    std::cout << toText(reportToJson(report, output, bytes)) << '\n';
  else
    printQuantizeText(report, output, bytes);
}

} // namespace sprig::cli
