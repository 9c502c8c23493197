#include "tools/sprig/quantize/QuantizeModel.h"
#include "lib/Quantize/Observer.h"
#include "lib/Quantize/Prepare.h"
#include "lib/Quantize/WriteNarrowWeights.h"
#include "lib/Quantize/WriteStatic.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/quantize/Calibrate.h"
#include "tools/sprig/quantize/LayerSearch.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace sprig::cli {
namespace {

using namespace quantize;

class Quantization {
public:
  Quantization(const QuantizeOptions &options, const Model &model)
      : options(options), model(model), floatModel(model.text, model.path, options.settings),
        graph(model.text, model.path, folderOfModel(model.path)) {}

  QuantizeReport run() {
    report.mode = options.mode;
    report.bytesBefore = graph.bytes;
    readData();
    if (int i = firstQuantised(graph); i >= 0)
      graph.fail(ErrorKind::badInput, "is quantised already: '" + graph.label(i) + "' is a " + graph.node(i).op_type());
    prepare(graph);
    excluded = {options.exclude.begin(), options.exclude.end()};
    replan();
    requireFinite(graph, planned);
    if (options.equalize && (report.equalized = equalize(graph, planned)) > 0) replan();
    if (options.mode == "static")
      runStatic();
    else
      runWeights();
    if (judge) timeCalls();
    return std::move(report);
  }

private:
  void readData() {
    CalibrationDataOptions given{options.samples, options.batch, options.settings.entryDims().front(), options.mean,
                                 options.deviation};
    bindShapes(floatModel.inputs(), options.settings.inputShapes(), given.dims);
    if (!options.data.empty()) calibration = readCalibrationData(options.data, floatModel.inputs(), given);
    judged = calibration;
    if (!options.evaluation.empty()) judged = readCalibrationData(options.evaluation, floatModel.inputs(), given);
    report.evaluated = judged.samples;
    report.notes = calibration.notes;
    if (!options.evaluation.empty()) report.notes.insert(report.notes.end(), judged.notes.begin(), judged.notes.end());
    if (judged.calls.empty()) return;
    judge.emplace(judged, [&](const CalibrationCall &call) { return floatModel.run(call.inputs); });
    if (!judge->note().empty()) report.notes.push_back(judge->note());
  }

  PlanOptions planOptions() const {
    PlanOptions result;
    result.standing = options.placement == "operands" ? Standing::operands : Standing::around;
    result.computed = options.computedProducts;
    result.dropActivations = !options.symmetric;
    result.exclude = excluded;
    result.notFloat = notFloat;
    return result;
  }

  void replan() {
    planned = quantize::plan(graph, planOptions());
    if (!planned.unknown.empty()) {
      std::string names;
      for (const Layer &layer : planned.layers) names += (names.empty() ? "" : ", ") + layer.name;
      badUse("--exclude " + planned.unknown.front() + ": " + model.path + " has no such layer; it has " +
             (names.empty() ? "none" : names));
    }
    if (planned.layers.empty())
      graph.fail(ErrorKind::badInput, planned.excluded.empty()
                                          ? "has no layer to quantise: no Conv, ConvTranspose, Gemm or MatMul of f32 "
                                            "with a constant weight"
                                          : "has no layer to quantise that is not excluded");
  }

  /// Training finds biases by itself.
  bool correctsBias() const { return options.correctBias && !options.trainable; }

  StaticOptions staticOptions() const {
    return {{options.activations == "i8", options.symmetric},
            !options.perTensor,
            false,
            means,
            options.bits,
            options.trainable};
  }

  void runStatic() {
    report.samples = calibration.samples;
    if (correctsBias()) {
      giveBiases(graph);
      replan();
    }
    calibrator.emplace(options, graph, calibration);
    notFloat = calibrator->see(planned);
    if (!notFloat.empty()) replan();
    findRanges();
    if (correctsBias()) means = calibrator->means(planned);
    search();
    measureTensors(writeModel());
  }

