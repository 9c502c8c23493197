// Ranks that mpirun starts, each a process, whose bytes MPI carries: the bits of threads (what goes wrong:
// test/Cli/launch-mpi.test). Every process runs all tests, in one order. A process joins once, as MPI does.
#include "runtime/comm/GroupHandle.h"
#include "runtime/comm/ProcessRanks.h"
#include "runtime/test/TestPackage.h"

#include <gtest/gtest.h>

#include "runtime/test/RankExchanges.h"

using namespace sprig::rt::comm;
using namespace sprig::rt::collective;
using namespace sprig::rt::test;
using namespace std::chrono_literals;

namespace {

class MpiRanks : public testing::Test {
public:
  static void SetUpTestSuite() {
    if (!isRankProcess()) return;
    ProcessRanksOptions options;
    options.timeout = 60s;
    joined = readEnvironment(options);
    std::unique_ptr<Transport> own;
    if (joined.isOk()) joined = joinProcesses(options, own);
    transport = std::move(own);
  }
  static void TearDownTestSuite() { transport.reset(); }

protected:
  void SetUp() override {
    if (!isRankProcess()) GTEST_SKIP() << "mpirun starts these ranks; there was none when Sprig was built";
    ASSERT_TRUE(joined.isOk()) << joined.message();
    ASSERT_GT(transport->ranks(), 1);
  }
  void expectResultsOfThreads(const Exchange &exchange) {
    std::vector<Arrays> expected = resultsOfThreads(transport->ranks(), exchange);
    Communicator communicator(*transport);
    Arrays results;
    Status status = exchange(transport->ranks(), transport->rank(), communicator, results);
    ASSERT_TRUE(status.isOk()) << status.message();
    EXPECT_EQ(results, expected[size_t(transport->rank())]) << "rank " << transport->rank();
  }

  static std::shared_ptr<Transport> transport;
  static Status joined;
};
std::shared_ptr<Transport> MpiRanks::transport;
Status MpiRanks::joined;

} // namespace

TEST_F(MpiRanks, AllReducesHaveTheBitsOfThreads) { expectResultsOfThreads(allReduceByEachAlgorithm); }

TEST_F(MpiRanks, OtherCollectivesMoveWhatTheySay) { expectResultsOfThreads(everyOtherCollective); }

// A program with collectives on a lane of their own. The last one: the group is the transport's from here on.
TEST_F(MpiRanks, BucketsComeBackBesideTheStep) {
  const auto ranks = uint32_t(transport->ranks()), rank = uint32_t(transport->rank());
  sprig::rt::Package package = bucketPackage(ranks, 5003, 2).load();
  sprig_rt_group group{RankGroup::over(transport, *transport)};
  sprig::rt::Context context(package);
  sprig::rt::check(sprig_rt_context_set_group(context.raw(), &group));
  Words x(5003, rank + 1), one(5003), two(5003);
  for (int call = 0; call < 20; ++call) {
    context.invoke({x.view()}, {one.view(), two.view()});
    ASSERT_EQ(one[5002], ranks * (ranks + 1));
    ASSERT_EQ(two[5002], 3 * ranks * (ranks + 1) / 2);
  }
}
