#include "runtime/collective/Piece.h"
#include "runtime/format/Types.h"
#include "runtime/load/Verify.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sprig::rt::core {

using collective::Algorithm;
using collective::Form;
using collective::Kind;

namespace {

constexpr uint32_t kMaxRanks = 1 << 20;
constexpr size_t kMaxAxes = 64; // of a mesh

// That they are axes of a mesh, along which ranks differ.
Status verifyAxes(const Collective &call, const Entry &entry) {
  if (call.axes.size() > entry.mesh.size())
    return badPackage(concat(nameOf(call.kind), " over ", call.axes.size(), " axes of a mesh of ", entry.mesh.size()));
  for (uint32_t axis : call.axes)
    if (axis >= entry.mesh.size() || std::count(call.axes.begin(), call.axes.end(), axis) > 1)
      return badPackage(
          concat(nameOf(call.kind), " over axis ", axis, " of ", entry.mesh.size(), ", or over it twice"));
  if (entry.placeOf(call, 0).ranks > 1) return {};
  return badPackage(concat(nameOf(call.kind), " over axes of one rank"));
}

// What the numbers stand for, which are a file's.
Status verifyNumbers(const Collective &call, uint32_t ranks) {
  if (call.reduction > comm::Reduction::max) return badPackage(concat("unknown reduction ", int(call.reduction)));
  if (call.algorithm && *call.algorithm > Algorithm::bidirectional)
    return badPackage(concat("unknown algorithm ", int(*call.algorithm)));
  if (call.algorithm && !collective::does(*call.algorithm, call.kind))
    return badPackage(concat(nameOf(call.kind), " by ", nameOf(*call.algorithm), ", expected one of ",
                             collective::algorithmsOf(call.kind)));
  if (!dtypeSize(call.dtype)) return badPackage(concat("unknown type ", int(call.dtype)));
  if (comm::reduces(call.kind))
    if (std::string why = comm::whyNot(sprig_rt_dtype(call.dtype), call.reduction); !why.empty())
      return badPackage(why.c_str());
  if (call.root >= ranks || (call.root && !collective::isRooted(call.kind)))
    return badPackage(concat(nameOf(call.kind), " of ", ranks, " ranks with root ", call.root));
  return {};
}

// What all exchange: so many rows become of the other buffer's.
Status verifyExchange(const std::string &text, int64_t rows, int64_t rowBytes, const Buffer &other,
                      Entry::Place place) {
  auto [ranks, rank] = place;
  uint64_t read = other.size / uint64_t(rowBytes);
  if (other.size % uint64_t(rowBytes) || read > uint64_t(std::numeric_limits<int64_t>::max() - kMaxRanks))
    return badPackage(
        concat(text, ": expected rows of ", rowBytes, " bytes in the ", other.size, " of '", other.name, "'"));
  if (collective::exchanges(int64_t(read), rows, ranks, rank)) return {};
  return badPackage(concat(text, ": rank ", rank, " of ", ranks, " gets ",
                           collective::exchangedRows(int64_t(read), ranks, rank), " rows for ", read, " of '",
                           other.name, "', found ", rows));
}

// A tensor, and what is beside it. `place`: of the entry's rank.
Status verifySizes(const Collective &call, const Command &command, uint32_t tensor, const Entry &entry,
                   Entry::Place place) {
  const Buffer &whole = entry.bufferOf(command, call.wholeOf(command, tensor));
  int64_t size = int64_t(dtypeSize(call.dtype)), unit = call.unitOf(tensor);
  std::string text = concat(nameOf(call.kind), " of ", whole.size, " bytes of '", whole.name, "'");
  if (whole.size > uint64_t(std::numeric_limits<int64_t>::max()) || int64_t(whole.size) % size)
    return badPackage(concat(text, ", expected whole ", dtypeName(call.dtype)));
  int64_t elements = int64_t(whole.size) / size;
  if (unit < 1 || unit > std::numeric_limits<int64_t>::max() / size || elements % unit)
    return badPackage(concat(text, ", expected whole rows of ", unit, " elements"));
  if (call.isInPlace()) return {};
  int64_t rows = elements / unit;
  if (rows % place.ranks && entry.rank < 0)
    return badPackage(
        concat(text, ": ", rows, " rows that ", place.ranks, " ranks do not share evenly, in an entry of any rank"));
  const Buffer &other = entry.bufferOf(command, call.otherOf(command, tensor));
  int64_t part = collective::pieceOf(rows, place.ranks, place.place).size();
  uint64_t expected = call.kind == Kind::allToAll ? whole.size : uint64_t(part * unit * size);
  if (call.kind == Kind::allToAll && entry.rank >= 0) return verifyExchange(text, rows, unit * size, other, place);
  if (other.size == expected) return {};
  return badPackage(
      concat(text, ": expected ", expected, " bytes beside it, found ", other.size, " of '", other.name, "'"));
}

// What two of them share would be added up twice, or read when it has been written.
Status verifyApart(const Collective &call, const Command &command, const Entry &entry) {
  std::vector<const Buffer *> buffers;
  for (uint32_t i = 0; i < command.operandCount; ++i)
    if (const Buffer &buffer = entry.bufferOf(command, i); buffer.size) buffers.push_back(&buffer);
  auto placeOf = [](const Buffer *b) {
    return std::tuple(b->kind, b->kind == BufferKind::Arena ? 0 : b->index, b->offset);
  };
  std::sort(buffers.begin(), buffers.end(), [&](auto *a, auto *b) { return placeOf(a) < placeOf(b); });
  for (size_t i = 1; i < buffers.size(); ++i) {
    const Buffer &a = *buffers[i - 1], &b = *buffers[i];
    bool isOneSpace = a.kind == b.kind && (a.kind == BufferKind::Arena || a.index == b.index);
    if (isOneSpace && (a.offset + a.size > b.offset))
      return badPackage(concat(nameOf(call.kind), " of '", a.name, "' and '", b.name, "', which share bytes"));
  }
  return {};
}

} // namespace

