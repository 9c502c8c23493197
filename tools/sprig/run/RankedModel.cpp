#include "tools/sprig/run/RankedModel.h"
#include "runtime/api/Handles.h"
#include "tools/sprig/run/RankThreads.h"
#include "tools/sprig/shard/ShardModel.h"
#include "runtime/collective/Piece.h"
#include <algorithm>
#include <cstring>
#include <map>

namespace sprig::cli {
namespace {

using data::Array;
using rt::core::Entry;
using rt::core::TensorType;
using Arrays = std::map<std::string, Array>;

const rt::core::Program &programOf(const Runner &runner) { return runner.package()->package->program(); }

/// Copies a piece between its own array and its place in the whole, row by row of the innermost dimension.
void copyPiece(Array &whole, char *piece, std::span<const int64_t> shape, std::span<const int64_t> first, bool isInto) {
  int64_t size = data::size(whole.dtype), rows = 1;
  size_t rank = shape.size();
  for (int64_t each : shape)
    if (!each) return;
  int64_t row = rank ? shape.back() : 1;
  for (size_t dim = 0; dim + 1 < rank; ++dim) rows *= shape[dim];
  for (int64_t i = 0; i < rows; ++i) {
    int64_t at = rank ? first.back() : 0, step = rank ? whole.shape.back() : 1, left = i;
    for (size_t dim = rank ? rank - 1 : 0; dim-- > 0; left /= shape[dim], step *= whole.shape[dim])
      at += (first[dim] + left % shape[dim]) * step;
    char *in = whole.bytes.data() + at * size, *own = piece + i * row * size;
    std::memcpy(isInto ? in : own, isInto ? own : in, size_t(row * size));
  }
}

/// A whole that ranks' pieces make up. What they say of their pieces is not trusted: ranks may have other programs.
class Gathered {
public:
  Gathered(const std::string &model, const TensorType &type)
      : model(model), whole{type.name, data::DType(type.dtype), {type.whole().begin(), type.whole().end()}, {}} {
    std::optional<int64_t> bytes = data::byteSize(whole.dtype, whole.shape);
    if (!bytes) badInput("output '" + type.name + "' is too large");
    whole.bytes.resize(size_t(*bytes));
  }

  /// Where several ranks have a piece, it is the first one's. `size`: of the bytes that are there.
  void add(int rank, std::span<const int64_t> first, std::span<const int64_t> shape, char *piece, size_t size) {
    std::vector<int64_t> numbers = whole.shape;
    numbers.insert(numbers.end(), first.begin(), first.end());
    bool isWithin = first.size() == whole.shape.size() && shape.size() == whole.shape.size() &&
                    rt::collective::dimOutside(shape, numbers) < 0;
    std::vector<int64_t> own(shape.begin(), shape.end());
    int64_t bytes = isWithin ? *data::byteSize(whole.dtype, own) : 0;
    if (!isWithin || uint64_t(bytes) > size) refuse("a piece of rank " + std::to_string(rank) + " that is not in it");
    own.insert(own.end(), first.begin(), first.end());
    if (!seen.insert({own, rank}).second) return;
    for (const auto &[other, by] : seen)
      if (by != rank && overlap(own, other))
        refuse("pieces of ranks " + std::to_string(by) + " and " + std::to_string(rank) + " that overlap");
    gathered += bytes;
    copyPiece(whole, piece, shape, first, /*isInto=*/true);
  }

