#include "tools/sprig/run/CheckModel.h"
#include "lib/Data/Counted.h"
#include "tools/sprig/run/Interpret.h"

namespace sprig::cli {
namespace {

// A type that Sprig does not have makes the model unsupported, whatever its data look like.
void requireTypes(const std::vector<InputSpec> &specs, const std::string &what) {
  for (const InputSpec &spec : specs)
    if (!dtypeOf(spec.dtype)) unsupported(what + " '" + spec.name + "' has the type " + spec.dtype);
}

} // namespace

CheckedModel::CheckedModel(const std::filesystem::path &path, const Settings &settings, bool interpreter)
    : model(openModel(path)), settings(settings), interpreter(interpreter) {
  if (model.kind == ModelKind::package) {
    if (interpreter) badUse(path.string() + ": is a package, which the interpreter cannot run");
    runner = compileAndLoad(model, {}, settings);
    given = inputsOfCalls(*runner, model, settings);
    return;
  }
  given = inputsOfCalls(model, settings, /*isOpen=*/true);
  for (const InputSpec &spec : given) inputHolders.push_back(spec.holder);
  for (const InputSpec &spec : outputsOf(model)) outputHolders.push_back(spec.holder);
  requireTypes(given, "input");
  requireTypes(outputsOf(model), "output");
}

BoundInputs CheckedModel::bind(const DataSet &set) const {
  if (set.inputs.size() > given.size())
    badInput("the data set has " + std::to_string(set.inputs.size()) + " inputs, the model " +
             std::to_string(given.size()));
  BoundInputs bound;
  bound.entry.dims = settings.entryDims().front();
  bound.entry.shapes = settings.inputShapes();
  for (size_t k = 0; k < set.inputs.size(); ++k) {
    const data::Stored &stored = set.inputs[k];
    const data::Held held{stored.isPresent, int64_t(stored.arrays.size())};
    data::bind(given[k].holder, given[k].name, held, bound.entry.dims);
    std::vector<std::string> names = data::namesOf(given[k].holder, given[k].name, held);
    for (size_t i = 0; i < names.size(); ++i) {
      data::Array array = stored.arrays[i];
      array.name = names[i];
      bound.arrays.emplace(names[i], std::move(array));
    }
  }
  const std::vector<InputSpec> specs = withTensors(given, bound.entry.dims, [](auto &) { return false; });
  requireTensors(specs);
  bindShapes(specs, bound.entry.shapes, bound.entry.dims);
  bindDims(specs, bound.arrays, bound.entry.dims);
  requireAll(specs, bound.arrays);
  for (auto &[name, array] : bound.arrays) {
    // Dimensions without a size or a symbol take the array's.
    bound.entry.shapes[name] = array.shape;
    if (array.elements() <= 4096) bound.entry.values.emplace(name, array);
  }
  return bound;
}

std::vector<OutputResult> CheckedModel::check(const DataSet &set, const Judgement &judgement) {
  BoundInputs bound = bind(set);
  std::vector<data::Array> outputs;
  if (interpreter) {
    outputs = interpret(model, bound, settings);
  } else {
    std::map<std::string, std::vector<char>> values;
    for (auto &[name, array] : bound.entry.values)
      if (!data::isFloat(array.dtype)) values[name] = array.bytes;
    bool fits =
        runner && (model.kind == ModelKind::package || (compiledDims == bound.entry.dims && compiledValues == values));
    if (!fits) {
      runner.reset();
      runner = compileAndLoad(model, {bound.entry}, settings);
      compiledDims = bound.entry.dims;
      compiledValues = std::move(values);
    }
    outputs = runner->run(bound.arrays);
  }
  data::cutToCounts(outputs);
  std::vector<data::Array> wanted;
  for (const data::Stored &stored : set.outputs)
    wanted.insert(wanted.end(), stored.arrays.begin(), stored.arrays.end());
  if (outputs.size() != wanted.size())
    badInput("the data set has " + std::to_string(wanted.size()) + " outputs, the model " +
             std::to_string(outputs.size()));
  std::vector<OutputResult> results;
  for (size_t k = 0; k < outputs.size(); ++k)
    results.push_back({outputs[k].name, data::describe(wanted[k]), compare(outputs[k], wanted[k], judgement)});
  return results;
}

bool CheckedModel::drawsRandomNumbers() const { return cli::drawsRandomNumbers(model); }

std::string CheckedModel::bisect(const DataSet &set, const Judgement &judgement) {
  if (model.kind == ModelKind::package)
    badUse(model.path + ": is a package; --bisect needs the model that it was made of");
  return bisectModel(model, bind(set), settings, judgement);
}

} // namespace sprig::cli