Entry::Place Entry::placeOf(const Collective &call, uint32_t ofRank) const {
  if (call.axes.empty()) return {ranks, ofRank};
  Place found = {1, 0};
  uint32_t step = 1;
  for (size_t axis = mesh.size(); axis-- > 0; step *= mesh[axis].ranks) {
    if (std::find(call.axes.begin(), call.axes.end(), axis) == call.axes.end()) continue;
    found.place += ofRank / step % mesh[axis].ranks * found.ranks;
    found.ranks *= mesh[axis].ranks;
  }
  return found;
}

Status verifyCollective(Command &command, const Entry &entry) {
  const Collective &call = entry.collectives[command.collective];
  if (call.kind > Kind::part) return badPackage(concat("unknown collective ", int(call.kind)));
  if (entry.ranks < 2) return badPackage(concat(nameOf(call.kind), " in an entry of one rank"));
  SPRIG_RETURN_IF_ERROR(verifyAxes(call, entry));
  Entry::Place place = entry.placeOf(call, uint32_t(std::max(entry.rank, 0)));
  SPRIG_RETURN_IF_ERROR(verifyNumbers(call, place.ranks));
  if ((call.kind == Kind::barrier) != (command.operandCount == 0))
    return badPackage(concat(nameOf(call.kind), " of ", command.operandCount, " buffers"));
  if (!call.isInPlace() && command.operandCount % 2)
    return badPackage(concat(nameOf(call.kind), " of ", command.operandCount, " buffers, expected pairs"));
  uint32_t tensors = call.tensorsOf(command);
  if (!call.units.empty() && call.units.size() != tensors)
    return badPackage(concat(nameOf(call.kind), " of ", tensors, " tensors has ", call.units.size(), " sizes of rows"));
  for (uint32_t tensor = 0; tensor < tensors; ++tensor) {
    SPRIG_RETURN_IF_ERROR(verifySizes(call, command, tensor, entry, place));
    command.bytes += entry.bufferOf(command, call.wholeOf(command, tensor)).size;
  }
  return verifyApart(call, command, entry);
}

// Pieces lie in wholes that there is memory for.
static Status verifyPiece(const TensorType &tensor, const Entry &entry) {
  size_t rank = tensor.shape.size();
  if (tensor.piece.empty()) return {};
  uint64_t bytes = 0;
  if (entry.rank < 0 || tensor.piece.size() != 2 * rank || !tensorBytes(tensor.whole(), tensor.dtype, bytes))
    return badPackage("expected a piece of one rank's, of a whole of its dimensions that memory holds");
  if (int dim = collective::dimOutside(tensor.shape, tensor.piece); dim >= 0)
    return badPackage(concat("has ", tensor.shape[size_t(dim)], " from ", tensor.piece[rank + size_t(dim)],
                             " on of a dimension of ", tensor.piece[size_t(dim)]));
  return {};
}

// Ranks have one place each.
static Status verifyMesh(const Entry &entry) {
  if (entry.mesh.size() > kMaxAxes)
    return badPackage(concat("expected a mesh of at most ", kMaxAxes, " axes, found ", entry.mesh.size()));
  for (const Axis &axis : entry.mesh) {
    auto isSame = [&](const Axis &other) { return other.name == axis.name; };
    if (axis.name.empty() || axis.name.find_first_of("=,") != std::string::npos ||
        std::count_if(entry.mesh.begin(), entry.mesh.end(), isSame) > 1)
      return badPackage(concat("expected axes with a name each, found '", axis.name, "'"));
  }
  uint64_t places = 1;
  for (const Axis &axis : entry.mesh) places = std::min<uint64_t>(places * axis.ranks, kMaxRanks + 1);
  if (entry.mesh.empty() || places == entry.ranks) return {};
  return badPackage(concat("is of ", entry.ranks, " ranks, and its mesh of ", places));
}

Status verifyRanks(const Entry &entry) {
  if (entry.ranks > kMaxRanks) return badPackage(concat("expected at most ", kMaxRanks, " ranks, found ", entry.ranks));
  if (entry.rank < -1 || (entry.rank >= 0 && uint32_t(entry.rank) >= entry.ranks))
    return badPackage(concat("expected a rank below ", entry.ranks, " or -1, found ", entry.rank));
  SPRIG_RETURN_IF_ERROR(verifyMesh(entry));
  for (const std::vector<TensorType> *ports : {&entry.inputs, &entry.outputs})
    for (const TensorType &tensor : *ports)
      SPRIG_RETURN_IF_ERROR(verifyPiece(tensor, entry), concat("'", tensor.name, "'"));
  if (entry.ranks > 1 && entry.independentSamples)
    return badPackage("has independent samples, so that a batch may be split, and several ranks");
  return {};
}

} // namespace sprig::rt::core
