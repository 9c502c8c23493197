// Programs of collectives: what they compute, in which order, in how many rounds.
#include "runtime/collective/Piece.h"
#include "runtime/collective/Play.h"

#include <gtest/gtest.h>

namespace sprig::rt::collective {
namespace {

std::vector<Program> programsOf(const Plan &plan) {
  std::vector<Program> programs(size_t(plan.ranks));
  for (int rank = 0; rank < plan.ranks; ++rank) {
    std::string why;
    EXPECT_TRUE(makeProgram(plan, rank, programs[size_t(rank)], why)) << why;
  }
  return programs;
}

std::vector<Plan> plansOf(Kind kind, int ranks) {
  std::vector<Plan> plans;
  for (Algorithm algorithm : {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring,
                              Algorithm::bidirectional, Algorithm::rings, Algorithm::hierarchy}) {
    if (!does(algorithm, kind)) continue;
    Plan plan{kind, algorithm, ranks};
    if (algorithm == Algorithm::rings) {
      // Steps of one, and of two where that is a ring as well.
      plan.rings.resize(2);
      for (int i = 0; i < ranks; ++i) {
        plan.rings[0].push_back(i);
        plan.rings[1].push_back(ranks % 2 ? 2 * i % ranks : ranks - 1 - i);
      }
    }
    if (algorithm != Algorithm::hierarchy)
      plans.push_back(plan);
    else
      for (plan.perMachine = 1; plan.perMachine <= ranks; ++plan.perMachine)
        if (ranks % plan.perMachine == 0) plans.push_back(plan);
  }
  return plans;
}

constexpr Kind kKinds[] = {Kind::allReduce, Kind::reduceScatter, Kind::allGather, Kind::broadcast, Kind::reduce,
                           Kind::gather,    Kind::scatter,       Kind::allToAll,  Kind::barrier};

std::string described(const Plan &plan) {
  return std::string(nameOf(plan.kind)) + " by " + std::string(nameOf(plan.algorithm)) + ", " +
         std::to_string(plan.ranks) + " ranks, root " + std::to_string(plan.root) + ", " +
         std::to_string(plan.perMachine) + " a machine";
}

Played playedOf(const Plan &plan) {
  Played played = play(programsOf(plan));
  EXPECT_EQ(wrongWith(plan, played), "") << described(plan);
  return played;
}

TEST(Collective, EveryProgramDoesWhatItsNameSays) {
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33})
    for (Kind kind : kKinds)
      for (Plan plan : plansOf(kind, ranks)) {
        bool hasRoot = kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
        for (plan.root = 0; plan.root < (hasRoot ? std::min(ranks, 9) : 1); ++plan.root) playedOf(plan);
      }
}

TEST(Collective, RoundsAndBytesAreThoseOfTheAlgorithms) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    uint64_t n = uint64_t(ranks), rounds = 0;
    while (1 << rounds < ranks) ++rounds;
    auto played = [&](Algorithm algorithm) { return playedOf({Kind::allReduce, algorithm, ranks}); };
    EXPECT_EQ(played(Algorithm::ring).rounds, 2 * (n - 1));
    EXPECT_EQ(played(Algorithm::ring).piecesSent, std::vector<uint64_t>(n, 2 * (n - 1))); // of n pieces
    EXPECT_EQ(played(Algorithm::bidirectional).rounds, 2 * (n - 1));
    EXPECT_EQ(played(Algorithm::bidirectional).piecesSent, std::vector<uint64_t>(n, 4 * (n - 1))); // of 2 n pieces
    EXPECT_EQ(played(Algorithm::split).piecesSent, std::vector<uint64_t>(n, 2 * (n - 1)));
    EXPECT_EQ(played(Algorithm::tree).messages[0], rounds); // rank 0 takes as many before
    EXPECT_LE(played(Algorithm::tree).rounds, 2 * rounds);
    if (1 << rounds == ranks) EXPECT_EQ(played(Algorithm::tree).rounds, 2 * rounds);
    EXPECT_EQ(played(Algorithm::star).messages[0], n - 1);
    EXPECT_LE(playedOf({Kind::barrier, Algorithm::tree, ranks}).rounds, 2 * rounds);
    EXPECT_EQ(playedOf({Kind::broadcast, Algorithm::tree, ranks}).rounds, rounds);
    EXPECT_EQ(playedOf({Kind::allToAll, Algorithm::split, ranks}).messages, std::vector<uint64_t>(n, n - 1));
  }
}

