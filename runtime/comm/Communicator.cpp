#include "runtime/comm/Communicator.h"
#include "runtime/base/FloatEnv.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace sprig::rt::comm {

using collective::Kind;
using collective::Program;
using collective::Range;
using collective::Step;

namespace {

Range rangeOf(const Program &program, const Step &step, const Buffers::Buffer &buffer) {
  if (!program.pieces || !buffer.unit) return {};
  Range units = collective::piecesOf(buffer.elements / buffer.unit, program.pieces, step.piece, step.count);
  return {units.begin * buffer.unit, units.end * buffer.unit};
}

std::byte *at(const Buffers::Buffer &buffer, int64_t element, uint64_t size) {
  return static_cast<std::byte *>(buffer.data) + uint64_t(element) * size;
}

} // namespace

Status Communicator::programOf(const Call &call, const Program *&program) {
  auto key = std::make_tuple(call.kind, call.algorithm, int(call.root));
  auto found = programs.find(key);
  if (found == programs.end()) {
    collective::Plan plan{call.kind, call.algorithm, transport.ranks(), call.root, perMachine};
    Program made;
    std::string why;
    if (!collective::makeProgram(plan, transport.rank(), made, why))
      return Status(SPRIG_RT_INVALID_ARGUMENT, std::move(why));
    found = programs.emplace(key, std::move(made)).first;
  }
  program = &found->second;
  return {};
}

// Of what all exchange ranks have the side alike that is cut by the number of ranks; the other one is pieces of one
// size.
template <typename Mix>
Status Communicator::describeExchange(const Buffers::Buffer &from, const Buffers::Buffer &to,
                                      const Buffers::Buffer *&told, Mix mix) const {
  auto rowsOf = [](const Buffers::Buffer &buffer) { return buffer.unit ? buffer.elements / buffer.unit : 0; };
  int64_t read = rowsOf(from), written = rowsOf(to);
  auto ranks = uint32_t(transport.ranks()), rank = uint32_t(transport.rank());
  if (from.unit != to.unit || !collective::exchanges(read, written, ranks, rank))
    return Status(SPRIG_RT_INVALID_ARGUMENT,
                  core::concat(nameOf(Kind::allToAll), " reads ", from.elements, " elements and writes ", to.elements));
  bool goesBack = written != collective::exchangedRows(read, ranks, rank);
  if (!goesBack) told = &from;
  mix(read == written ? 0 : goesBack ? 1 : 2);
  return {};
}

Status Communicator::describe(const Program &program, const Buffers &buffers, Call &call) const {
  if (reduces(call.kind))
    if (std::string why = whyNot(call.dtype, call.reduction); !why.empty())
      return Status(SPRIG_RT_INVALID_ARGUMENT, std::move(why));
  if (program.isApart && buffers.inputs.size() != buffers.buffers.size())
    return Status(SPRIG_RT_INVALID_ARGUMENT, core::concat(nameOf(call.kind), " reads ", buffers.inputs.size(),
                                                          " buffers and writes ", buffers.buffers.size()));
  call.elements = 0;
  call.layout = 0;
  call.buffers = uint32_t(buffers.buffers.size());
  auto mix = [&](int64_t number) { call.layout = (call.layout ^ uint64_t(number)) * 0x9e3779b97f4a7c15 + 1; };
  for (size_t i = 0; i < buffers.buffers.size(); ++i) {
    const Buffers::Buffer *told = &buffers.buffers[i];
    if (program.isApart) SPRIG_RETURN_IF_ERROR(describeExchange(buffers.inputs[i], buffers.buffers[i], told, mix));
    const Buffers::Buffer &buffer = *told;
    call.elements += buffer.elements;
    mix(buffer.elements);
    mix(buffer.unit);
    for (int64_t size : buffer.shape) mix(size);
  }
  return {};
}

Status Communicator::run(Call call, const Buffers &buffers) {
  const Program *program = nullptr;
  SPRIG_RETURN_IF_ERROR(programOf(call, program));
  SPRIG_RETURN_IF_ERROR(describe(*program, buffers, call));
  SPRIG_RETURN_IF_ERROR(transport.begin(call));
  core::FloatEnv environment;
  Status status;
  try {
    status = runSteps(*program, call, buffers);
  } catch (const std::bad_alloc &) {
    status = Status(SPRIG_RT_OUT_OF_MEMORY, core::concat("no memory for ", nameOf(call.kind)));
  }
  if (!status.isOk()) {
    transport.fail(status);       // others may be looking at this rank's memory
    status = transport.failure(); // of several the first counts
  }
  transport.end();
  sent.clear();
  return status;
}

