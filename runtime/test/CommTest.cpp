// Collectives between threads: values, bits, and what goes wrong.
#include "runtime/collective/Play.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/HalfTypes.h"
#include "runtime/comm/ThreadRanks.h"
#include "runtime/format/Types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

namespace sprig::rt::comm {
using namespace collective;
using namespace std::chrono_literals;
namespace {

// A body on each of so many threads, until all have ended; what each call gave.
std::vector<std::string> onRanks(const ThreadRanksOptions &options,
                                 const std::function<Status(int, Communicator &)> &body, int perMachine = 1) {
  ThreadRanks group(options);
  std::vector<std::string> messages;
  for (const Status &status : group.run([&](Transport &transport) {
         Communicator communicator(transport, perMachine);
         return body(transport.rank(), communicator);
       }))
    messages.emplace_back(status.message());
  return messages;
}

std::vector<std::string> none(int ranks) { return std::vector<std::string>(size_t(ranks)); }

Status allReduce(Communicator &communicator, std::vector<float> &numbers, Algorithm algorithm = Algorithm::ring,
                 Reduction reduction = Reduction::sum) {
  Buffers::Buffer buffer{numbers.data(), int64_t(numbers.size())};
  return communicator.run({Kind::allReduce, algorithm, reduction}, {{&buffer, 1}});
}

std::vector<float> randomNumbers(int rank, int64_t count) {
  std::mt19937 random(uint32_t(rank * 1000 + count));
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float &number : numbers) number = std::ldexp(float(random()) / float(1u << 31) - 1.f, int(random() % 20) - 10);
  return numbers;
}

// What a sum that is written as Play writes it comes to: "((x0+x1)+x2)".
float evaluated(const std::string &text, size_t &at, const std::vector<float> &x) {
  if (text[at] == 'x') {
    size_t digits = 0;
    size_t rank = std::stoul(text.substr(at + 1), &digits);
    at += 1 + digits;
    return x[rank];
  }
  ++at;
  float left = evaluated(text, at, x);
  ++at;
  float right = evaluated(text, at, x);
  ++at;
  return left + right;
}

constexpr Algorithm kAllReduces[] = {Algorithm::star, Algorithm::split,         Algorithm::tree,
                                     Algorithm::ring, Algorithm::bidirectional, Algorithm::hierarchy};
std::vector<int64_t> sizesFor(int ranks) { return {0, 1, ranks - 1, ranks, ranks + 1, 31, 97}; }

// The order that the program states is the order of the bits, for every size.
TEST(Comm, SumsAreThoseOfTheProgram) {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (Algorithm algorithm : kAllReduces) {
      int perMachine = algorithm == Algorithm::hierarchy ? (ranks % 3 ? (ranks % 2 ? ranks : 2) : 3) : 1;
      Plan plan{Kind::allReduce, algorithm, ranks, 0, perMachine};
      size_t count = size_t(ranks);
      std::vector<Program> programs(count);
      std::string why;
      for (int rank = 0; rank < ranks; ++rank) ASSERT_TRUE(makeProgram(plan, rank, programs[size_t(rank)], why)) << why;
      Played played = play(programs);
      std::vector<std::vector<std::vector<float>>> results(count);
      EXPECT_EQ(onRanks(
                    {ranks},
                    [&](int rank, Communicator &communicator) {
                      for (int64_t size : sizesFor(ranks)) {
                        results[size_t(rank)].push_back(randomNumbers(rank, size));
                        SPRIG_RETURN_IF_ERROR(allReduce(communicator, results[size_t(rank)].back(), algorithm));
                      }
                      return Status();
                    },
                    perMachine),
                none(ranks));
      std::vector<int64_t> sizes = sizesFor(ranks);
      for (size_t s = 0; s < sizes.size(); ++s) {
        std::vector<std::vector<float>> inputs;
        for (int rank = 0; rank < ranks; ++rank) inputs.push_back(randomNumbers(rank, sizes[s]));
        for (uint32_t piece = 0; piece < programs[0].pieces; ++piece) {
          Range range = pieceOf(sizes[s], programs[0].pieces, piece);
          std::string order = played.holds[0][piece].substr(4); // "mean"
          for (int64_t i = range.begin; i < range.end; ++i) {
            std::vector<float> x;
            for (auto &input : inputs) x.push_back(input[size_t(i)]);
            size_t at = 0;
            float expected = evaluated(order, at, x);
            for (int rank = 0; rank < ranks; ++rank)
              ASSERT_EQ(results[size_t(rank)][s][size_t(i)], expected)
                  << nameOf(algorithm) << ", " << ranks << " ranks, rank " << rank << ", element " << i << " of "
                  << sizes[s] << ", order " << order;
          }
        }
      }
    }
}

TEST(Comm, OtherCollectivesMoveWhatTheySay) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (int64_t size : sizesFor(ranks)) {
      auto start = [&](int rank) {
        std::vector<int32_t> numbers;
        for (int64_t i = 0; i < size; ++i) numbers.push_back(int32_t(rank * 1000 + i));
        return numbers;
      };
      int root = ranks / 2;
      auto messages = onRanks({ranks}, [&](int rank, Communicator &communicator) {
        auto run = [&](Kind kind, Algorithm algorithm, std::vector<int32_t> &numbers) {
          Buffers::Buffer buffer{numbers.data(), size};
          return communicator.run({kind, algorithm, Reduction::sum, SPRIG_RT_I32, root}, {{&buffer, 1}});
        };
        auto range = [&](int of) { return pieceOf(size, uint32_t(ranks), uint32_t(of)); };
        for (Algorithm algorithm : {Algorithm::star, Algorithm::tree, Algorithm::ring}) {
          std::vector<int32_t> numbers = start(rank);
          SPRIG_RETURN_IF_ERROR(run(Kind::broadcast, algorithm, numbers));
          EXPECT_EQ(numbers, start(root));
          numbers = start(rank);
          SPRIG_RETURN_IF_ERROR(run(Kind::reduce, algorithm, numbers));
          for (int64_t i = 0; i < size && rank == root; ++i)
            EXPECT_EQ(numbers[size_t(i)], 1000 * ranks * (ranks - 1) / 2 + ranks * i);
        }
        for (Algorithm algorithm : {Algorithm::split, Algorithm::ring}) {
          std::vector<int32_t> numbers = start(rank);
          SPRIG_RETURN_IF_ERROR(run(Kind::reduceScatter, algorithm, numbers));
          for (int64_t i = range(rank).begin; i < range(rank).end; ++i)
            EXPECT_EQ(numbers[size_t(i)], 1000 * ranks * (ranks - 1) / 2 + ranks * i);
          numbers = start(rank);
          SPRIG_RETURN_IF_ERROR(run(Kind::allGather, algorithm, numbers));
          for (int of = 0; of < ranks; ++of)
            for (int64_t i = range(of).begin; i < range(of).end; ++i) EXPECT_EQ(numbers[size_t(i)], of * 1000 + i);
        }
        std::vector<int32_t> numbers = start(rank);
        SPRIG_RETURN_IF_ERROR(run(Kind::gather, Algorithm::star, numbers));
        for (int of = 0; of < ranks && rank == root; ++of)
          for (int64_t i = range(of).begin; i < range(of).end; ++i) EXPECT_EQ(numbers[size_t(i)], of * 1000 + i);
        numbers = start(rank);
        SPRIG_RETURN_IF_ERROR(run(Kind::scatter, Algorithm::star, numbers));
        for (int64_t i = range(rank).begin; i < range(rank).end; ++i) EXPECT_EQ(numbers[size_t(i)], root * 1000 + i);
        // Of every rank the piece of this one's number, and back.
        int64_t each = range(rank).size();
        std::vector<int32_t> input = start(rank), output(size_t(each * ranks), -1), back(input.size(), -1);
        Buffers::Buffer from{input.data(), size}, to{output.data(), each * ranks}, again{back.data(), size};
        Call exchange{Kind::allToAll, Algorithm::split, Reduction::sum, SPRIG_RT_I32};
        SPRIG_RETURN_IF_ERROR(communicator.run(exchange, {{&to, 1}, {&from, 1}}));
        for (int64_t i = 0; i < each * ranks; ++i)
          EXPECT_EQ(output[size_t(i)], i / each * 1000 + range(rank).begin + i % each);
        SPRIG_RETURN_IF_ERROR(communicator.run(exchange, {{&again, 1}, {&to, 1}}));
        EXPECT_EQ(back, input);
        return communicator.run({Kind::barrier, Algorithm::tree}, {});
      });
      EXPECT_EQ(messages, none(ranks)) << ranks << " ranks, " << size << " elements";
    }
}

