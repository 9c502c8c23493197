// What ranks do together in a test, whatever carries their bytes: the results of processes are compared with those of
// threads, bit by bit.
#ifndef SPRIG_RUNTIME_TEST_RANKEXCHANGES_H
#define SPRIG_RUNTIME_TEST_RANKEXCHANGES_H

#include "runtime/comm/Communicator.h"
#include "runtime/comm/ThreadRanks.h"

#include <cmath>
#include <functional>
#include <random>

namespace sprig::rt::test {

// What a rank is left with, array by array.
using Arrays = std::vector<std::vector<float>>;
using Exchange = std::function<comm::Status(int ranks, int rank, comm::Communicator &communicator, Arrays &results)>;

inline std::vector<float> randomNumbers(int rank, int64_t count) {
  std::mt19937 random(uint32_t(rank * 1000 + count));
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float &number : numbers) number = std::ldexp(float(random()) / float(1u << 31) - 1.f, int(random() % 20) - 10);
  return numbers;
}

inline comm::Status allReduceByEachAlgorithm(int ranks, int rank, comm::Communicator &communicator, Arrays &results) {
  using collective::Algorithm;
  for (Algorithm algorithm :
       {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional})
    for (int64_t size : {0, 1, ranks - 1, ranks, ranks + 1, 2048, 2049, 70001}) {
      // Two together: long messages of several stretches too.
      auto numbers = randomNumbers(rank, size), others = randomNumbers(rank + 10, size / 2);
      comm::Buffers::Buffer buffers[] = {{numbers.data(), size}, {others.data(), size / 2}};
      SPRIG_RETURN_IF_ERROR(communicator.run({collective::Kind::allReduce, algorithm}, {buffers}));
      SPRIG_RETURN_IF_ERROR(communicator.run({collective::Kind::allReduce, algorithm}, {{buffers, 1}}));
      results.push_back(numbers);
      results.push_back(others);
    }
  return {};
}

inline comm::Status everyOtherCollective(int ranks, int rank, comm::Communicator &communicator, Arrays &results) {
  using collective::Kind;
  for (int64_t size : {3, 10, 12, 9000, 50021})
    for (Kind kind : {Kind::broadcast, Kind::reduce, Kind::reduceScatter, Kind::allGather, Kind::gather, Kind::scatter,
                      Kind::allToAll, Kind::barrier}) {
      auto algorithm = collective::chooseAlgorithm(kind, ranks, size * 4);
      auto numbers = randomNumbers(rank, size), inputs = numbers;
      if (kind == Kind::allToAll)
        numbers.resize(size_t(collective::exchangedRows(size, uint32_t(ranks), uint32_t(rank))));
      comm::Buffers::Buffer buffer{numbers.data(), int64_t(numbers.size())}, input{inputs.data(), size};
      comm::Buffers buffers{{&buffer, size_t(kind != Kind::barrier)}};
      if (kind == Kind::allToAll) buffers.inputs = {&input, 1};
      SPRIG_RETURN_IF_ERROR(communicator.run({kind, algorithm, comm::Reduction::sum, SPRIG_RT_F32, 1}, buffers));
      results.push_back(numbers);
    }
  return {};
}

// What each of so many threads is left with; all have to end well.
inline std::vector<Arrays> resultsOfThreads(int ranks, const Exchange &exchange) {
  std::vector<Arrays> results(static_cast<size_t>(ranks));
  for (const comm::Status &status : comm::ThreadRanks({ranks}).run([&](comm::Transport &transport) {
         comm::Communicator communicator(transport);
         return exchange(ranks, transport.rank(), communicator, results[size_t(transport.rank())]);
       }))
    EXPECT_TRUE(status.isOk()) << status.message();
  return results;
}

} // namespace sprig::rt::test

#endif