  Array take() {
    if (size_t(gathered) != whole.bytes.size())
      refuse("pieces of " + std::to_string(gathered) + " bytes together, expected " +
             std::to_string(whole.bytes.size()));
    return std::move(whole);
  }

private:
  static bool overlap(const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
    size_t dims = a.size() / 2;
    for (size_t dim = 0; dim < dims; ++dim)
      if (a[dims + dim] + a[dim] <= b[dims + dim] || b[dims + dim] + b[dim] <= a[dims + dim]) return false;
    return true;
  }
  [[noreturn]] void refuse(const std::string &what) const {
    badInput(model + ": output '" + whole.name + "', " + data::describe(whole) + ", has " + what +
             ": programs of ranks do not belong together");
  }
  const std::string &model;
  Array whole;
  std::map<std::vector<int64_t>, int> seen; // shapes and first places, and whose they are first
  int64_t gathered = 0;                     // bytes
};

/// Programs of two ranks, of one package: what all ranks have together is the same in both.
void refuseUnlike(const std::string &path, const Entry &one, const Entry &other) {
  auto refuse = [&](const std::string &what) {
    badInput(path + ": programs of ranks " + std::to_string(one.rank) + " and " + std::to_string(other.rank) +
             " do not belong together: " + what + " differ");
  };
  auto isSameAxis = [](auto &a, auto &b) { return a.name == b.name && a.ranks == b.ranks; };
  if (!std::ranges::equal(one.mesh, other.mesh, isSameAxis)) refuse("meshes");
  auto isSameWhole = [](const TensorType &a, const TensorType &b) {
    return a.name == b.name && a.dtype == b.dtype && std::ranges::equal(a.whole(), b.whole());
  };
  // Of other sizes it is another program.
  if (one.name != other.name || !std::ranges::equal(one.inputs, other.inputs, isSameWhole)) return;
  if (!std::ranges::equal(one.outputs, other.outputs, [&](const TensorType &a, const TensorType &b) {
        return isSameWhole(a, b) && a.piece.empty() == b.piece.empty();
      }))
    refuse("outputs");
}

/// What a process says of a piece in front of its bytes: where it begins, and its shape.
std::vector<int64_t> headerOf(const TensorType &type) {
  std::vector<int64_t> header(type.first().begin(), type.first().end());
  header.insert(header.end(), type.shape.begin(), type.shape.end());
  return header;
}

} // namespace

bool RankedModel::mayBe(const MeshFlags &flags, const Settings &settings) {
  rt::core::GivenDevices given = settings.parsedDevices();
  return flags.isGiven() || flags.splitsModel() || sprig_rt_is_rank_process() ||
         (!given.threads && given.list.size() > 1);
}

bool RankedModel::isOf(const Model &model, const MeshFlags &flags, const Settings &settings) {
  if (!mayBe(flags, settings)) return false;
  // With a device that needs no code of this machine.
  if (model.kind == ModelKind::package) return isIn(loadPackage(model, RunnerOptions{1, "null"}));
  if (flags.splitsModel() && flags.mesh.empty())
    badUse("--shard " + flags.shardings.front() + ": names axes of --mesh, which is not given");
  return flags.splitsModel();
}

void RankedModel::refuseRanksOf(const Model &model, const MeshFlags &given, const Settings &settings) {
  std::string what =
      model.kind == ModelKind::package ? " is not split over ranks" : " is not split: --shard NAME=AXIS,-,...";
  if (!given.mesh.empty()) badUse("--mesh " + given.mesh + ": " + model.path + what);
  MeshFlags flags = given;
  flags.runsModel = true;
  flags.place(settings);
}

bool RankedModel::isIn(const Runner &package) {
  const std::vector<Entry> &entries = programOf(package).entries;
  return std::any_of(entries.begin(), entries.end(), [](const Entry &entry) { return !entry.mesh.empty(); });
}

const rt::core::Program &RankedModel::program() const { return programOf(*base); }

RankedModel::RankedModel(const Model &model, const MeshFlags &given, const Settings &all) : model(model), flags(given) {
  flags.runsModel = true;
  if (model.kind == ModelKind::package) {
    refuseForPackage(model, all);
    openPackage(model);
  }
  place = flags.place(all);
  settings = settingsOfRank(all, place);
}

void RankedModel::openPackage(const Model &given) {
  if (flags.splitsModel())
    badUse("--shard " + flags.shardings.front() + ": " + given.path +
           " is a package, which is split as it was compiled");
  base = loadPackage(given, RunnerOptions{1, ""});
  flags.mesh = meshOf(*base, given.path, flags.mesh);
}

std::string RankedModel::meshOf(const Runner &package, const std::string &path, const std::string &given) {
  const std::vector<Entry> &entries = programOf(package).entries;
  auto found = std::find_if(entries.begin(), entries.end(), [](const Entry &entry) { return !entry.mesh.empty(); });
  for (const Entry &entry : entries)
    if (!entry.mesh.empty()) refuseUnlike(path, *found, entry);
  std::string mesh = meshText(package, size_t(found - entries.begin()));
  bool isSame = given.empty() || std::ranges::equal(parseMesh(given), found->mesh, [](auto &a, auto &b) {
                  return a.name == b.name && a.ranks == int64_t(b.ranks);
                });
  if (!isSame) badUse("--mesh " + given + ": " + path + " is of the mesh " + mesh);
  return mesh;
}

std::vector<InputSpec> RankedModel::inputSpecs() const {
  if (!base) return inputsOf(model);
  std::vector<InputSpec> specs;
  for (const Entry &entry : program().entries)
    if (!entry.mesh.empty()) {
      for (const TensorType &type : entry.inputs) {
        InputSpec spec{type.name, std::string(data::name(data::DType(type.dtype))), {}, true};
        for (int64_t size : type.whole()) spec.dims.push_back({size, ""});
        specs.push_back(std::move(spec));
      }
      break;
    }
  return specs;
}

size_t RankedModel::entryFor(int rank, const Arrays &arrays) const {
  const std::vector<Entry> &entries = program().entries;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].mesh.empty() || (entries[i].rank >= 0 && entries[i].rank != rank)) continue;
    if (std::all_of(entries[i].inputs.begin(), entries[i].inputs.end(), [&](const TensorType &type) {
          auto found = arrays.find(type.name);
          return found != arrays.end() && std::ranges::equal(found->second.shape, type.whole()) &&
                 int(found->second.dtype) == type.dtype;
        }))
      return i;
  }
  std::string got;
  for (const auto &[name, array] : arrays) got += (got.empty() ? "" : ", ") + name + " " + data::describe(array);
  badInput(model.path + ": has no program of rank " + std::to_string(rank) + " of " + std::to_string(place.ranks) +
           " that takes " + got);
}