TEST(Comm, BarrierLetsNobodyGoBeforeAllHaveCome) {
  constexpr int kRanks = 5;
  std::atomic<int> come = 0;
  EXPECT_EQ(onRanks({kRanks},
                    [&](int rank, Communicator &communicator) {
                      for (int round = 1; round <= 20; ++round) {
                        std::this_thread::sleep_for(std::chrono::microseconds((rank * 7 + round * 5) % 11 * 20));
                        ++come;
                        SPRIG_RETURN_IF_ERROR(communicator.run({Kind::barrier, Algorithm::tree}, {}));
                        EXPECT_GE(come, round * kRanks);
                      }
                      return Status();
                    }),
            none(kRanks));
}

// The same bits whatever arrives first, whatever travels together, and wherever memory is.
TEST(Comm, BitsDoNotDependOnArrivalNorOnBuckets) {
  constexpr int kRanks = 4;
  const std::vector<int64_t> sizes = {1, 7, 64, 0, 33, 130};
  for (Algorithm algorithm : kAllReduces) {
    std::vector<std::vector<float>> apart(kRanks), together(kRanks);
    EXPECT_EQ(onRanks(
                  {kRanks},
                  [&](int rank, Communicator &communicator) {
                    std::mt19937 random(uint32_t(rank + int(algorithm) * 10));
                    for (int64_t size : sizes) {
                      std::vector<float> numbers = randomNumbers(rank, size);
                      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
                      SPRIG_RETURN_IF_ERROR(allReduce(communicator, numbers, algorithm));
                      apart[size_t(rank)].insert(apart[size_t(rank)].end(), numbers.begin(), numbers.end());
                    }
                    std::vector<std::vector<float>> all;
                    std::vector<Buffers::Buffer> buffers;
                    for (int64_t size : sizes) all.push_back(randomNumbers(rank, size));
                    for (auto &numbers : all) buffers.push_back({numbers.data(), int64_t(numbers.size())});
                    std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
                    SPRIG_RETURN_IF_ERROR(communicator.run({Kind::allReduce, algorithm}, {buffers}));
                    for (auto &numbers : all)
                      together[size_t(rank)].insert(together[size_t(rank)].end(), numbers.begin(), numbers.end());
                    return Status();
                  },
                  algorithm == Algorithm::hierarchy ? 2 : 1),
              none(kRanks));
    for (int rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(apart[size_t(rank)], apart[0]) << nameOf(algorithm);
      EXPECT_EQ(together[size_t(rank)], apart[0]) << nameOf(algorithm);
    }
  }
}

