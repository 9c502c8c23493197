#include "tools/sprig/quantize/QuantizeModel.h"
#include "lib/Quantize/Observer.h"
#include "lib/Quantize/Prepare.h"
#include "lib/Quantize/WriteStatic.h"
#include "tools/sprig/quantize/CalibrationData.h"
#include "tools/sprig/quantize/CompiledModel.h"
#include "tools/sprig/quantize/Losses.h"
#include <algorithm>

namespace sprig::cli {
namespace {

using namespace quantize;

CalibrationOptions calibrationOf(const QuantizeOptions &options) {
  Calibration method = options.calibrate == "percentile" ? Calibration::percentile
                       : options.calibrate == "mse"      ? Calibration::mse
                       : options.calibrate == "kl"       ? Calibration::kl
                                                         : Calibration::minmax;
  return {method, options.percentile};
}

StaticOptions staticOptions(const QuantizeOptions &options) {
  return {{options.activations == "i8", options.symmetric}, !options.perTensor};
}

/// The model with values of it as further outputs.
std::string withOutputs(const Graph &graph, const std::vector<std::string> &values) {
  onnx::ModelProto model = graph.model;
  std::set<std::string> there;
  for (const auto &output : graph.graph().output()) there.insert(output.name());
  for (const std::string &value : values) {
    if (graph.isInput(value) || !there.insert(value).second) continue;
    auto *output = model.mutable_graph()->add_output();
    output->set_name(value);
    output->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  std::string bytes;
  model.SerializeToString(&bytes);
  return bytes;
}

/// A value of a call: a result, or what was given.
const data::Array &valueOf(const std::string &name, const std::vector<data::Array> &results,
                           const CalibrationCall &call) {
  for (const data::Array &array : results)
    if (array.name == name) return array;
  return call.inputs.at(name);
}

class StaticQuantizer {
public:
  StaticQuantizer(const QuantizeOptions &options, const Model &model)
      : options(options), model(model), floatModel(model.text, model.path, options.settings),
        graph(model.text, model.path, folderOfModel(model.path)) {}

  QuantizeReport run() {
    refuseQuantized();
    prepare(graph);
    readData();
    planned = quantize::plan(graph, planOptions());
    refusePlan();
    calibrate();
    Graph quantized = graph;
    written = writeStatic(quantized, planned, ranges, staticOptions(options));
    report.bytes = quantized.serialize();
    report.mode = "static";
    report.bytesBefore = model.text.size();
    report.samples = calibration.samples;
    measure(quantized);
    return std::move(report);
  }

private:
  void refuseQuantized() const {
    if (int i = firstQuantised(graph); i >= 0)
      graph.fail(ErrorKind::badInput, "is quantised already: '" + graph.label(i) + "' is a " + graph.node(i).op_type());
  }

  void readData() {
    CalibrationDataOptions given{options.samples, options.batch, options.settings.entryDims().front(), options.mean,
                                 options.deviation};
    bindShapes(floatModel.inputs(), options.settings.inputShapes(), given.dims);
    calibration = readCalibrationData(options.data, floatModel.inputs(), given);
    if (!options.evaluation.empty()) evaluation = readCalibrationData(options.evaluation, floatModel.inputs(), given);
  }
  const CalibrationData &judged() const { return options.evaluation.empty() ? calibration : evaluation; }

  PlanOptions planOptions() const {
    PlanOptions result;
    result.standing = options.placement == "operands" ? Standing::operands : Standing::around;
    result.dropActivations = !options.symmetric;
    result.exclude = {options.exclude.begin(), options.exclude.end()};
    result.notFloat = notFloat;
    return result;
  }

  void refusePlan() const {
    if (!planned.unknown.empty()) {
      std::string names;
      for (const Layer &layer : planned.layers) names += (names.empty() ? "" : ", ") + layer.name;
      throw Error(ErrorKind::usage, "--exclude " + planned.unknown.front() + ": " + model.path +
                                        " has no such layer; it has " + (names.empty() ? "none" : names));
    }
    if (planned.layers.empty())
      graph.fail(ErrorKind::badInput, planned.excluded.empty()
                                          ? "has no layer to quantise: no Conv, ConvTranspose, Gemm or MatMul of f32 "
                                            "with a constant weight"
                                          : "has no layer to quantise that is not excluded");
  }

  /// Ranges of tensors in the float model; what turns out to be no f32 is planned without.
  void calibrate() {
    std::vector<std::string> roots;
    std::map<std::string, Observer> observers;
    auto collect = [&] {
      roots.clear();
      for (const auto &[tensor, root] : planned.tensors)
        if (std::find(roots.begin(), roots.end(), root) == roots.end()) roots.push_back(root);
    };
    collect();
    CompiledModel watched(withOutputs(graph, roots), model.path, options.settings);
    auto each = [&](auto body) {
      for (const CalibrationCall &call : calibration.calls) {
        std::vector<data::Array> results = watched.run(call.inputs);
        for (const std::string &root : roots) {
          const data::Array &array = valueOf(root, results, call);
          if (array.dtype != data::DType::f32)
            notFloat.insert(root);
          else
            body(observers[root], reinterpret_cast<const float *>(array.bytes.data()), array.elements());
        }
      }
    };
    each([](Observer &observer, const float *numbers, int64_t count) { observer.see(numbers, count); });
    if (!notFloat.empty()) {
      planned = quantize::plan(graph, planOptions());
      refusePlan();
    }
    CalibrationOptions how = calibrationOf(options);
    if (how.method != Calibration::minmax)
      each([](Observer &observer, const float *numbers, int64_t count) { observer.countAgain(numbers, count); });
    for (const auto &[tensor, root] : planned.tensors) {
      // A tensor that a second plan brought in has no numbers of its own; it has those of what it was in the first.
      auto found = observers.find(root);
      if (found == observers.end()) graph.fail(ErrorKind::internal, "no numbers of '" + root + "' were seen");
      ranges[root] = found->second.range(how, staticOptions(options).activations);
    }
  }

  void measure(const Graph &quantized) {
    std::vector<std::string> before, after;
    for (const auto &[tensor, wide] : written.dequantized) {
      if (quantized.maker(wide) < 0) continue;
      before.push_back(tensor);
      after.push_back(wide);
    }
    CompiledModel reference(withOutputs(graph, before), model.path, options.settings);
    CompiledModel tested(withOutputs(quantized, after), model.path, options.settings);
    std::map<std::string, ArrayLoss> tensors;
    std::vector<ArrayLoss> outputs;
    ClassCount classes;
    for (const CalibrationCall &call : judged().calls) {
      std::vector<data::Array> wanted = floatModel.run(call.inputs), wide = reference.run(call.inputs),
                               narrow = tested.run(call.inputs);
      outputs.resize(wanted.size());
      report.outputs.resize(wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i) {
        report.outputs[i].name = wanted[i].name;
        outputs[i].add(wanted[i], valueOf(wanted[i].name, narrow, call));
      }
      int64_t samples =
          call.labels.empty() ? wanted[0].shape.empty() ? 0 : wanted[0].shape[0] : int64_t(call.labels.size());
      if (ClassCount::fits(wanted[0], samples))
        classes.add(wanted[0], valueOf(wanted[0].name, narrow, call), call.labels);
      for (size_t i = 0; i < before.size(); ++i)
        tensors[before[i]].add(valueOf(before[i], wide, call), valueOf(after[i], narrow, call));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      report.outputs[i].decibels = outputs[i].decibels();
      report.outputs[i].largest = outputs[i].largest();
    }
    report.classes = classes.result();
    report.evaluated = judged().samples;
    for (auto &[name, loss] : tensors) {
      const Quantizer &quantizer = written.quantizers.at(name);
      report.tensors.push_back({name, quantizer.scale, quantizer.zero, loss.decibels()});
    }
    listLayers(tensors);
  }

  void listLayers(const std::map<std::string, ArrayLoss> &tensors) {
    for (const Layer &layer : planned.layers) {
      LayerLoss loss{layer.name, graph.node(layer.node).op_type(), true, {}, {}, {}, {}};
      if (auto found = written.weightDecibels.find(layer.name); found != written.weightDecibels.end())
        loss.weightDecibels = found->second;
      if (auto found = tensors.find(layer.output); found != tensors.end())
        loss.outputDecibels = found->second.decibels();
      if (auto found = planned.tensors.find(layer.input); found != planned.tensors.end()) {
        loss.low = ranges.at(found->second).low;
        loss.high = ranges.at(found->second).high;
      }
      report.layers.push_back(loss);
    }
    for (const std::string &name : planned.excluded) report.layers.push_back({name, "", false, {}, {}, {}, {}});
  }

  const QuantizeOptions &options;
  const Model &model;
  CompiledModel floatModel;
  Graph graph;
  Plan planned;
  std::set<std::string> notFloat;
  CalibrationData calibration, evaluation;
  std::map<std::string, Range> ranges;
  WrittenStatic written;
  QuantizeReport report;
};

} // namespace

QuantizeReport quantizeModel(const QuantizeOptions &options) {
  Model model = openModel(options.model);
  if (model.kind != ModelKind::onnx)
    throw Error(ErrorKind::badInput, options.model +
                                         (model.kind == ModelKind::package ? ": is a package" : ": is MLIR text") +
                                         "; quantize takes ONNX models");
  return StaticQuantizer(options, model).run();
}

} // namespace sprig::cli
