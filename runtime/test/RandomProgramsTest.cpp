// Random programs give the bits of their commands done one after the other: on 1, 2 and 8 lanes of each of 1 to 4
// devices, processor and null devices in orders that are meant to hurt, with 1, 2 and 8 threads. With any event left
// out they are refused if, and only if, two commands lose their order.
//   RandomProgramsTest                          some hundred programs, as a test
//   RandomProgramsTest --count N [--seed S]     N others, from seed S on; a failure prints the fewest commands that
//                                               still fail, as C++; the last line is `N passed, N failed`
#include "runtime/test/Campaign.h"
#include "runtime/test/RandomProgram.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace sprig::rt::test {
namespace {

constexpr uint32_t kLanes[] = {1, 2, 8};
constexpr int kThreads[] = {1, 2, 8};
constexpr int kWays = 2; // of each program and number of lanes
constexpr int kRounds = 2;

// What a run goes by beside its program.
struct Way {
  std::string devices; // of load options
  uint32_t nullSeed = 0;
  int threads = 1;

  std::string text() const {
    return "SPRIG_NULL_SEED=" + std::to_string(nullSeed) + " devices '" + devices + "' threads " +
           std::to_string(threads);
  }
};

// What has been drawn, so that a change of the drawing cannot empty the test unseen.
struct Drawn {
  uint64_t programs = 0, runs = 0, copies = 0, parts = 0, inPlace = 0, stateUpdates = 0, sharedBytes = 0;
  uint64_t refused = 0, notNeeded = 0; // events left out
};

Pool &pool(int threads) {
  static std::map<int, Pool> pools;
  return pools.try_emplace(threads, threads).first->second;
}

std::vector<std::vector<uint32_t>> inputsOf(const RandomProgram &program, uint32_t round) {
  std::vector<std::vector<uint32_t>> inputs;
  for (uint32_t i = 0; i < program.inputs; ++i) {
    std::vector<uint32_t> &words = inputs.emplace_back(size_t(program.room()));
    for (uint32_t w = 0; w < words.size(); ++w) words[w] = (round * 7919 + i * 104729 + w + 1) * 2246822519u;
  }
  return inputs;
}

// Outputs and states behind each round, the way that the steps are written.
class Reference {
public:
  explicit Reference(const RandomProgram &program) : program(program) {
    marks = program.marks();
    for (const Step &step : program.steps) program.markWritten(step, marks);
    Spaces memory = program.memory();
    for (uint32_t round = 0; round < kRounds; ++round) {
      begin(memory, round);
      for (const Step &step : program.steps) program.perform(step, memory);
      rounds.push_back(memory);
    }
  }

  void begin(Spaces &memory, uint32_t round) const {
    std::vector<std::vector<uint32_t>> inputs = inputsOf(program, round);
    for (uint32_t i = 0; i < inputs.size(); ++i) memory[program.firstInput() + i] = inputs[i];
  }
  // Of outputs what is written, and states.
  bool isSame(uint32_t space, const uint32_t *words, uint32_t round, size_t &at) const {
    for (at = 0; at < rounds[round][space].size(); ++at)
      if (marks[space][at] && words[at] != rounds[round][space][at]) return false;
    return true;
  }
  bool isSame(const Spaces &memory, uint32_t round) const {
    size_t at;
    for (uint32_t space = program.devices; space < program.firstInput(); ++space)
      if (!isSame(space, memory[space].data(), round, at)) return false;
    return true;
  }

