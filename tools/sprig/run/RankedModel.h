// A model that is split over a mesh, run by its ranks: threads of this process, or this process and others that were
// started with it.
// For run, bench and profile. Arrays are whole; each rank takes its pieces, and rank 0's process puts the results
// together.
#pragma once
#include "runtime/load/Program.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/Model.h"

namespace sprig::cli {

class RankedModel {
public:
  /// Whether there may be ranks: said by flags, or as this process was started, or as several devices.
  static bool mayBe(const MeshFlags &flags, const Settings &settings);
  /// Whether the model is to be split (--shard), or is a package that is and may be of ranks here. Throws usage errors.
  static bool isOf(const Model &model, const MeshFlags &flags, const Settings &settings);
  /// Throws usage errors where a model that is not split is given with ranks, or this process is one of them.
  static void refuseRanksOf(const Model &model, const MeshFlags &flags, const Settings &settings);
  /// Whether a package is one of ranks with pieces of arrays.
  static bool isIn(const Runner &package);
  /// Its mesh, as --mesh gives one. Throws where it has programs that do not belong together, and usage where `given`
  /// is another one.
  static std::string meshOf(const Runner &package, const std::string &path, const std::string &given);

  /// A model and the flags that say how it is split, or a package of ranks. Throws usage errors: a mesh that is not the
  /// package's, another number of devices or processes.
  RankedModel(const Model &model, const MeshFlags &flags, const Settings &settings);

  /// Of the whole arrays.
  std::vector<InputSpec> inputSpecs() const;
  /// Compiles what is no package, for the ranks of this process. The results are rank 0's process's; others have none.
  std::vector<data::Array> run(const BoundInputs &inputs);
  /// The ranks of this process, which have met none yet. Compiles what is no package.
  std::vector<Runner> runners(const EntryRequest &entry);
  /// As one group.
  void join(std::vector<Runner> &runners) const;
  /// A rank's call, of its pieces of the arrays.
  PreparedCall prepareFor(int rank, Runner &runner, const std::map<std::string, data::Array> &arrays) const;
  /// What a rank's entry takes of the whole arrays. Throws badInput where it takes none of this shape.
  static std::map<std::string, data::Array> piecesFor(const Runner &runner, size_t entry,
                                                      const std::map<std::string, data::Array> &arrays);
  const RankPlace &where() const { return place; }
  bool isFirst() const { return place.rank == 0; }
  /// "2 threads as ranks of the mesh data=2, 1 thread(s) each"
  std::string describe() const;

private:
  void openPackage(const Model &model);
  /// The rank's program that takes arrays of these shapes.
  size_t entryFor(int rank, const std::map<std::string, data::Array> &arrays) const;
  const rt::core::Program &program() const;
  std::vector<data::Array> runThreads(std::vector<Runner> &runners, const std::map<std::string, data::Array> &arrays);
  std::vector<data::Array> runProcess(Runner &runner, const std::map<std::string, data::Array> &arrays);

  const Model &model;
  MeshFlags flags;
  Settings settings; ///< of one rank
  RankPlace place;
  std::optional<Runner> base; ///< whose package all ranks of this process have
};

} // namespace sprig::cli