// Of a hierarchy each machine sends 2 (M - 1) / M of the whole: as much as it has for two machines, whatever its ranks.
TEST(Collective, HierarchySendsOnceBetweenMachines) {
  std::vector<Program> programs = programsOf({Kind::allReduce, Algorithm::hierarchy, 8, 0, 4});
  uint64_t away = 0;
  for (const Program &program : programs)
    for (const Step &step : program.steps)
      if (step.kind == Step::Kind::send && program.rank / 4 == 0 && step.peer / 4 == 1) away += step.count;
  EXPECT_EQ(away, programs[0].pieces);
}

TEST(Collective, RingAddsFromItsPieceOn) {
  Played played = playedOf({Kind::allReduce, Algorithm::ring, 4});
  EXPECT_EQ(played.holds[3], (std::vector<std::string>{"mean(((x0+x1)+x2)+x3)", "mean(((x1+x2)+x3)+x0)",
                                                       "mean(((x2+x3)+x0)+x1)", "mean(((x3+x0)+x1)+x2)"}));
  // After the first phase rank i has piece i + 1 of the sum.
  for (const Program &program : programsOf({Kind::allReduce, Algorithm::ring, 4}))
    for (const Step &step : program.steps) {
      if (step.kind != Step::Kind::finish) continue;
      EXPECT_EQ(int(step.piece), (program.rank + 1) % 4);
    }
}

TEST(Collective, TreeAndStarAddInOrder) {
  EXPECT_EQ(playedOf({Kind::reduce, Algorithm::tree, 5, 1}).holds[1][0], "mean(x0+((x4+x3)+(x2+x1)))");
  EXPECT_EQ(playedOf({Kind::reduce, Algorithm::star, 4, 1}).holds[1][0], "mean(x0+(x3+(x2+x1)))");
}

TEST(Collective, PiecesDifferByOneAtMost) {
  for (int64_t elements : {0, 1, 3, 4, 5, 31, 32, 33, 97})
    for (uint32_t pieces = 1; pieces <= 9; ++pieces) {
      int64_t end = 0;
      for (uint32_t i = 0; i < pieces; ++i) {
        Range range = pieceOf(elements, pieces, i);
        EXPECT_EQ(range.begin, end);
        EXPECT_EQ(range.size(), elements / pieces + (int64_t(i) < elements % pieces));
        end = range.end;
      }
      EXPECT_EQ(end, elements);
    }
}

// All ranks together get as many rows as they give, and who gets them can give them back.
TEST(Collective, RowsAreExchangedThereAndBack) {
  for (uint32_t ranks = 1; ranks <= 9; ++ranks)
    for (int64_t rows : {int64_t(0), int64_t(1), int64_t(ranks) - 1, int64_t(ranks), int64_t(ranks) + 1, int64_t(97)}) {
      int64_t all = 0;
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        int64_t got = exchangedRows(rows, ranks, rank);
        all += got;
        EXPECT_EQ(got, ranks * (rows / ranks + (rank < rows % ranks)));
        EXPECT_TRUE(exchanges(rows, got, ranks, rank) && exchanges(got, rows, ranks, rank));
        EXPECT_EQ(exchanges(rows, got + 1, ranks, rank), exchangedRows(got + 1, ranks, rank) == rows);
        // Only rows that divide are as many on both sides, so which one is cut is never in doubt.
        EXPECT_EQ(exchanges(rows, rows, ranks, rank), rows % ranks == 0);
      }
      EXPECT_EQ(all, ranks * rows);
    }
}

TEST(Collective, WrongPlansAreRefused) {
  Program program;
  auto refused = [&](const Plan &plan, int rank = 0) {
    std::string why;
    EXPECT_FALSE(makeProgram(plan, rank, program, why)) << described(plan);
    return why;
  };
  EXPECT_EQ(refused({Kind::allReduce, Algorithm::ring, 0}), "expected at least one rank, found 0");
  EXPECT_EQ(refused({Kind::allReduce, Algorithm::ring, 4}, 4), "rank 4 is none of 4");
  EXPECT_EQ(refused({Kind::broadcast, Algorithm::tree, 4, -1}), "root -1 is no rank of 4");
  EXPECT_EQ(refused({Kind::gather, Algorithm::ring, 4}), "gather has no algorithm 'ring'; it has: star");
  EXPECT_EQ(refused({Kind::allReduce, Algorithm::hierarchy, 6, 0, 4}),
            "6 ranks are no whole number of machines with 4 each");
  EXPECT_EQ(refused({Kind::allReduce, Algorithm::rings, 3, 0, 1, {{0, 1, 1}}}),
            "a ring has to have each of the 3 ranks once");
  EXPECT_EQ(refused({Kind::allReduce, Algorithm::rings, 3}), "expected 1 to 16 rings, found 0");
}