  const RandomProgram &program;

private:
  Marks marks;
  std::vector<Spaces> rounds;
};

LoadOptions loadOptions(const Way &way) {
  setenv("SPRIG_NULL_SEED", std::to_string(way.nullSeed).c_str(), 1);
  LoadOptions options;
  options.device = way.devices;
  return options;
}

// Why a run does not give the reference's bits; empty where it does.
std::string runOnce(const Reference &reference, const TestPackage &made, const Way &way) {
  const RandomProgram &program = reference.program;
  Package package = made.load(loadOptions(way));
  State state(package);
  Context context(package, {&pool(way.threads), &state, 0});
  for (uint32_t round = 0; round < kRounds; ++round) {
    std::vector<Words> in, out;
    std::vector<TensorView> inputs, outputs;
    for (const std::vector<uint32_t> &words : inputsOf(program, round)) {
      std::copy(words.begin(), words.end(), in.emplace_back(words.size()).data());
      inputs.push_back(in.back().view());
    }
    for (uint32_t i = 0; i < program.outputs; ++i)
      outputs.push_back(out.emplace_back(size_t(program.room()), 0x5a5a5a5au).view());
    if (round % 2)
      context.submit(inputs, outputs).wait();
    else
      context.invoke(inputs, outputs);
    for (uint32_t space = program.devices; space < program.firstInput(); ++space) {
      bool isState = space >= program.firstState();
      Words words(size_t(program.room()));
      uint32_t index = space - (isState ? program.firstState() : program.devices);
      if (isState)
        state.read(index, {reinterpret_cast<uint8_t *>(words.data()), words.size() * 4});
      else
        std::copy_n(out[index].data(), words.size(), words.data());
      size_t at = 0;
      if (!reference.isSame(space, words.data(), round, at))
        return "word " + std::to_string(at) + " of " + (isState ? "state " : "output ") + std::to_string(index) +
               " in round " + std::to_string(round) + " has other bits";
    }
  }
  return "";
}

// Some of the ways to run a program on so many devices.
std::vector<Way> waysOf(uint32_t devices, std::mt19937 &random) {
  auto threads = [&] { return kThreads[random() % std::size(kThreads)]; };
  std::vector<Way> ways;
  std::string count = "null*" + std::to_string(devices);
  for (uint32_t seed : {0u, 1u, 2 + uint32_t(random() % 1000000)}) ways.push_back({count, seed, threads()});
  if (devices == 1)
    for (int each : kThreads) ways.push_back({"cpu", 0, each});
  // The processor among them.
  std::string mixed;
  uint32_t cpu = uint32_t(random() % devices);
  for (uint32_t i = 0; i < devices; ++i)
    mixed += std::string(i ? "," : "") + (i == cpu ? "cpu" : "null:" + std::to_string(devices - i));
  if (devices > 1) {
    ways.push_back({mixed, uint32_t(random() % 4), threads()});
    ways.push_back({"cpu*" + std::to_string(devices), 0, threads()}); // shares of the cores
  }
  std::shuffle(ways.begin(), ways.end(), random);
  ways.resize(kWays);
  return ways;
}

std::string check(const RandomProgram &program, uint32_t seed, Drawn &drawn) {
  Reference reference(program);
  std::mt19937 random(seed ^ 0x9e3779b9u);
  std::string where;
  try {
    for (uint32_t lanes : kLanes) {
      Scheduled scheduled(program, lanes);
      where = std::to_string(lanes) + " lanes: ";
      if (scheduled.races(program)) return where + "the test's own schedule leaves two commands without an order";
      TestPackage made = scheduled.package(program);
      for (const Way &way : waysOf(program.devices, random)) {
        where = std::to_string(lanes) + " lanes, " + way.text() + ": ";
        if (std::string wrong = runOnce(reference, made, way); !wrong.empty()) return where + wrong;
        ++drawn.runs;
      }
      for (int attempt = 0; attempt < 2 && scheduled.events; ++attempt) {
        uint32_t event = uint32_t(random() % scheduled.events);
        where = std::to_string(lanes) + " lanes without event " + std::to_string(event) + ": ";
        Scheduled less = scheduled.without(event);
        bool races = less.races(program), differs = false;
        for (int order = 0; order < 3; ++order) {
          Spaces memory = program.memory();
          reference.begin(memory, 0);
          less.perform(program, memory,
                       [&](uint32_t n) { return order < 2 ? uint32_t(order) * (n - 1) : uint32_t(random() % n); });
          differs |= !reference.isSame(memory, 0);
        }
        TestPackage lacking = less.package(program);
        Way null{"null*" + std::to_string(program.devices), uint32_t(random() % 3), 1};
        std::string error = errorOf([&] { lacking.load(loadOptions(null)); });
        if (!error.empty() && error.find("no event orders the two") == std::string::npos) return where + error;
        if (differs && error.empty()) return where + "another order has other bits, and it is not refused";
        if (races && error.empty()) return where + "two commands have no order, and it is not refused";
        if (!races && !error.empty()) return where + "every order is kept, and it is refused: " + error;
        ++(races ? drawn.refused : drawn.notNeeded);
        if (std::string wrong = races ? "" : runOnce(reference, lacking, null); !wrong.empty()) return where + wrong;
      }
    }
  } catch (const std::exception &error) {
    return where + error.what();
  }
  return "";
}

void count(const RandomProgram &program, Drawn &drawn) {
  ++drawn.programs;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step &step = program.steps[i];
    auto across = [&] { return program.buffers[step.operands[0]].device != program.buffers[step.operands[1]].device; };
    drawn.copies += step.isCopy && across();
    drawn.parts += !step.isCopy && step.tiles < program.width;
    const core::Buffer &to = program.buffers[step.written()];
    drawn.stateUpdates += to.kind == core::BufferKind::State;
    for (size_t o = 0; o + 1 < step.operands.size(); ++o) drawn.inPlace += step.operands[o] == step.written();
    for (size_t j = 0; j < i; ++j) {
      const core::Buffer &other = program.buffers[program.steps[j].written()];
      if (to.kind == core::BufferKind::Arena && program.spaceOf(to) == program.spaceOf(other) &&
          to.offset != other.offset && to.offset < other.offset + other.size && other.offset < to.offset + to.size) {
        ++drawn.sharedBytes;
        break;
      }
    }
  }
}

