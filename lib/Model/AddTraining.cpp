#include "lib/Model/AddTraining.h"
#include "dialects/NN/Attributes.h"
#include "lib/Import/ONNX/ExportFindings.h"
#include "lib/Model/TrainNote.h"
#include "lib/Pipeline/Diagnostics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sprig;

static ExportReport tracesOf(const ModelSource &model) {
  return model.kind == ModelKind::onnx ? findExportTraces(model.content, model.name, model.folder) : ExportReport();
}

static training::ParameterHints hintsOf(const ExportReport &traces) {
  training::ParameterHints hints{{}, traces.singles};
  for (auto &[name, reason] : traces.constants) hints.constants.push_back(name);
  return hints;
}

// Training the model cannot be what was meant, and the caller does not say otherwise.
[[noreturn]] static void refuse(ArrayRef<const ExportFinding *> fatal, ArrayRef<const ExportFinding *> others,
                                const ModelSource &model, const std::string &advice, const std::string &allowedBy) {
  std::string text = model.name + ": " + fatal.front()->text;
  std::vector<std::string> kinds;
  for (const ExportFinding *finding : fatal) {
    if (finding != fatal.front()) text += "\nnote: " + finding->text;
    if (!llvm::is_contained(kinds, finding->kind)) kinds.push_back(finding->kind);
  }
  for (const ExportFinding *finding : others) text += "\nnote: " + finding->text;
  badInput(text + advice + "\nnote: " + allowedBy + " " + llvm::join(kinds, ",") + " trains the model as it stands");
}

// Of what the exporter did to the parameters that are trained.
static void checkTraces(const ModelSource &model, const ExportReport &traces, const std::vector<std::string> &trainable,
                        const TrainingProgram &program) {
  auto isAllowed = [&](const std::string &kind) {
    return llvm::is_contained(program.allow, kind) || llvm::is_contained(program.allow, "all");
  };
  std::vector<const ExportFinding *> fatal, others;
  for (const ExportFinding &finding : traces.findings) {
    bool matters = finding.initializers.empty() || llvm::any_of(finding.initializers, [&](const std::string &name) {
                     return llvm::is_contained(trainable, name);
                   });
    if (matters && !isAllowed(finding.kind)) (finding.isFatal ? fatal : others).push_back(&finding);
  }
  std::string advice = traces.advice.empty() ? "" : "\nnote: " + traces.advice;
  if (!fatal.empty()) refuse(fatal, others, model, advice, program.allowedBy);
  if (program.warn)
    for (const ExportFinding *finding : others)
      program.warn(model.name + ": " + finding->text +
                   (finding == others.back()
                        ? advice + "\nnote: " + program.allowedBy + " " + finding->kind + " says that this is meant"
                        : ""));
  if (!program.inform || program.config.trainable) return;
  for (auto &[name, reason] : traces.constants)
    program.inform("'" + name + "' is not trained: " + reason + " (`trainable` in the configuration can name it)");
}

static std::map<int64_t, func::FuncOp> forwardsOf(ModuleOp module, const ModelSource &model,
                                                  const std::vector<int64_t> &sizes) {
  std::map<int64_t, func::FuncOp> forwards;
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (model.kind == ModelKind::onnx) {
    for (auto [size, function] : llvm::zip_equal(sizes, functions)) forwards[size] = function;
    return forwards;
  }
  for (func::FuncOp function : functions)
    if (function.getNumArguments())
      if (auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[0]); type && type.getRank())
        forwards[type.getDimSize(0)] = function;
  for (int64_t size : sizes)
    if (!forwards.count(size))
      badInput(model.name + ": has no function for a batch of " + std::to_string(size) + " samples");
  return forwards;
}

CompileOptions sprig::trainingOptions(CompileOptions options, const training::TrainConfig &config) {
  options.freeze = false;
  options.math = MathMode::strict;
  options.rematBytes = config.rematBytes.value_or(options.rematBytes);
  return options;
}

TrainedModel sprig::addTraining(ModuleOp module, const ModelSource &model, const TrainingProgram &program) {
  ExportReport traces = tracesOf(model);
  training::StepBuilder builder(module, forwardsOf(module, model, program.entries.forwardSizes(program.config)),
                                program.config, model.name, hintsOf(traces));
  checkTraces(model, traces, builder.trainable(), program);
  if (std::string warning = builder.normWarning(); program.warn && !warning.empty())
    program.warn(model.name + ": " + warning);
  DiagnosticText diagnostics(module.getContext());
  builder.add(program.entries);
  TrainedModel trained{builder.trainable(), builder.targets().classes};
  // Of the text forms too: what goes on from them makes a package that trains.
  TrainNote note{program.config, program.samples, trained.classes, trained.trainable, program.zero};
  module->setAttr(ir::kTrainingAttr, StringAttr::get(module.getContext(), toText(note)));
  return trained;
}