// Two calls of the textbook: sums and means of four and of three.
TEST(Comm, MeansDivideByTheRanks) {
  const std::vector<std::vector<float>> gradients = {{1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {1.5, 2.5, 3.5}};
  for (Algorithm algorithm : kAllReduces)
    EXPECT_EQ(onRanks({4},
                      [&](int rank, Communicator &communicator) {
                        std::vector<float> own = gradients[size_t(rank)];
                        SPRIG_RETURN_IF_ERROR(allReduce(communicator, own, algorithm, Reduction::mean));
                        EXPECT_EQ(own, (std::vector<float>{1.875, 2.125, 2.375})) << nameOf(algorithm);
                        return Status();
                      }),
              none(4));
}

TEST(Comm, EveryTypeIsReducedInItsOwn) {
  struct Row {
    sprig_rt_dtype dtype;
    double most; // of a sum of four
  };
  for (Row row : {Row{SPRIG_RT_F64, 1e9}, Row{SPRIG_RT_F32, 1e6}, Row{SPRIG_RT_F16, 1000}, Row{SPRIG_RT_BF16, 200},
                  Row{SPRIG_RT_I64, 1e9}, Row{SPRIG_RT_I32, 1e6}, Row{SPRIG_RT_I16, 3e4}, Row{SPRIG_RT_I8, 100},
                  Row{SPRIG_RT_U64, 1e9}, Row{SPRIG_RT_U32, 1e6}, Row{SPRIG_RT_U16, 3e4}, Row{SPRIG_RT_U8, 200}}) {
    auto store = [&](void *to, double value) {
      switch (row.dtype) {
      case SPRIG_RT_F64: std::memcpy(to, &value, 8); return;
      case SPRIG_RT_F32: *static_cast<float *>(to) = float(value); return;
      case SPRIG_RT_F16: *static_cast<Float16 *>(to) = Float16::of(float(value)); return;
      case SPRIG_RT_BF16: *static_cast<BFloat16 *>(to) = BFloat16::of(float(value)); return;
      default: {
        int64_t whole = int64_t(value);
        std::memcpy(to, &whole, sprig::rt::core::dtypeSize(row.dtype)); // little-endian
      }
      }
    };
    double parts[] = {std::floor(row.most / 10), std::floor(row.most / 5), std::floor(row.most / 20), 3};
    double sum = parts[0] + parts[1] + parts[2] + parts[3];
    for (auto [reduction, expected] :
         {std::pair{Reduction::sum, sum}, std::pair{Reduction::max, parts[1]}, std::pair{Reduction::min, 3.0}}) {
      uint64_t wanted = 0, own[4] = {};
      store(&wanted, expected);
      EXPECT_EQ(onRanks({4},
                        [&, reduction = reduction](int rank, Communicator &communicator) {
                          store(&own[rank], parts[rank]);
                          Buffers::Buffer buffer{&own[rank], 1};
                          return communicator.run({Kind::allReduce, Algorithm::ring, reduction, row.dtype},
                                                  {{&buffer, 1}});
                        }),
                none(4));
      for (uint64_t number : own)
        EXPECT_EQ(number, wanted) << sprig::rt::core::dtypeName(row.dtype) << " " << nameOf(reduction);
    }
  }
}

TEST(Comm, ReductionsKeepNaNAndGoAround) {
  float nan = std::nanf(""), own[] = {nan, 1, 2}, received[] = {1, nan, 3};
  combine(SPRIG_RT_F32, Reduction::max, own, received, 3);
  EXPECT_TRUE(std::isnan(own[0]) && std::isnan(own[1]) && own[2] == 3);
  int8_t small[] = {100, -128}, more[] = {100, 2};
  combine(SPRIG_RT_I8, Reduction::sum, small, more, 2);
  EXPECT_EQ(small[0], -56);
  int16_t large = 0x7fff, other = 0x7fff;
  combine(SPRIG_RT_I16, Reduction::product, &large, &other, 1);
  EXPECT_EQ(large, 1);
  EXPECT_EQ(whyNot(SPRIG_RT_I32, Reduction::mean), "a mean is of floating-point elements, found i32");
  EXPECT_EQ(whyNot(SPRIG_RT_I1, Reduction::sum), "i1 has no sum; max is 'or', min is 'and'");
}

// Every f16 and bf16 goes to f32 and back; between two neighbours the nearest, of the middle the even one.
TEST(Comm, HalfTypesRoundToNearestEven) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    Float16 half{uint16_t(bits)};
    BFloat16 brain{uint16_t(bits)};
    if (std::isnan(float(half)))
      EXPECT_TRUE(std::isnan(float(Float16::of(float(half)))));
    else
      ASSERT_EQ(Float16::of(float(half)).bits, bits);
    if (std::isnan(float(brain)))
      EXPECT_TRUE(std::isnan(float(BFloat16::of(float(brain)))));
    else
      ASSERT_EQ(BFloat16::of(float(brain)).bits, bits);
    if ((bits & 0x7fff) >= 0x7bff) continue;
    float next = float(Float16{uint16_t(bits + 1)}), middle = float((double(float(half)) + double(next)) / 2);
    ASSERT_EQ(Float16::of(middle).bits, bits + (bits & 1));
    ASSERT_EQ(Float16::of(std::nextafter(middle, next)).bits, bits + 1);
    ASSERT_EQ(Float16::of(std::nextafter(middle, float(half))).bits, bits);
  }
  EXPECT_EQ(Float16::of(65519.996f).bits, 0x7bff);
  EXPECT_EQ(Float16::of(65520.f).bits, 0x7c00);
  EXPECT_EQ(Float16::of(0x1p-14f).bits, 0x0400);
  EXPECT_EQ(BFloat16::of(std::numeric_limits<float>::max()).bits, 0x7f80);
}