// A failure that depends on threads may need several tries.
bool failsAgain(const RandomProgram &program, uint32_t seed) {
  Drawn drawn;
  for (int attempt = 0; attempt < 3; ++attempt)
    if (!check(program, seed, drawn).empty()) return true;
  return false;
}

std::string report(uint32_t seed, const std::string &wrong) {
  RandomProgram least = shrink(RandomProgram(seed), [&](const RandomProgram &each) { return failsAgain(each, seed); });
  Drawn drawn;
  std::string now = check(least, seed, drawn);
  uint32_t lanes = uint32_t(std::max(1, std::atoi(now.c_str())));
  return "FAIL program " + std::to_string(seed) + ": " + wrong + "\n     again: RandomProgramsTest --seed " +
         std::to_string(seed) + " --count 1\n     of its " + std::to_string(RandomProgram(seed).steps.size()) +
         " commands " + std::to_string(least.steps.size()) + " still fail: " + (now.empty() ? "not every time" : now) +
         "\n" + Scheduled(least, lanes).text(least);
}

TEST(RandomPrograms, HaveTheBitsOfASequence) {
  Drawn drawn;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomProgram program(seed);
    count(program, drawn);
    std::string wrong = check(program, seed, drawn);
    ASSERT_EQ(wrong, "") << report(seed, wrong);
  }
  EXPECT_GT(drawn.copies, 100u);
  EXPECT_GT(drawn.parts, 100u);
  EXPECT_GT(drawn.inPlace, 50u);
  EXPECT_GT(drawn.stateUpdates, 50u);
  EXPECT_GT(drawn.sharedBytes, 100u);
  EXPECT_GT(drawn.refused, 100u);
  EXPECT_GT(drawn.notNeeded, 10u);
}

// Both of two steps are needed, whatever they read.
TEST(RandomPrograms, ShrinkToWhatFails) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    auto fails = [](const RandomProgram &program) {
      bool copies = false, mixes = false;
      for (const Step &step : program.steps) {
        mixes |= copies && !step.isCopy && step.kernel == Mix;
        copies |= step.isCopy;
      }
      return mixes;
    };
    RandomProgram program(seed);
    if (!fails(program)) continue;
    RandomProgram least = shrink(program, fails);
    ASSERT_EQ(least.steps.size(), 2u) << seed;
    EXPECT_EQ(least.steps[1].lane, 0u);
    Drawn drawn;
    EXPECT_EQ(check(least, seed, drawn), "") << seed;
    EXPECT_NE(Scheduled(least, 1).text(least).find("Mix, {"), std::string::npos);
  }
}

int runMany(const Campaign &campaign) {
  Drawn drawn;
  uint64_t failed = 0;
  for (uint64_t i = 0; i < campaign.count; ++i) {
    uint32_t seed = uint32_t(campaign.seed + i);
    begin(seed);
    RandomProgram program(seed);
    count(program, drawn);
    if (std::string wrong = check(program, seed, drawn); !wrong.empty()) {
      ++failed;
      std::cout << report(seed, wrong) << std::flush;
    }
  }
  std::cout << drawn.runs << " runs; " << drawn.copies << " copies between devices, " << drawn.parts
            << " dispatches of a part of their tiles, " << drawn.inPlace << " in place, " << drawn.stateUpdates
            << " updates of states, " << drawn.sharedBytes << " writes across other buffers; " << drawn.refused
            << " events left out and missed, " << drawn.notNeeded << " not needed\n";
  std::cout << campaign.count - failed << " passed, " << failed << " failed\n";
  return failed ? 1 : 0;
}

} // namespace
} // namespace sprig::rt::test

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  sprig::rt::test::Campaign campaign(argc, argv);
  if (!campaign.wrong.empty()) return 2;
  return campaign.count ? sprig::rt::test::runMany(campaign) : RUN_ALL_TESTS();
}