PreparedCall RankedModel::prepareFor(int rank, Runner &runner, const Arrays &arrays) const {
  size_t entry = entryFor(rank, arrays);
  return runner.prepare(entry, piecesFor(runner, entry, arrays));
}

Arrays RankedModel::piecesFor(const Runner &runner, size_t entry, const Arrays &arrays) {
  Arrays own;
  for (const TensorType &type : programOf(runner).entries[entry].inputs) {
    auto given = arrays.find(type.name);
    if (given == arrays.end()) badUse("input '" + type.name + "' is not given");
    Array part = given->second;
    Array expected{type.name, data::DType(type.dtype), {type.whole().begin(), type.whole().end()}, {}};
    if (part.shape != expected.shape || part.dtype != expected.dtype)
      badInput("input '" + type.name + "': got " + data::describe(part) + ", expected " + data::describe(expected));
    if (!type.piece.empty()) {
      Array whole = std::move(part);
      part = {type.name, whole.dtype, type.shape, std::vector<char>(size_t(type.bytes))};
      copyPiece(whole, part.bytes.data(), type.shape, type.first(), /*isInto=*/false);
    }
    own.emplace(type.name, std::move(part));
  }
  return own;
}

std::vector<Array> RankedModel::runThreads(std::vector<Runner> &runners, const Arrays &arrays) {
  std::vector<std::vector<Array>> results(runners.size());
  std::vector<const Entry *> entries(runners.size());
  onRankThreads(runners, [&](size_t rank) {
    size_t entry = entryFor(int(rank), arrays);
    entries[rank] = &program().entries[entry];
    PreparedCall call = runners[rank].prepare(entry, piecesFor(runners[rank], entry, arrays));
    call.invoke();
    results[rank] = call.takeOutputs();
  });
  std::vector<Array> wholes;
  for (size_t i = 0; i < results.front().size(); ++i) {
    const TensorType &first = entries.front()->outputs[i];
    if (first.piece.empty()) {
      wholes.push_back(std::move(results.front()[i]));
      continue;
    }
    Gathered gathered(model.path, first);
    for (size_t rank = 0; rank < runners.size(); ++rank) {
      const TensorType &type = entries[rank]->outputs[i];
      gathered.add(int(rank), type.first(), type.shape, results[rank][i].bytes.data(), results[rank][i].bytes.size());
    }
    wholes.push_back(gathered.take());
  }
  return wholes;
}