Status Communicator::runSteps(const Program &program, const Call &call, const Buffers &buffers) {
  uint64_t size = core::dtypeSize(call.dtype);
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    // Nothing writes what is on its way.
    if (step.kind != Step::Kind::send && !program.isApart) SPRIG_RETURN_IF_ERROR(awaitPieces(step.piece, step.count));
    switch (step.kind) {
    case Step::Kind::send:
      SPRIG_RETURN_IF_ERROR(expectNext(program, i, call, buffers.buffers));
      SPRIG_RETURN_IF_ERROR(send(program, step, call, program.isApart ? buffers.inputs : buffers.buffers));
      break;
    case Step::Kind::receive:
    case Step::Kind::reduce: SPRIG_RETURN_IF_ERROR(take(program, step, call, buffers.buffers)); break;
    case Step::Kind::finish:
      if (call.reduction != Reduction::mean) break;
      for (const Buffers::Buffer &buffer : buffers.buffers) {
        Range range = rangeOf(program, step, buffer);
        divide(call.dtype, at(buffer, range.begin, size), range.size(), transport.ranks());
      }
      break;
    case Step::Kind::keep:
      for (size_t i = 0; i < buffers.buffers.size(); ++i) {
        const Buffers::Buffer &from = buffers.inputs[i], &to = buffers.buffers[i];
        Range read = rangeOf(program, step, from), written = rangeOf(program, step, to);
        if (written.size())
          std::memcpy(at(to, written.begin, size), at(from, read.begin, size), uint64_t(written.size()) * size);
      }
      break;
    }
  }
  return awaitPieces(0, program.pieces);
}

// What is taken next behind the step.
Status Communicator::expectNext(const Program &program, size_t step, const Call &call,
                                std::span<const Buffers::Buffer> to) {
  auto takes = [](const Step &each) { return each.kind == Step::Kind::receive || each.kind == Step::Kind::reduce; };
  auto next = std::find_if(program.steps.begin() + ptrdiff_t(step), program.steps.end(), takes);
  if (next == program.steps.end() || !transport.expects(next->peer)) return {};
  size_t bytes = 0;
  for (const Buffers::Buffer &buffer : to)
    bytes += uint64_t(rangeOf(program, *next, buffer).size()) * core::dtypeSize(call.dtype);
  return transport.expect(next->peer, bytes);
}

Status Communicator::send(const Program &program, const Step &step, const Call &call,
                          std::span<const Buffers::Buffer> from) {
  uint64_t size = core::dtypeSize(call.dtype);
  stretches.clear();
  for (const Buffers::Buffer &buffer : from) {
    Range range = rangeOf(program, step, buffer);
    stretches.push_back({at(buffer, range.begin, size), uint64_t(range.size()) * size});
  }
  uint64_t number = 0;
  SPRIG_RETURN_IF_ERROR(transport.send(step.peer, stretches, number));
  sent.push_back({step.peer, number, step.piece, step.count});
  return {};
}

Status Communicator::take(const Program &program, const Step &step, const Call &call,
                          std::span<const Buffers::Buffer> to) {
  uint64_t size = core::dtypeSize(call.dtype);
  sizes.clear();
  for (const Buffers::Buffer &buffer : to) sizes.push_back(uint64_t(rangeOf(program, step, buffer).size()) * size);
  Reached reached;
  for (bool isLast = false; !isLast;) {
    std::span<const Bytes> received;
    SPRIG_RETURN_IF_ERROR(transport.take(step.peer, sizes, received, isLast));
    Status status;
    for (size_t i = 0; i < received.size() && status.isOk(); ++i)
      if (received[i].size) status = takePart(program, step, call, to, received[i], reached);
    transport.giveBack(step.peer);
    SPRIG_RETURN_IF_ERROR(std::move(status));
  }
  passFull(reached);
  if (reached.stretch == sizes.size()) return {};
  return Status(SPRIG_RT_INVALID_ARGUMENT,
                core::concat("rank ", step.peer, " sends ", reached.bytes, " bytes of buffer ", reached.stretch,
                             " for ", call.text(), ", expected ", sizes[reached.stretch]));
}

void Communicator::passFull(Reached &reached) const {
  while (reached.stretch < sizes.size() && reached.bytes == sizes[reached.stretch]) reached = {reached.stretch + 1, 0};
}

Status Communicator::takePart(const Program &program, const Step &step, const Call &call,
                              std::span<const Buffers::Buffer> to, const Bytes &part, Reached &reached) const {
  passFull(reached);
  uint64_t expected = reached.stretch < sizes.size() ? sizes[reached.stretch] - reached.bytes : 0;
  if (part.size > expected)
    return Status(SPRIG_RT_INVALID_ARGUMENT, core::concat("rank ", step.peer, " sends ", part.size, " bytes for ",
                                                          call.text(), ", expected ", expected));
  const Buffers::Buffer &buffer = to[reached.stretch];
  uint64_t size = core::dtypeSize(call.dtype);
  std::byte *own = at(buffer, rangeOf(program, step, buffer).begin, size) + reached.bytes;
  if (step.kind == Step::Kind::reduce)
    combine(call.dtype, call.reduction, own, part.begin, int64_t(part.size / size));
  else
    std::memcpy(own, part.begin, part.size);
  reached.bytes += part.size;
  return {};
}

// Messages of which pieces are among these, or of no piece at all. Of those to one rank the last covers all before it.
Status Communicator::awaitPieces(uint32_t piece, uint32_t count) {
  for (size_t i = 0; i < sent.size();) {
    const Sent &message = sent[i];
    bool isAmong = message.piece < piece + count && piece < message.piece + message.count;
    if (!isAmong) {
      ++i;
      continue;
    }
    SPRIG_RETURN_IF_ERROR(transport.awaitTaken(message.peer, message.number));
    sent[i] = sent.back();
    sent.pop_back();
  }
  return {};
}

} // namespace sprig::rt::comm
