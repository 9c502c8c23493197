// Every collective as a command of entries, of all ranks and of parts of a mesh: what threads of this process make by
// it, and what of damaged commands is refused.
#include "runtime/comm/RankGroup.h"
#include "runtime/test/RankThreads.h"
#include "runtime/test/SumPackage.h"

#include <gtest/gtest.h>
#include <atomic>
#include <thread>

namespace sprig::rt::test {
namespace {

using collective::Algorithm;
using collective::Kind;

// Word i of rank r's operand.
uint32_t wordOf(uint32_t rank, int64_t i) { return uint32_t(i) * 7 + rank * 1000003; }

// What rank `rank` gets as word i of its result, of a whole of so many rows. Operands are those of ranks from `base`
// on.
uint32_t expectedOf(Kind kind, uint32_t ranks, uint32_t rank, uint32_t root, int64_t rows, int64_t unit, int64_t i,
                    uint32_t base = 0) {
  auto piece = [&](uint32_t of) { return collective::pieceOf(rows, ranks, of); };
  int64_t begin = piece(rank).begin * unit;
  auto sumAt = [&](int64_t at) {
    uint32_t sum = 0;
    for (uint32_t each = 0; each < ranks; ++each) sum += wordOf(base + each, at);
    return sum;
  };
  // Whose part of a whole a word is.
  uint32_t owner = 0;
  while (piece(owner).end * unit <= i && owner + 1 < ranks) ++owner;
  switch (kind) {
  case Kind::allReduce: return sumAt(i);
  case Kind::reduceScatter: return sumAt(begin + i);
  case Kind::reduce: return rank == root ? sumAt(i) : 0;
  case Kind::broadcast: return wordOf(base + root, i);
  case Kind::allGather: return wordOf(base + owner, i - piece(owner).begin * unit);
  case Kind::gather: return rank == root ? wordOf(base + owner, i - piece(owner).begin * unit) : 0;
  case Kind::scatter: return wordOf(base + root, begin + i);
  case Kind::part: return wordOf(base + rank, begin + i);
  case Kind::allToAll: {
    int64_t each = piece(rank).size() * unit;
    return wordOf(base + uint32_t(i / each), begin + i % each);
  }
  case Kind::barrier: break;
  }
  return 0;
}

size_t wordsRead(Kind kind, uint32_t ranks, uint32_t rank, int64_t rows, int64_t unit) {
  if (collective::formOf(kind) == collective::Form::fromPart) rows = collective::pieceOf(rows, ranks, rank).size();
  return size_t(rows * unit);
}
size_t wordsWritten(Kind kind, uint32_t ranks, uint32_t rank, int64_t rows, int64_t unit) {
  if (collective::formOf(kind) == collective::Form::toPart) rows = collective::pieceOf(rows, ranks, rank).size();
  if (kind == Kind::allToAll) rows = collective::exchangedRows(rows, ranks, rank);
  return size_t(rows * unit);
}

TEST(RankCollectives, EveryCollectiveIsACommand) {
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (Kind kind : {Kind::allReduce, Kind::reduceScatter, Kind::allGather, Kind::broadcast, Kind::reduce,
                      Kind::gather, Kind::scatter, Kind::allToAll, Kind::part})
      for (Algorithm algorithm :
           {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring, Algorithm::bidirectional})
        for (int64_t rows : {0, 1, 3, 4, 5, 12, 131}) {
          if (!collective::does(algorithm, kind)) continue;
          for (uint32_t root = 0; root < (collective::isRooted(kind) ? ranks : 1); ++root) {
            constexpr int64_t kUnit = 3;
            core::Collective call{.kind = kind, .algorithm = algorithm, .root = root};
            onRanks(ranks, [&](uint32_t rank, const Group &group) {
              Package package = callPackage(ranks, rank, call, rows, kUnit).load();
              Context context(package);
              context.join(group);
              Words x(wordsRead(kind, ranks, rank, rows, kUnit)), y(wordsWritten(kind, ranks, rank, rows, kUnit));
              for (int again = 0; again < 2; ++again) {
                for (size_t i = 0; i < x.size(); ++i) x[i] = wordOf(rank, int64_t(i));
                context.invoke({x.view()}, {y.view()});
                for (size_t i = 0; i < y.size(); ++i)
                  ASSERT_EQ(y[i], expectedOf(kind, ranks, rank, root, rows, kUnit, int64_t(i)))
                      << nameOf(kind) << " by " << nameOf(algorithm) << " of " << rows << " rows, root " << root
                      << ": rank " << rank << " at " << i;
              }
            });
          }
        }
}

// Tensors that go together, of rows that ranks share evenly and not, and of none: each is cut by itself.
TEST(RankCollectives, SeveralTensorsGoTogetherInEveryCollective) {
  constexpr int64_t kUnit = 3, kRows[] = {5, 0, 12, 4099, 1};
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (Kind kind : {Kind::allReduce, Kind::reduceScatter, Kind::allGather, Kind::broadcast, Kind::reduce,
                      Kind::gather, Kind::scatter, Kind::allToAll, Kind::part}) {
      std::span<const int64_t> rows = kRows;
      uint32_t root = collective::isRooted(kind) ? ranks - 1 : 0;
      onRanks(ranks, [&](uint32_t rank, const Group &group) {
        Package package = callPackage(ranks, rank, {.kind = kind, .root = root}, rows, kUnit).load();
        Context context(package);
        context.join(group);
        std::vector<Words> x, y;
        std::vector<TensorView> inputs, outputs;
        for (size_t t = 0; t < rows.size(); ++t) {
          x.emplace_back(wordsRead(kind, ranks, rank, rows[t], kUnit));
          y.emplace_back(wordsWritten(kind, ranks, rank, rows[t], kUnit));
          for (size_t i = 0; i < x[t].size(); ++i) x[t][i] = wordOf(rank + 100 * uint32_t(t), int64_t(i));
          inputs.push_back(x[t].view());
          outputs.push_back(y[t].view());
        }
        context.invoke(inputs, outputs);
        for (size_t t = 0; t < rows.size(); ++t)
          for (size_t i = 0; i < y[t].size(); ++i)
            ASSERT_EQ(y[t][i], expectedOf(kind, ranks, rank, root, rows[t], kUnit, int64_t(i), 100 * uint32_t(t)))
                << nameOf(kind) << " of tensor " << t << ", " << rows[t] << " rows: rank " << rank << " at " << i;
      });
    }
}

// Parts of one size go back to where they were cut from: of rows that ranks do not divide, too.
TEST(RankCollectives, ExchangedRowsGoBack) {
  constexpr int64_t kUnit = 2;
  for (uint32_t ranks = 2; ranks <= 4; ++ranks)
    for (int64_t rows : {0, 1, 3, 4, 5, 13})
      onRanks(ranks, [&](uint32_t rank, const Group &group) {
        Package package = callPackage(ranks, rank, {.kind = Kind::allToAll}, rows, kUnit, /*goesBack=*/true).load();
        Context context(package);
        context.join(group);
        Words x(wordsWritten(Kind::allToAll, ranks, rank, rows, kUnit)), y(size_t(rows * kUnit));
        for (size_t i = 0; i < x.size(); ++i) x[i] = wordOf(rank, int64_t(i));
        context.invoke({x.view()}, {y.view()});
        for (uint32_t owner = 0; owner < ranks; ++owner) {
          collective::Range piece = collective::pieceOf(rows, ranks, owner);
          for (int64_t i = 0; i < piece.size() * kUnit; ++i)
            ASSERT_EQ(y[size_t(piece.begin * kUnit + i)], wordOf(owner, rank * piece.size() * kUnit + i))
                << rows << " rows of " << ranks << " ranks: rank " << rank << " from " << owner << " at " << i;
        }
      });
}

// Groups along either axis of a mesh, side by side, in turn with all ranks; of rows that they share evenly and not.
TEST(RankCollectives, EveryCollectiveIsOfPartsOfAMesh) {
  constexpr int64_t kUnit = 3;
  for (uint32_t axis = 0; axis < 2; ++axis)
    for (Kind kind : {Kind::allReduce, Kind::reduceScatter, Kind::allGather, Kind::broadcast, Kind::reduce,
                      Kind::gather, Kind::scatter, Kind::allToAll, Kind::part})
      for (int64_t rows : {0, 1, 5, 12}) {
        uint32_t ranks = axis ? 3 : 2, root = collective::isRooted(kind) ? 1 : 0;
        onRanks(6, [&](uint32_t rank, const Group &group) {
          uint32_t place = axis ? rank % 3 : rank / 3, base = 16 * (axis ? rank / 3 : rank % 3);
          TestPackage package = callPackage(ranks, place, {.kind = kind, .root = root, .axes = {axis}}, rows, kUnit);
          core::Entry &entry = package.program.entries[0];
          entry.ranks = 6;
          entry.rank = int32_t(rank);
          entry.mesh = {{"data", 2}, {"model", 3}};
          Package loaded = package.load(), all = sumPackage(6, 4).load();
          Context context(loaded), ofAll(all), again(loaded); // parts go on where another context has left them
          Words x(wordsRead(kind, ranks, place, rows, kUnit)), y(wordsWritten(kind, ranks, place, rows, kUnit)),
              one(4, rank), sum(4);
          for (Context *each : {&context, &again, &context}) {
            each->join(group);
            for (size_t i = 0; i < x.size(); ++i) x[i] = wordOf(base + place, int64_t(i));
            each->invoke({x.view()}, {y.view()});
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_EQ(y[i], expectedOf(kind, ranks, place, root, rows, kUnit, int64_t(i), base))
                  << nameOf(kind) << " over axis " << axis << " of " << rows << " rows: rank " << rank << " at " << i;
            ofAll.join(group);
            ofAll.invoke({one.view()}, {sum.view()});
            ASSERT_EQ(sum[0], 30u);
          }
        });
      }
}

// What goes wrong in a part is told with its ranks, to all.
TEST(RankCollectives, RanksOfPartsAtOtherTensorsAreToldSo) {
  std::vector<std::string> errors(4);
  onRanks(4, [&](uint32_t rank, const Group &group) {
    TestPackage package = callPackage(2, rank % 2, {.kind = Kind::allReduce, .axes = {1}}, rank == 3 ? 8 : 4, 1);
    package.program.entries[0].ranks = 4;
    package.program.entries[0].mesh = {{"data", 2}, {"model", 2}};
    Package loaded = package.load();
    Context context(loaded);
    context.join(group);
    Words x(rank == 3 ? 8 : 4), y(x.size());
    errors[rank] = messageOf([&] { context.invoke({x.view()}, {y.view()}); });
  });
  for (uint32_t rank : {2, 3})
    EXPECT_NE(errors[rank].find("rank 3 calls all_reduce of 8 ui32 (sum, tree) of ranks 2 and 3"), std::string::npos)
        << errors[rank];
}

TEST(RankCollectives, PiecesAreGatheredBetweenRuns) {
  for (size_t count : {0, 1, 5, 4096})
    onRanks(3, [&](uint32_t rank, const Group &group) {
      std::vector<std::byte> bytes(count, std::byte(99));
      collective::Range own = collective::pieceOf(int64_t(count), 3, rank);
      for (int64_t i = own.begin; i < own.end; ++i) bytes[size_t(i)] = std::byte(i * 7);
      group.allGather(bytes);
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(bytes[i], std::byte(i * 7)) << "of " << count << " at " << i;
    });
}

TEST(RankCollectives, ABarrierWaitsForAll) {
  TestPackage package;
  EntryBuilder entry("wait");
  uint32_t x = entry.input("x", {1}), y = entry.output("y", {1});
  entry.copy(0, x, y);
  entry.collective(0, {}, {.kind = Kind::barrier});
  entry.entry.ranks = 3;
  package.program.entries.push_back(entry.entry);
  Package loaded = package.load();
  std::atomic<int> come = 0;
  onRanks(3, [&](uint32_t rank, const Group &group) {
    Context context(loaded);
    context.join(group);
    Words a(1), b(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * rank));
    ++come;
    context.invoke({a.view()}, {b.view()});
    EXPECT_EQ(come, 3);
  });
}

TEST(RankCollectives, DescribesCollectives) {
  Package package = callPackage(2, 0, {.kind = Kind::scatter, .root = 1}, 4, 2).load();
  sprig_rt_command_info info;
  sprig_rt_status_free(sprig_rt_package_command(package.raw(), 0, 0, 1, &info));
  EXPECT_EQ(info.kind, SPRIG_RT_SCATTER);
  EXPECT_STREQ(commandKindName(info.kind), "scatter");
  EXPECT_EQ(info.buffer_count, 2u);
  EXPECT_EQ(info.bytes, 32u); // of the whole
  EXPECT_STREQ(commandKindName(SPRIG_RT_PART), "part");
}

TEST(RankCollectives, DamagedCollectivesAreRefused) {
  using core::Collective, core::Command, core::Entry;
  auto expectOf = [](TestPackage package, const char *text, auto damage) {
    Entry &entry = package.program.entries[0];
    damage(entry, entry.lanes[0].commands[1], entry.collectives[0]);
    std::string told = messageOf([&] { package.load(); });
    EXPECT_NE(told.find(text), std::string::npos) << told << "\nexpected: " << text;
  };
  auto expect = [&](const char *text, auto damage) { expectOf(sumPackage(2, 4), text, damage); };
  expect("all_reduce in an entry of one rank", [](Entry &entry, Command &, Collective &) { entry.ranks = 1; });
  expect("unknown collective 10", [](Entry &, Command &, Collective &call) { call.kind = Kind(10); });
  expect("unknown reduction 5", [](Entry &, Command &, Collective &call) { call.reduction = comm::Reduction(5); });
  expect("unknown algorithm 5", [](Entry &, Command &, Collective &call) { call.algorithm = Algorithm(5); });
  expect("unknown type 99", [](Entry &, Command &, Collective &call) { call.dtype = 99; });
  expect("a mean", [](Entry &, Command &, Collective &call) { call.reduction = comm::Reduction::mean; });
  expect("all_reduce of 0 buffers", [](Entry &, Command &command, Collective &) { command.operandCount = 0; });
  expect("barrier of 1 buffers", [](Entry &, Command &, Collective &call) { call.kind = Kind::barrier; });
  expect("all_gather of 1 buffers, expected pairs",
         [](Entry &, Command &, Collective &call) { call.kind = Kind::allGather; });
  expect("broadcast by split, expected one of star, tree, ring", [](Entry &, Command &, Collective &call) {
    call.kind = Kind::broadcast;
    call.algorithm = Algorithm::split;
  });
  expect("broadcast of 2 ranks with root 2", [](Entry &, Command &, Collective &call) {
    call.kind = Kind::broadcast;
    call.root = 2;
  });
  expect("expected whole f64", [](Entry &entry, Command &, Collective &call) {
    entry.buffers[2].size = 12;
    call.dtype = SPRIG_RT_F64;
  });
  expect("which share bytes", [](Entry &entry, Command &command, Collective &) {
    command.firstOperand = uint32_t(entry.operands.size());
    command.operandCount = 2;
    entry.operands.insert(entry.operands.end(), {2, 2});
  });
  // The second begins within the first, whichever of them stands first; one of no bytes shares none.
  auto reduceTwo = [](Entry &entry, Command &command, uint64_t offset, uint64_t size, bool isFirst) {
    auto one = uint32_t(entry.buffers.size()), two = one + 1;
    entry.buffers.push_back({core::BufferKind::Arena, 0, 256, 80, "one", 0});
    entry.buffers.push_back({core::BufferKind::Arena, 0, 256 + offset, size, "two", 0});
    entry.arenaSize = 512;
    command.firstOperand = uint32_t(entry.operands.size());
    command.operandCount = 2;
    entry.operands.insert(entry.operands.end(), {isFirst ? two : one, isFirst ? one : two});
  };
  for (bool isFirst : {false, true}) {
    expect("which share bytes",
           [&](Entry &entry, Command &command, Collective &) { reduceTwo(entry, command, 64, 16, isFirst); });
    expect("no error",
           [&](Entry &entry, Command &command, Collective &) { reduceTwo(entry, command, 128, 16, isFirst); });
    expect("no error",
           [&](Entry &entry, Command &command, Collective &) { reduceTwo(entry, command, 64, 0, isFirst); });
  }
  expect("expected a buffer that may be written",
         [](Entry &entry, Command &command, Collective &) { entry.operands[command.firstOperand] = 0; });
  expect("expected a rank below 2 or -1, found 2", [](Entry &entry, Command &, Collective &) { entry.rank = 2; });
  expect("independent samples", [](Entry &entry, Command &, Collective &) { entry.independentSamples = true; });
  auto withMesh = [](Entry &entry, std::vector<core::Axis> mesh) {
    entry.ranks = 4;
    entry.mesh = std::move(mesh);
  };
  expect("is of 4 ranks, and its mesh of 6",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, {{"data", 2}, {"model", 3}}); });
  expect("is of 4 ranks, and its mesh of 0",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, {{"data", 2}, {"model", 0}}); });
  expect("is of 4 ranks, and its mesh of 1048577",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, {{"data", 1 << 18}, {"model", 5}}); });
  expect("expected axes with a name each, found 'data'",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, {{"data", 2}, {"data", 2}}); });
  expect("expected axes with a name each, found 'a=b'",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, {{"a=b", 4}}); });
  expect("expected a mesh of at most 64 axes, found 65",
         [&](Entry &entry, Command &, Collective &) { withMesh(entry, std::vector<core::Axis>(65, {"data", 1})); });
  expect("all_reduce over 3 axes of a mesh of 2", [&](Entry &entry, Command &, Collective &call) {
    withMesh(entry, {{"data", 2}, {"model", 2}});
    call.axes = {0, 1, 0};
  });
  expect("all_reduce over axis 2 of 2", [&](Entry &entry, Command &, Collective &call) {
    withMesh(entry, {{"data", 2}, {"model", 2}});
    call.axes = {2};
  });
  expect("all_reduce over 1 axes of a mesh of 0", [](Entry &, Command &, Collective &call) { call.axes = {0}; });
  expect("all_reduce over axis 0 of 2, or over it twice", [&](Entry &entry, Command &, Collective &call) {
    withMesh(entry, {{"data", 2}, {"model", 2}});
    call.axes = {0, 0};
  });
  expect("all_reduce over axes of one rank", [&](Entry &entry, Command &, Collective &call) {
    withMesh(entry, {{"data", 4}, {"model", 1}});
    call.axes = {1};
  });
  auto asPiece = [](Entry &entry, std::vector<int64_t> piece) {
    entry.rank = 0;
    entry.inputs[0].piece = std::move(piece);
  };
  expect("'x': expected a piece of one rank's, of a whole of its dimensions that memory holds",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {8, 0}), entry.rank = -1; });
  expect("'x': expected a piece of one rank's, of a whole of its dimensions that memory holds",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {8, 1, 0}); });
  expect("'x': has 4 from 5 on of a dimension of 8",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {8, 5}); });
  expect("'x': has 4 from -1 on of a dimension of 8",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {8, -1}); });
  expect("'x': has 4 from 0 on of a dimension of 3",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {3, 0}); });
  expect("'x': expected a piece of one rank's, of a whole of its dimensions that memory holds",
         [&](Entry &entry, Command &, Collective &) { asPiece(entry, {-1, 0}); });
  expect("no error", [&](Entry &entry, Command &, Collective &) { asPiece(entry, {8, 4}); });
  expect("meets other ranks, and so does lane 0 command 1 'c1'; no event orders the two",
         [](Entry &entry, Command &, Collective &) {
           core::Command second = entry.lanes[0].commands[1];
           second.firstOperand = uint32_t(entry.operands.size());
           entry.operands.push_back(uint32_t(entry.buffers.size()));
           entry.buffers.push_back({core::BufferKind::Arena, 0, entry.arenaSize, 16, "other", 0});
           entry.arenaSize += 64;
           entry.lanes.push_back({0, {second}});
         });
  TestPackage parts = callPackage(2, 0, {.kind = Kind::reduceScatter}, 4, 3);
  expectOf(parts, "expected 24 bytes beside it, found 20", [](Entry &entry, Command &command, Collective &) {
    entry.buffers[entry.operands[command.firstOperand + 1]].size = 20;
    entry.lanes[0].commands.pop_back();
  });
  expectOf(parts, "expected whole rows of 5 elements", [](Entry &, Command &, Collective &call) { call.units = {5}; });
  expectOf(parts, "of 1 tensors has 2 sizes of rows",
           [](Entry &, Command &, Collective &call) { call.units = {3, 3}; });
  expectOf(parts, "3 rows that 2 ranks do not share evenly, in an entry of any rank",
           [](Entry &, Command &, Collective &call) { call.units = {4}; });
  expectOf(callPackage(2, 0, {.kind = Kind::allToAll}, 4, 3), "3 rows that 2 ranks do not share evenly",
           [](Entry &, Command &, Collective &call) { call.units = {4}; });
  expectOf(callPackage(2, 0, {.kind = Kind::allToAll}, 4, 3), "rank 0 of 2 gets 4 rows for 3 of '",
           [](Entry &entry, Command &, Collective &call) {
             call.units = {4};
             entry.rank = 0;
           });
}

} // namespace
} // namespace sprig::rt::test