  /// A plan without some layers has fewer tensors, but what a move had passed on may have its own range now.
  void findRanges() { ranges = calibrator->ranges(planned, staticOptions().activations); }

  /// Which layers lose most; with a bound, as few of them as it takes are planned without.
  void search() {
    if (!options.sensitivity && !options.accuracyDrop) return;
    PlanOptions how = planOptions();
    how.dropActivations = false; // a layer that is no longer quantised needs its own
    Plan whole = quantize::plan(graph, how);
    Graph switched = graph;
    StaticOptions writing = staticOptions();
    writing.switches = true;
    writeStatic(switched, whole, ranges, writing);
    LayerSearch layers(switched.serialize(), model.path, options.settings, whole, *judge);
    for (size_t i = 0; i < whole.layers.size(); ++i) {
      const Loss &loss = layers.alone()[i];
      std::optional<double> drop;
      if (loss.classes) drop = loss.classes->drop();
      alone[whole.layers[i].name] = {loss.decibels, drop};
    }
    if (!options.accuracyDrop) return;
    if (!layers.alone()[0].classes)
      badUse("--accuracy-drop: " + model.path +
             "'s first output has no row of numbers for each sample, of which the largest is the class");
    std::vector<size_t> order = layers.order();
    size_t count = layers.fewest(*options.accuracyDrop);
    // The model itself has the last word: it rounds between layers, which a switched one does not.
    for (;; ++count) {
      for (size_t i = 0; i < count; ++i) excluded.insert(whole.layers[order[i]].name);
      if (count == order.size())
        graph.fail(ErrorKind::badInput, "loses more than --accuracy-drop allows whatever layer is quantised");
      replan();
      findRanges();
      Graph attempt = graph;
      writeStatic(attempt, planned, ranges, staticOptions());
      if (lossOf(attempt.serialize()).classes->drop() <= *options.accuracyDrop) return;
    }
  }

  Loss lossOf(const std::string &bytes) const {
    CompiledModel tested(bytes, model.path, options.settings);
    return judge->judge([&](const CalibrationCall &call) { return tested.run(call.inputs); });
  }

  Graph writeModel() {
    Graph quantized = graph;
    written = writeStatic(quantized, planned, ranges, staticOptions());
    report.bytes = quantized.serialize();
    return quantized;
  }

  /// Outputs, and each quantised tensor beside what it is in the float model.
  void measureTensors(const Graph &quantized) {
    std::vector<std::string> before, after;
    for (const auto &[tensor, wide] : written.dequantized) {
      if (quantized.maker(wide) < 0) continue;
      before.push_back(tensor);
      after.push_back(wide);
    }
    CompiledModel reference(withOutputs(graph, before), model.path, options.settings);
    CompiledModel tested(withOutputs(quantized, after), model.path, options.settings);
    std::map<std::string, ArrayLoss> tensors;
    report.loss = judge->judge([&](const CalibrationCall &call) {
      std::vector<data::Array> wide = reference.run(call.inputs), narrow = tested.run(call.inputs);
      for (size_t i = 0; i < before.size(); ++i)
        tensors[before[i]].add(valueOf(before[i], wide, call), valueOf(after[i], narrow, call));
      return narrow;
    });
    for (auto &[name, loss] : tensors) {
      const Quantizer &quantizer = written.quantizers.at(name);
      report.tensors.push_back({name, quantizer.scale, quantizer.zero, loss.decibels()});
    }
    listLayers(written.weightDecibels, tensors);
  }

