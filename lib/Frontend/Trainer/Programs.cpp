#include "lib/Frontend/Trainer/Programs.h"
#include "sprig/grad.h"
#include "sprig/ops.h"

namespace sprig::frontend {

static std::vector<Tensor> fieldsOf(const data::Batch &batch, Source at) {
  std::vector<Tensor> fields;
  for (size_t i = 0; i < batch.fields(); ++i) fields.push_back(batch[{i, at}]);
  return fields;
}

TrainingPrograms::Program TrainingPrograms::program(std::string name, std::function<Fields(const Fields &)> body,
                                                    bool compile, Source at) {
  // An epoch's last batch may be smaller, which is no news to anybody.
  FunctionOptions options{std::move(name), [](const std::string &) {}};
  Program result = sprig::compile(std::move(body), std::move(options), at);
  result.enable(compile);
  return result;
}

TrainingPrograms::TrainingPrograms(Training given, bool compile, bool withNorm, Source at)
    : training(std::move(given)), withNorm(withNorm), at(at),
      stepProgram(program(
          "training step",
          [loss = training.loss, optimizer = training.optimizer, withNorm, at](const Fields &batch) {
            Fields results{loss(batch)};
            std::vector<Tensor> gradients = grad(results[0], optimizer.parameters(), {}, at);
            if (withNorm) results.push_back(optim::gradNorm(gradients, at));
            optimizer.update(gradients, at);
            results[0] = cast({results[0], at}, DType::f32);
            return results;
          },
          compile, at)),
      evaluation(program(
          "evaluation",
          [scores = training.scores, at](const Fields &batch) {
            NoGrad quiet;
            Scores result = scores(batch);
            Fields results{cast({result.loss, at}, DType::f64)};
            if (result.hits.defined()) results.push_back(cast({result.hits, at}, DType::i64));
            return results;
          },
          compile, at)) {}

std::pair<Tensor, Tensor> TrainingPrograms::step(const data::Batch &batch) const {
  Fields results = stepProgram(fieldsOf(batch, at));
  return {results[0].detach(at), withNorm ? results[1].detach(at) : Tensor()};
}

Scores TrainingPrograms::evaluate(const data::Batch &batch) const {
  Fields results = evaluation(fieldsOf(batch, at));
  return {results[0], results.size() > 1 ? results[1] : Tensor()};
}

} // namespace sprig::frontend
