#include "lib/Frontend/Trainer/Programs.h"
#include "sprig/grad.h"
#include "sprig/ops.h"

namespace sprig::frontend {

static std::vector<Tensor> fieldsOf(const data::Batch &batch) {
  std::vector<Tensor> fields;
  for (size_t i = 0; i < batch.fields(); ++i) fields.push_back(batch[i]);
  return fields;
}

TrainingPrograms::Program TrainingPrograms::program(std::string name, std::function<Fields(const Fields &)> body,
                                                    bool compile) {
  // An epoch's last batch may be smaller, which is no news to anybody.
  FunctionOptions options{std::move(name), [](const std::string &) {}};
  Program result = sprig::compile(std::move(body), std::move(options));
  result.enable(compile);
  return result;
}

TrainingPrograms::TrainingPrograms(Training given, bool compile, bool withNorm)
    : training(std::move(given)), withNorm(withNorm),
      stepProgram(program(
          "training step",
          [loss = training.loss, optimizer = training.optimizer, withNorm](const Fields &batch) {
            Fields results{loss(batch)};
            std::vector<Tensor> gradients = grad(results[0], optimizer.parameters());
            if (withNorm) results.push_back(optim::gradNorm(gradients));
            optimizer.update(gradients);
            results[0] = cast(results[0], DType::f32);
            return results;
          },
          compile)),
      evaluation(program(
          "evaluation",
          [scores = training.scores](const Fields &batch) {
            NoGrad quiet;
            Scores result = scores(batch);
            Fields results{cast(result.loss, DType::f64)};
            if (result.hits.defined()) results.push_back(cast(result.hits, DType::i64));
            return results;
          },
          compile)) {}

std::pair<Tensor, Tensor> TrainingPrograms::step(const data::Batch &batch) const {
  Fields results = stepProgram(fieldsOf(batch));
  return {results[0].detach(), withNorm ? results[1].detach() : Tensor()};
}

Scores TrainingPrograms::evaluate(const data::Batch &batch) const {
  Fields results = evaluation(fieldsOf(batch));
  return {results[0], results.size() > 1 ? results[1] : Tensor()};
}

} // namespace sprig::frontend