// Processes say of their pieces where they lie, as each has compiled its own program alone.
std::vector<Array> RankedModel::runProcess(Runner &runner, const Arrays &arrays) {
  std::vector<Array> results, wholes;
  size_t entry = 0;
  try {
    entry = entryFor(place.rank, arrays);
    PreparedCall call = runner.prepare(entry, piecesFor(runner, entry, arrays));
    call.invoke();
    results = call.takeOutputs();
  } catch (const std::exception &error) {
    runner.failGroup(error.what());
    throw;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorType &type = program().entries[entry].outputs[i];
    if (type.piece.empty()) {
      wholes.push_back(std::move(results[i]));
      continue;
    }
    std::vector<uint64_t> largest = {results[i].bytes.size()};
    runner.allReduce(largest, SPRIG_RT_MAX, type.name.c_str());
    std::vector<int64_t> header = headerOf(type);
    size_t headerBytes = header.size() * sizeof(int64_t), each = headerBytes + size_t(largest[0]);
    std::vector<char> all(each * size_t(place.ranks));
    char *own = all.data() + each * size_t(place.rank);
    std::memcpy(own, header.data(), headerBytes);
    if (!results[i].bytes.empty()) std::memcpy(own + headerBytes, results[i].bytes.data(), results[i].bytes.size());
    runner.allGather(all, type.name.c_str());
    if (!isFirst()) continue;
    Gathered gathered(model.path, type);
    for (int rank = 0; rank < place.ranks; ++rank) {
      char *piece = all.data() + each * size_t(rank);
      std::memcpy(header.data(), piece, headerBytes);
      std::span<const int64_t> numbers = header;
      size_t dims = type.shape.size();
      gathered.add(rank, numbers.first(dims), numbers.subspan(dims), piece + headerBytes, size_t(largest[0]));
    }
    wholes.push_back(gathered.take());
  }
  if (!isFirst()) wholes.clear();
  return wholes;
}

std::vector<Runner> RankedModel::runners(const EntryRequest &entry) {
  if (!base) {
    ShardRequest request{flags.mesh, flags.shardings, place.isProcess ? int64_t(place.rank) : -1};
    Compiled compiled = compile(model, {entry}, settings, {"native"}, &request);
    base = Runner::load(std::move(compiled.package), model.path, {1, ""});
  }
  RunnerOptions options{.threads = settings.laneCount(), .device = "", .pin = settings.pin ? 1 : 0};
  std::vector<Runner> runners;
  while (int(runners.size()) < (place.isProcess ? 1 : place.ranks)) {
    runners.push_back(base->another(options));
    options.pinBehind(runners.back().threads());
  }
  return runners;
}

void RankedModel::join(std::vector<Runner> &runners) const {
  if (place.isProcess) return runners.front().join(processAsRank());
  if (place.ranks == 1) return;
  auto groups = threadsAsRanks(place.ranks);
  for (size_t rank = 0; rank < runners.size(); ++rank) runners[rank].join(groups[rank]);
}

std::vector<Array> RankedModel::run(const BoundInputs &inputs) {
  std::vector<Runner> ranks = runners(inputs.entry);
  join(ranks);
  return place.isProcess ? runProcess(ranks.front(), inputs.arrays) : runThreads(ranks, inputs.arrays);
}

std::string RankedModel::describe() const {
  return std::to_string(place.ranks) + (place.isProcess ? " processes" : " threads") + " as ranks of the mesh " +
         flags.mesh + ", " + std::to_string(settings.threads) + " thread(s) each";
}

} // namespace sprig::cli