TEST(Comm, DifferentCallsAreNamedOnEveryRank) {
  auto messages = onRanks({3, 5s}, [&](int rank, Communicator &communicator) {
    std::vector<float> numbers(size_t(rank == 2 ? 5 : 4), 1.f);
    SPRIG_RETURN_IF_ERROR(communicator.run({Kind::barrier, Algorithm::tree}, {}));
    Buffers::Buffer buffer{numbers.data(), int64_t(numbers.size())};
    Call call{Kind::allReduce, Algorithm::ring};
    call.file = "train.cpp", call.line = 12 + rank;
    return communicator.run(call, {{&buffer, 1}});
  });
  for (const std::string &message : messages) {
    EXPECT_EQ(message, messages[0]);
    EXPECT_TRUE(message.starts_with("collective 2 differs: rank ")) << message;
    EXPECT_NE(message.find("all_reduce of 4 f32 (sum, ring) at train.cpp:1"), message.npos) << message;
    EXPECT_NE(message.find("rank 2 calls all_reduce of 5 f32 (sum, ring) at train.cpp:14"), message.npos) << message;
  }
}

// A rank's texts are its own, and may be gone with it when another comes.
TEST(Comm, WhereARankWasIsToldAfterItsTextsAreGone) {
  ThreadRanks group({2, 5s});
  {
    std::string file = "a/directory/of/the/first/train.cpp", part = "ranks 0 and 1 of many";
    Call call{Kind::allReduce, Algorithm::ring};
    call.elements = 4, call.file = file.c_str(), call.line = 12;
    call.part = 7, call.partCall = 1, call.partText = part.c_str();
    ASSERT_TRUE(group.transport(0).begin(call).isOk());
    file.assign(file.size(), '?');
    part.assign(part.size(), '?');
  }
  Call other{Kind::barrier, Algorithm::tree};
  other.part = 7, other.partCall = 1;
  EXPECT_EQ(group.transport(1).begin(other).message(),
            "collective 1 differs: rank 0 calls all_reduce of 4 f32 (sum, ring) of ranks 0 and 1 of many at "
            "a/directory/of/the/first/train.cpp:12, rank 1 calls barrier");
}

