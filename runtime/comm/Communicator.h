// Runs collectives of one rank over a transport: the steps of its program, on its buffers.
#ifndef SPRIG_RUNTIME_COMM_COMMUNICATOR_H
#define SPRIG_RUNTIME_COMM_COMMUNICATOR_H

#include "runtime/comm/Transport.h"

#include <map>

namespace sprig::rt::comm {

// A rank's buffers in a call: all of one type, of the same sizes on all ranks. They travel in the same messages, and
// each is cut into pieces by itself, so bits do not depend on which are together. Everything happens in place, but that
// allToAll reads `inputs` and writes `buffers`, of which the one with as many pieces of one size
// (collective::exchanges) may have another size on each rank.
struct Buffers {
  struct Buffer {
    void *data;
    int64_t elements;
    int64_t unit = 1;                    // elements that stay together: a row; divides `elements`
    std::span<const int64_t> shape = {}; // ranks have to have the same
  };
  std::span<const Buffer> buffers;
  std::span<const Buffer> inputs = {};
};

// One thread at a time.
class Communicator {
public:
  // The transport outlives it. `perMachine` is of the hierarchy.
  explicit Communicator(Transport &transport, int perMachine = 1) : transport(transport), perMachine(perMachine) {}

  // Returns when this rank's part is done and none of its memory is read any more. What the call says of sizes is
  // filled in. A failed group stays so.
  Status run(Call call, const Buffers &buffers);

private:
  struct Sent {
    int peer;
    uint64_t number;
    uint32_t piece, count;
  };
  Status describe(const collective::Program &program, const Buffers &buffers, Call &call) const;
  template <typename Mix>
  Status describeExchange(const Buffers::Buffer &from, const Buffers::Buffer &to, const Buffers::Buffer *&told,
                          Mix mix) const;
  Status programOf(const Call &call, const collective::Program *&program);
  Status runSteps(const collective::Program &program, const Call &call, const Buffers &buffers);
  Status expectNext(const collective::Program &program, size_t step, const Call &call,
                    std::span<const Buffers::Buffer> to);
  Status send(const collective::Program &program, const collective::Step &step, const Call &call,
              std::span<const Buffers::Buffer> from);
  // How far a message has been taken: bytes of one of its stretches, all of those before it.
  struct Reached {
    size_t stretch = 0;
    uint64_t bytes = 0;
  };
  Status take(const collective::Program &program, const collective::Step &step, const Call &call,
              std::span<const Buffers::Buffer> to);
  void passFull(Reached &reached) const;
  Status takePart(const collective::Program &program, const collective::Step &step, const Call &call,
                  std::span<const Buffers::Buffer> to, const Bytes &part, Reached &reached) const;
  Status awaitPieces(uint32_t piece, uint32_t count);

  Transport &transport;
  int perMachine;
  std::map<std::tuple<collective::Kind, collective::Algorithm, int>, collective::Program> programs;
  // Kept from call to call for their memory.
  std::vector<Sent> sent;
  std::vector<Bytes> stretches;
  std::vector<size_t> sizes;
};

} // namespace sprig::rt::comm

#endif
