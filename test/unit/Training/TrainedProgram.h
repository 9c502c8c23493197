// A training program made of a network in text, run for some steps: by the interpreter in double precision, and
// compiled in any way. For tests of the step builder.
#pragma once
#include "sprig/options.h"
#include "lib/Interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sprig::training {

struct Trajectory {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> state; ///< at the end
};

/// Of a JSON object of test/Training/references; `element` is f32 or f64, the type of all floats.
class TrainedProgram {
public:
  TrainedProgram(mlir::MLIRContext &context, const nlohmann::json &reference, const std::string &element);

  Trajectory interpret(int steps) const;
  /// With other ways to compile and run; `bits` gets all bytes that a run leaves, losses and states; `arena` the size
  /// of the step's arena. A call takes `perCall` steps, by which `steps` divide.
  Trajectory compileAndRun(int steps, CompileOptions options, int threads, std::string &bits, uint64_t *arena = nullptr,
                           int perCall = 1) const;
  /// The module with all entries.
  mlir::ModuleOp module() const { return *program; }

private:
  std::vector<interp::Tensor> data;                   // inputs and targets of every step
  std::map<std::string, std::vector<double>> initial; // parameters
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

mlir::MLIRContext &sharedContext();

} // namespace sprig::training