// As many elements in other shapes, alone and among others.
TEST(Comm, OtherShapesAreNamed) {
  for (size_t buffers : {1, 2}) {
    auto messages = onRanks({2, 5s}, [&](int rank, Communicator &communicator) {
      float numbers[6] = {};
      const int64_t shapes[2][2] = {{2, 3}, {3, 2}};
      Buffers::Buffer buffer{numbers, 6, 1, shapes[rank]}, alike{numbers, 0};
      Buffers::Buffer all[] = {buffer, alike};
      return communicator.run({Kind::allReduce, Algorithm::ring}, {std::span(all, buffers)});
    });
    std::string one = buffers == 1 ? "all_reduce of 6 f32 (sum, ring)" : "all_reduce of 2 buffers, 6 f32 (sum, ring)";
    std::string expected = "collective 1 differs: rank 0 calls " + one + ", rank 1 calls " + one + ", of other shapes";
    EXPECT_EQ(messages, std::vector<std::string>(2, expected));
  }
}

TEST(Comm, RankThatStaysAwayIsNamedInTime) {
  auto begin = std::chrono::steady_clock::now();
  auto messages = onRanks({3, 1s}, [&](int rank, Communicator &communicator) {
    SPRIG_RETURN_IF_ERROR(communicator.run({Kind::barrier, Algorithm::tree}, {}));
    if (rank == 1) std::this_thread::sleep_for(1500ms);
    return communicator.run({Kind::barrier, Algorithm::tree}, {});
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  for (const std::string &message : messages) {
    EXPECT_EQ(message, messages[0]);
    EXPECT_NE(message.find("has waited 1 s for rank"), message.npos) << message;
    EXPECT_NE(message.find("rank 1 is in no collective, after 1"), message.npos) << message;
    EXPECT_NE(message.find("rank 2 is at its collective 2, barrier"), message.npos) << message;
  }
}

TEST(Comm, RankThatEndsIsNamed) {
  auto messages = onRanks({2, 0s}, [&](int rank, Communicator &communicator) {
    return rank ? Status() : communicator.run({Kind::barrier, Algorithm::tree}, {});
  });
  EXPECT_EQ(messages[0], "rank 0 is at barrier, rank 1 has ended after 0 collectives");
}

// A rank fails in the midst of others' waits: all get its error, and no memory of a frame that is gone is read.
TEST(Comm, FailureReachesEveryRank) {
  for (int failing = 0; failing < 4; ++failing) {
    ThreadRanks group({4, 30s});
    std::vector<std::string> messages(4);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank)
      threads.emplace_back([&, rank] {
        Communicator communicator(group.transport(rank));
        for (int i = 0; messages[size_t(rank)].empty(); ++i) {
          if (rank == failing && i == 20) group.fail(rank, Status(SPRIG_RT_IO_ERROR, "no more data"));
          std::vector<float> numbers = randomNumbers(rank, 10000);
          messages[size_t(rank)] = allReduce(communicator, numbers).message();
        }
        group.leave(rank);
      });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(messages, std::vector<std::string>(4, "no more data"));
    EXPECT_EQ(group.failedRank(), failing);
  }
}

TEST(Comm, WrongUseIsRefused) {
  auto messages = onRanks({1}, [&](int, Communicator &communicator) {
    int32_t number = 1;
    Buffers::Buffer buffer{&number, 1};
    auto refused = [&](const Call &call) { return std::string(communicator.run(call, {{&buffer, 1}}).message()); };
    EXPECT_EQ(refused({Kind::allReduce, Algorithm::ring, Reduction::mean, SPRIG_RT_I32}),
              "a mean is of floating-point elements, found i32");
    EXPECT_EQ(refused({Kind::gather, Algorithm::ring}), "gather has no algorithm 'ring'; it has: star");
    EXPECT_EQ(refused({Kind::broadcast, Algorithm::tree, Reduction::sum, SPRIG_RT_I32, 1}), "root 1 is no rank of 1");
    EXPECT_EQ(refused({Kind::allToAll, Algorithm::split}), "all_to_all reads 0 buffers and writes 1");
    return Status();
  });
  EXPECT_EQ(messages, none(1));
  // Of five numbers rank 0 of two gets six; ranks that go opposite ways are told.
  messages = onRanks({2}, [&](int rank, Communicator &communicator) {
    int32_t numbers[12] = {};
    auto exchanged = [&](int64_t read, int64_t written) {
      Buffers::Buffer from{numbers, read}, to{numbers + 6, written};
      return communicator.run({Kind::allToAll, Algorithm::split}, {{&to, 1}, {&from, 1}});
    };
    if (!rank) EXPECT_EQ(exchanged(5, 5).message(), "all_to_all reads 5 elements and writes 5");
    return rank ? exchanged(4, 5) : exchanged(5, 6);
  });
  for (const std::string &message : messages)
    EXPECT_NE(message.find("all_to_all of 5 f32 (split)"), std::string::npos) << message;
}

} // namespace
} // namespace sprig::rt::comm