  void listLayers(const std::map<std::string, double> &weights, const std::map<std::string, ArrayLoss> &tensors) {
    std::map<std::string, Layer> all;
    PlanOptions everything = planOptions();
    everything.exclude.clear();
    for (const Layer &layer : quantize::plan(graph, everything).layers) {
      LayerLoss loss;
      loss.name = layer.name;
      loss.op = graph.node(layer.node).op_type();
      loss.quantized = !excluded.count(layer.name) && (options.mode == "static" || weights.count(layer.name));
      if (auto found = weights.find(layer.name); found != weights.end()) loss.weightDecibels = found->second;
      if (auto found = tensors.find(layer.output); found != tensors.end())
        loss.outputDecibels = found->second.decibels();
      auto tensor = planned.tensors.find(layer.input);
      if (loss.quantized && options.mode == "static" && tensor != planned.tensors.end()) {
        loss.low = ranges.at(tensor->second).low;
        loss.high = ranges.at(tensor->second).high;
      }
      if (auto found = alone.find(layer.name); found != alone.end())
        std::tie(loss.alone, loss.dropAlone) = found->second;
      report.layers.push_back(loss);
    }
  }

  /// What needs no calibration.
  void runWeights() {
    Graph quantized = graph;
    WrittenWeights weights = options.mode == "dynamic"
                                 ? writeDynamic(quantized, planned, !options.perTensor, options.bits)
                                 : writeNarrowWeights(quantized, planned,
                                                      {options.bits, options.group, options.symmetric,
                                                       !options.perTensor, options.accuracyLevel});
    if (weights.weightDecibels.empty())
      graph.fail(ErrorKind::badInput, "has no layer of a constant weight to quantise");
    if (weights.wideLayers)
      inform(std::to_string(weights.wideLayers) + " of " + std::to_string(weights.weightDecibels.size()) +
             " layers have weights of 8 bits: those of 4 are for matrix products");
    report.bytes = quantized.serialize();
    std::map<std::string, ArrayLoss> results;
    if (judge) {
      std::vector<std::string> watched;
      for (const Layer &layer : planned.layers) watched.push_back(layer.output);
      CompiledModel reference(withOutputs(graph, watched), model.path, options.settings);
      CompiledModel tested(withOutputs(quantized, watched), model.path, options.settings);
      report.loss = judge->judge([&](const CalibrationCall &call) {
        std::vector<data::Array> wide = reference.run(call.inputs), narrow = tested.run(call.inputs);
        for (const std::string &value : watched)
          results[value].add(valueOf(value, wide, call), valueOf(value, narrow, call));
        return narrow;
      });
    }
    listLayers(weights.weightDecibels, results);
  }

  void timeCalls() {
    using Clock = std::chrono::steady_clock;
    constexpr auto kWhole = std::chrono::milliseconds(200);
    CompiledModel quantized(report.bytes, model.path, options.settings);
    const CalibrationCall &call = judged.calls[0];
    PreparedCall before = floatModel.prepare(call.inputs), after = quantized.prepare(call.inputs);
    CallTimes times{call.samples, INFINITY, INFINITY};
    auto start = Clock::now();
    for (int round = 0; round < 1000 && (round < 3 || Clock::now() - start < kWhole); ++round)
      for (auto &[prepared, shortest] : {std::pair(&before, &times.before), {&after, &times.after}}) {
        auto begin = Clock::now();
        prepared->invoke();
        *shortest = std::min(*shortest, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
      }
    report.times = times;
  }

  const QuantizeOptions &options;
  const Model &model;
  CompiledModel floatModel;
  Graph graph;
  Plan planned;
  std::set<std::string> notFloat, excluded;
  CalibrationData calibration, judged;
  std::optional<Judge> judge;
  std::optional<Calibrator> calibrator;
  std::map<std::string, Range> ranges;
  ChannelMeans means;
  std::map<std::string, std::pair<std::optional<double>, std::optional<double>>> alone; ///< by layer: dB and drop
  WrittenStatic written;
  QuantizeReport report;
};

} // namespace

QuantizeReport quantizeModel(const QuantizeOptions &options) {
  Model model = openModel(options.model);
  if (model.kind != ModelKind::onnx)
    badInput(options.model + (model.kind == ModelKind::package ? ": is a package" : ": is MLIR text") +
             "; quantize takes ONNX models");
  return Quantization(options, model).run();
}

} // namespace sprig::cli
