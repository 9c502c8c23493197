#include "test/unit/Shard/CompiledRanks.h"
#include "lib/Shard/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <list>
#include <thread>

namespace sprig::shard {

using mlir::RankedTensorType;
using Calls = std::vector<std::vector<Floats>>;

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

bool runPass(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(std::move(pass));
  return mlir::succeeded(passes.run(module));
}

Floats partOfRank(const Floats &whole, RankedTensorType type, const Mesh &mesh, const Sharding &sharding,
                  int64_t rank) {
  auto part = llvm::cast<RankedTensorType>(mesh.localType(type, sharding, rank));
  Floats values(size_t(part.getNumElements()));
  llvm::SmallVector<llvm::SmallVector<int64_t>> positions;
  for (auto [size, axes] : llvm::zip_equal(type.getShape(), sharding.dims))
    positions.push_back(mesh.positionsOf(size, axes, rank));
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t from = 0, step = 1, left = int64_t(i);
    for (int64_t dim = type.getRank(); dim-- > 0; step *= type.getDimSize(dim), left /= part.getDimSize(dim))
      from += step * positions[size_t(dim)][size_t(left % part.getDimSize(dim))];
    values[i] = whole[size_t(from)];
  }
  return values;
}

static std::vector<Floats> callOnce(Program &program, mlir::TypeRange types, const std::vector<Floats> &inputs) {
  std::vector<rt::TensorView> views;
  std::list<std::vector<int32_t>> integers;
  for (auto [type, input] : llvm::zip_equal(types, inputs)) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    rt::Dims shape(std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()));
    if (tensor.getElementType().isF32())
      views.emplace_back(const_cast<float *>(input.data()), shape);
    else
      views.emplace_back(integers.emplace_back(input.begin(), input.end()).data(), shape);
  }
  std::vector<Floats> results;
  for (const rt::Array &array : program(views)) {
    Floats &values = results.emplace_back(array.elements());
    bool isFloat = array.dtype() == SPRIG_RT_F32;
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = isFloat ? array.as<float>()[i] : float(array.as<int32_t>()[i]);
  }
  return results;
}

Calls call(Program &program, mlir::TypeRange types, llvm::ArrayRef<std::vector<Floats>> calls) {
  Calls results;
  for (const std::vector<Floats> &inputs : calls) results.push_back(callOnce(program, types, inputs));
  return results;
}

Calls runWhole(const std::string &text, mlir::TypeRange types, llvm::ArrayRef<std::vector<Floats>> calls) {
  Program program = compile(Model::text(text));
  return call(program, types, calls);
}

RankResults runRanks(mlir::ModuleOp sharded, llvm::ArrayRef<std::vector<Floats>> calls) {
  Mesh mesh(*sharded.getOps<ir::dist::MeshOp>().begin());
  mlir::func::FuncOp function = functionOf(sharded);
  size_t count = size_t(mesh.numRanks());
  RankResults done;
  done.results.resize(count);
  std::vector<rt::Group> groups = rt::Group::threads(uint32_t(count));
  std::vector<Calls> parts(count, Calls(calls.size()));
  std::vector<std::string> programs, errors(count);
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  for (size_t rank = 0; rank < count; ++rank) {
    modules.push_back(sharded.clone());
    if (!runPass(*modules.back(), createPartition({int64_t(rank)}))) {
      done.error = "does not partition";
      return done;
    }
    programs.push_back(print(*modules.back()));
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto said = llvm::cast<ir::dist::ShardingAttr>(function.getArgAttr(unsigned(i), ir::dist::kShardingAttr));
      for (auto [whole, part] : llvm::zip_equal(calls, parts[rank]))
        part.push_back(
            partOfRank(whole[i], llvm::cast<RankedTensorType>(type), mesh, mesh.read(said, type), int64_t(rank)));
    }
  }
  std::vector<std::thread> threads; // which leave the context alone
  for (size_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Program program = compile(Model::text(programs[rank]));
        program.context().join(groups[rank]);
        done.results[rank] = call(program, functionOf(*modules[rank]).getArgumentTypes(), parts[rank]);
      } catch (const std::exception &error) {
        errors[rank] = error.what();
        groups[rank].fail(SPRIG_RT_INTERNAL, error.what());
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (size_t rank = 0; rank < count && done.error.empty(); ++rank)
    if (!errors[rank].empty())
      done.error = "rank " + std::to_string(rank) + ": " + errors[rank] + "\n" + programs[rank];
  return done;
}

} // namespace sprig::shard