// Programs by hand, as one may get them from elsewhere: each fault is named with its place.
TEST(Collective, PlayFindsWhatIsWrong) {
  using K = Step::Kind;
  auto wrong = [](std::vector<Step> first, std::vector<Step> second) {
    return play({{0, 2, 1, false, std::move(first)}, {1, 2, 1, false, std::move(second)}}).wrong;
  };
  EXPECT_EQ(wrong({{K::receive, 0, 1, 0, 1}}, {{K::receive, 0, 0, 0, 1}}), "rank 0, step 0: waits forever for rank 1");
  EXPECT_EQ(wrong({{K::send, 0, 1, 0, 1}}, {}), "rank 1 never takes what rank 0 has sent it");
  EXPECT_EQ(wrong({{K::send, 0, 1, 0, 1}}, {{K::reduce, 0, 0, 1, 1}}),
            "rank 1, step 0: awaits pieces 1 to 2, rank 0 sends 0 to 1");
  EXPECT_EQ(wrong({{K::send, 0, 0, 0, 1}}, {}), "rank 0, step 0: its peer 0 is no other rank");
  EXPECT_EQ(wrong({{K::send, 0, 1, 1, 2}}, {}), "rank 0, step 0: there is no piece 2");
  EXPECT_EQ(wrong({{K::send, 3, 1, 0, 1}}, {}), "rank 0, step 0: there is no lane 3");
  // Each would overwrite what it is sending before the other has taken it.
  EXPECT_EQ(wrong({{K::send, 0, 1, 0, 1}, {K::reduce, 0, 1, 0, 1}}, {{K::send, 0, 0, 0, 1}, {K::reduce, 0, 0, 0, 1}}),
            "rank 0, step 1: waits forever for rank 1");
}

// A result that is not what the collective promises.
TEST(Collective, WrongResultsAreNamed) {
  using K = Step::Kind;
  auto wrong = [](std::vector<Step> first, std::vector<Step> second) {
    return wrongWith({Kind::allReduce, Algorithm::star, 2},
                     play({{0, 1, 1, false, std::move(first)}, {1, 1, 1, false, std::move(second)}}));
  };
  EXPECT_EQ(wrong({{K::reduce, 0, 1, 0, 1}}, {{K::send, 0, 0, 0, 1}}),
            "rank 0, piece 0 is (x1+x0), expected a sum of all ranks, finished once");
  EXPECT_EQ(wrong({{K::reduce, 0, 1, 0, 1}, {K::finish, 0, -1, 0, 1}}, {{K::send, 0, 0, 0, 1}}),
            "rank 1, piece 0 is x1, expected a sum of all ranks, finished once");
}

// Zeros behind the end make all pieces of one size; a rank may have nothing but them.
TEST(FlatPiece, IsCutAndJoined) {
  std::vector<int16_t> whole = {1, 2, 3, 4, 5};
  std::span<const char> bytes(reinterpret_cast<const char *>(whole.data()), 10);
  for (int64_t ranks = 1; ranks < 8; ++ranks) {
    std::vector<char> pieces;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<char> piece = cutFlat(bytes, 2, ranks, rank);
      EXPECT_EQ(int64_t(piece.size()), 2 * flatPieceOf(5, ranks)) << ranks;
      pieces.insert(pieces.end(), piece.begin(), piece.end());
    }
    EXPECT_TRUE(std::ranges::equal(joinFlat(pieces, 10), bytes)) << ranks;
    EXPECT_TRUE(std::all_of(pieces.begin() + 10, pieces.end(), [](char byte) { return byte == 0; })) << ranks;
  }
}

TEST(FlatPiece, IsOfSomeNumberOfRanks) {
  for (int64_t elements = 0; elements < 20; ++elements)
    for (int64_t piece = -1; piece < 22; ++piece) {
      bool isOne = false;
      for (int64_t ranks = 1; ranks < 22; ++ranks) isOne |= flatPieceOf(elements, ranks) == piece;
      EXPECT_EQ(isFlatPiece(piece, std::vector{elements}), isOne) << piece << " of " << elements;
    }
  EXPECT_FALSE(isFlatPiece(8, std::vector<int64_t>{-3, -5}));
  EXPECT_FALSE(isFlatPiece(1, std::vector<int64_t>{int64_t(1) << 40, int64_t(1) << 40}));
}

} // namespace
} // namespace sprig::rt::collective
