// A model split over a mesh: where its tensors lie, what ranks tell each other, and the program of one of them.
// For the command that shows it; made by the half with LLVM (CompilerLibrary.h).
#pragma once
#include "sprig/options.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

struct ShardRequest {
  std::string mesh;                   ///< "data=2,model=4"
  std::vector<std::string> shardings; ///< "NAME=data,-": axes of each dimension; several of one joined by '+'
  int64_t rank = 0;                   ///< whose program; of what is compiled below 0 for all
};

struct ShardReport {
  struct Value {
    std::string what, name, type; ///< "input", "parameter" or "output"
    std::string sharding;         ///< as in a request; "-" where there are no dimensions
    std::string part;             ///< the rank's type
  };
  struct Collective {
    std::string kind;
    int64_t count = 0, bytes = 0; ///< of the rank's larger sides
  };
  int64_t ranks = 1;
  std::vector<Value> values;
  std::vector<Collective> collectives;
  int64_t parameterBytes = 0, wholeParameterBytes = 0;
  std::string program; ///< MLIR
};

/// What it says, as options of the compiler.
void takeShards(const ShardRequest &request, CompileOptions &options);

/// The one entry that a model is split for: with --dim and --shape of the settings. Throws usage errors.
EntryRequest entryToSplit(const Model &model, const Settings &settings);

/// Throws usage errors that name what does not fit: a name that is none of the model's, a mesh, a sharding.
ShardReport shardModel(const Model &model, const EntryRequest &entry, const Settings &settings,
                       const ShardRequest &request);

} // namespace sprig::cli
