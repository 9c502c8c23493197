#include "include/sprig/error.h"
#include "lib/Machine/Topology.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>
#include <span>

using namespace sprig;
using namespace sprig::machine;

namespace {

std::string refused(const std::string &text) {
  try {
    topologyFromText(text, "t.json");
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::badInput) << text;
    return error.what();
  }
  return "";
}

constexpr char kTwo[] = R"({
  "name": "two", "about": "two cards behind a switch",
  "devices": [
    {"name": "cpu:0", "rates": "x86-64-v4", "threads": 8, "host_memory": true, "forwards": true},
    {"name": "cuda:0", "flops": "15.7TFLOP/s", "bandwidth": "900GB/s", "launch": "5us", "memory": "16GB"}
  ],
  "storage": [{"name": "disk:0", "rpm": 10000, "seek": "5.5ms", "read": "200MB/s", "write": "100MB/s"}],
  "switches": [{"name": "root"}],
  "links": [
    {"between": ["cpu:0", "root"], "latency": "2.5us", "rate": "256Gbit/s"},
    {"between": ["root", "cuda:0"], "latency": "2.5us", "rate": "16GB/s", "count": 2},
    {"between": ["cpu:0", "disk:0"], "latency": "0s", "rate": "8GB/s", "duplex": "half", "length": "2m", "speed": "200000km/s", "burst": "64kB", "handling": "20us", "handling_rate": "2GB/s"}
  ],
  "inputs": "disk:0", "outputs": "cpu:0"
})";

TEST(Topology, IsReadAndWritten) {
  Topology read = topologyFromText(kTwo, "t.json");
  EXPECT_EQ(read.name, "two");
  EXPECT_EQ(read.nodes[1].memoryBytes, 16e9);
  EXPECT_EQ(read.nodes[2].accessNs, 8.5e6); // half of a turn of 6 ms, and the seek
  EXPECT_EQ(read.nodes[2].write, Rate::ofBytes(1e8));
  EXPECT_EQ(read.links[0].rate, Rate::ofBytes(32e9));
  EXPECT_EQ(read.links[1].totalRate(), Rate::ofBytes(32e9));
  EXPECT_TRUE(read.links[2].halfDuplex);
  EXPECT_EQ(read.links[2].totalLatencyNs(), 10);
  EXPECT_EQ(read.links[2].totalBurst(), 64000);
  EXPECT_EQ(read.messageNs(0, 2, 2000), 21'000);
  EXPECT_EQ(read.messageNs(2, 0, 0), 20'000);
  EXPECT_EQ(read.messageNs(0, 1, 2000), 0);
  EXPECT_EQ(read.inputs, 2);
  EXPECT_EQ(read.outputs, 0);
  std::string text = topologyToText(read);
  EXPECT_EQ(topologyToText(topologyFromText(text, "again.json")), text);
  EXPECT_EQ(read.copyNs(0, 1, 32e6), 1'005'000);
}

TEST(Topology, PresetsAreSoundAndReadBack) {
  for (const TopologyPreset &preset : topologyPresets()) {
    Topology made = preset.make();
    EXPECT_EQ(made.name, preset.name);
    EXPECT_FALSE(made.about.empty());
    check(made, preset.name);
    std::string text = topologyToText(made);
    EXPECT_EQ(topologyToText(topologyFromText(text, preset.name)), text) << preset.name;
    for (uint32_t to = 1; to < made.nodes.size(); ++to)
      EXPECT_FALSE(made.route(0, to, 1000).empty()) << preset.name << " " << made.nodes[to].name;
  }
  EXPECT_FALSE(topologyPreset("pcie5"));
}

double copyNs(const char *preset, const char *from, const char *to, double bytes) {
  Topology made = topologyPreset(preset).value();
  return made.copyNs(uint32_t(made.find(from)), uint32_t(made.find(to)), bytes);
}

TEST(Topology, PresetsHaveTheFiguresThatTheyAreNamedFor) {
  // PCIe 4: 5 us and 32 GB/s.
  EXPECT_EQ(copyNs("pcie4", "cpu:0", "cuda:0", 32e6), 1'005'000);
  EXPECT_NEAR(copyNs("pcie4", "cpu:0", "cuda:0", 1), 5000, 0.04);
  EXPECT_EQ(copyNs("pcie4-server", "cpu:0", "cuda:7", 32e6), 1'005'000);
  // NVLink: 300 Gbit/s a link, 6 of each V100; 1 of 100 Gbit/s between two 2080 Ti.
  Topology v100 = topologyPreset("v100-nvlink").value();
  for (int card = 0; card < 8; ++card) {
    int links = 0;
    uint32_t node = uint32_t(v100.find("cuda:" + std::to_string(card)));
    for (const TopologyLink &link : v100.links)
      if ((link.a == node || link.b == node) && link.rate == Rate::ofBits(300e9)) links += link.count;
    EXPECT_EQ(links, 6) << card;
  }
  EXPECT_EQ(copyNs("v100-nvlink", "cuda:0", "cuda:3", 75e6), 1.5e3 + 1e6); // two links
  EXPECT_EQ(copyNs("2080ti", "cuda:0", "cuda:1", 12.5e6), 1.5e3 + 1e6);
  // Cards that no NVLink joins go over the host.
  EXPECT_EQ(v100.route(uint32_t(v100.find("cuda:0")), uint32_t(v100.find("cuda:7")), 1e6).size(), 4u);
  // 10000 km: there and back takes 100 ms.
  EXPECT_EQ(2 * copyNs("10000km", "cpu:0", "cpu:1", 0), 100e6);
  // A turn at 10000 rpm takes 6 ms, 3 in the mean. A disk of 7200 reads some 100 places of 4 KB a second.
  EXPECT_EQ(topologyPreset("hdd-10000rpm")->nodes[1].accessNs, 3e6 + 5.5e6);
  EXPECT_NEAR(1e9 / copyNs("hdd", "disk:0", "cpu:0", 4096), 103, 1);
  EXPECT_EQ(topologyPreset("ssd")->nodes[1].channels * 1e9 / topologyPreset("ssd")->nodes[1].accessNs, 400'000);
}

// From cpu:0 to cpu:1 over a quick switch or a wide one.
TEST(Topology, TakesTheWayOnWhichBytesArriveFirst) {
  Topology made = topologyFromText(R"({
    "devices": [{"name": "cpu:0", "rates": "x86-64-v3"}, {"name": "cpu:1", "rates": "x86-64-v3"},
                {"name": "cpu:2", "rates": "x86-64-v3"}],
    "switches": [{"name": "quick"}, {"name": "wide"}],
    "links": [
      {"between": ["cpu:0", "quick"], "latency": "1us", "rate": "1GB/s"},
      {"between": ["cpu:1", "quick"], "latency": "1us", "rate": "1GB/s"},
      {"between": ["cpu:0", "wide"], "latency": "10us", "rate": "10GB/s"},
      {"between": ["cpu:1", "wide"], "latency": "10us", "rate": "10GB/s"},
      {"between": ["cpu:2", "cpu:1"], "latency": "10us", "rate": "10GB/s"}]})",
                                   "t.json");
  EXPECT_EQ(made.copyNs(0, 1, 1000), 2e3 + 1e3);
  EXPECT_EQ(made.copyNs(0, 1, 1e6), 20e3 + 100e3);
  // Nothing goes through what does not forward.
  EXPECT_TRUE(made.route(0, 2, 1).empty());
  // A link of their own is the way, however slow.
  setLink(made, "--link", "cpu:0-cpu:1=1ms,1kB/s");
  EXPECT_EQ(made.copyNs(0, 1, 1000), 1e6 + 1e9);
}

TEST(Topology, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused("{\"devices\": }").substr(0, 48), "t.json: not JSON: parse error at line 1, column ");
  EXPECT_EQ(refused("[]"), "t.json: found [], expected an object");
  EXPECT_EQ(refused("{}"), "t.json: has no devices");
  EXPECT_EQ(refused(R"({"devices": [], "devices": []})"), "t.json: the field 'devices' is there twice");
  EXPECT_EQ(refused(R"({"devices": 5})"), "t.json: devices: found 5, expected a list");
  EXPECT_EQ(refused(R"({"devices": [5]})"), "t.json: devices[0]: found 5, expected an object");
  EXPECT_EQ(refused(R"({"devices": [{}]})"),
            "t.json: devices[0].name: is missing, expected the name of a device, as cuda:0");
  EXPECT_EQ(refused(R"({"devices": [{"name": "gpu", "rates": "native"}]})"),
            "t.json: 'gpu': is no device: expected cpu, cuda or null with a number, as cuda:0");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cpu:0", "rates": "fast"}]})"),
            "t.json: devices[0].rates: found \"fast\", expected native, x86-64-v2, x86-64-v3 or x86-64-v4");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cpu:0", "rates": "native", "flops": "1FLOP/s"}]})"),
            "t.json: 'cpu:0' has rates (native), expected no flops and bandwidth beside them");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cuda:0", "flops": "15TFLOPS", "bandwidth": "1GB/s"}]})"),
            "t.json: devices[0].flops: found \"15TFLOPS\", expected work above 0 with its unit, as 15.7TFLOP/s");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cuda:0", "flops": "15TFLOP/s", "bandwidth": "1Gb/s"}]})"),
            "t.json: devices[0].bandwidth: found \"1Gb/s\", expected a rate above 0 with its unit, as 32GB/s in bytes "
            "or 100Gbit/s in bits");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cpu:0", "rates": "native", "thread": 5}]})"),
            "t.json: devices[0]: 'thread' is no field here, expected one of: name, rates, flops, bandwidth, launch, "
            "threads, memory, host_memory, forwards");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cpu:0", "rates": "native", "threads": 0}]})"),
            "t.json: devices[0].threads: found 0, expected a whole number from 1 to 65536");
  EXPECT_EQ(refused(R"({"devices": [{"name": "cpu:0", "rates": "native"}, {"name": "cpu:0", "rates": "native"}]})"),
            "t.json: 'cpu:0': is there twice");
  std::string longest(64, 'a'), isNone = "': is no name: expected 1 to 64 letters, digits, ':', '_' and '.'";
  std::string device = R"({"devices": [{"name": "cpu:0", "rates": "native"}], "switches": [{"name": ")";
  EXPECT_EQ(refused(device + longest + "\"}]}"), "");
  EXPECT_EQ(refused(device + longest + "a\"}]}"), "t.json: '" + longest + "a" + isNone);
  EXPECT_EQ(refused(device + "a-b\"}]}"), "t.json: 'a-b" + isNone);
  for (const char *end : {"inputs", "outputs"})
    EXPECT_EQ(refused(device + "root\"}], \"" + end + "\": \"root\"}"),
              std::string("t.json: ") + end + ": 'root' is a switch, expected a device or a storage");
}

// Links name nodes, which are looked at first.
TEST(Topology, NodesAreWrongBeforeLinks) {
  std::string links = R"(, "links": [{"between": ["cpu:0", "a"]}]})";
  EXPECT_EQ(refused(R"({"devices": [])" + links), "t.json: has no devices");
  EXPECT_EQ(refused(R"({"devices": [{"name": "gpu", "rates": "native"}])" + links),
            "t.json: 'gpu': is no device: expected cpu, cuda or null with a number, as cuda:0");
  EXPECT_EQ(
      refused(R"({"devices": [{"name": "cpu:0", "rates": "native"}], "switches": [{"name": "a"}, {"name": "a"}])" +
              links),
      "t.json: 'a': is there twice");
}

// Two devices, and a link of this text.
std::string refusedLink(const std::string &link) {
  return refused(
      R"({"devices": [{"name": "cpu:0", "rates": "native"}, {"name": "cpu:1", "rates": "native"}], "links": [)" + link +
      "]}");
}

TEST(Topology, SaysWhatIsWrongWithALink) {
  EXPECT_EQ(refusedLink(R"({"between": ["cpu:0", "cpu:1"], "latency": "5us", "rate": "1GB/s"})"), "");
  EXPECT_EQ(refusedLink(R"({"between": ["cpu:0"], "latency": "5us", "rate": "1GB/s"})"),
            "t.json: links[0].between: found [\"cpu:0\"], expected the names of the two nodes that it joins");
  EXPECT_EQ(refusedLink(R"({"between": ["cpu:0", "cpu:7"], "latency": "5us", "rate": "1GB/s"})"),
            "t.json: links[0].between: found \"cpu:7\", expected a node that there is: cpu:0, cpu:1");
  EXPECT_EQ(refusedLink(R"({"between": ["cpu:0", "cpu:0"], "latency": "5us", "rate": "1GB/s"})"),
            "t.json: link cpu:0-cpu:0: leads back to where it begins");
  for (const char *latency : {"5", "\"5\"", "\"-5us\"", "\"nan us\"", "null", "\"1e99s\""})
    EXPECT_EQ(
        refusedLink(std::string(R"({"between": ["cpu:0", "cpu:1"], "latency": )") + latency + R"(, "rate": "1GB/s"})"),
        std::string("t.json: links[0].latency: found ") + latency +
            ", expected a time with its unit, as 5us (ns, us, ms, s)");
  EXPECT_EQ(refusedLink(R"({"between": ["cpu:0", "cpu:1"], "latency": "5us"})"),
            "t.json: links[0].rate: is missing, expected a rate above 0 with its unit, as 32GB/s in bytes or "
            "100Gbit/s in bits");
  std::string sound = R"({"between": ["cpu:0", "cpu:1"], "latency": "5us", "rate": "1GB/s"})";
  EXPECT_EQ(refusedLink(sound + "," + sound),
            "t.json: link cpu:0-cpu:1: is there twice; several side by side are one link with \"count\"");
}

TEST(Topology, LinksAreSetByFlag) {
  Topology made = topologyPreset("10gbe").value();
  size_t before = made.links.size();
  setLink(made, "--link", "cpu:1-cpu:0=5us,8Gbit/s");
  EXPECT_EQ(made.links.size(), before + 1);
  EXPECT_EQ(made.copyNs(0, uint32_t(made.find("cpu:1")), 1e6), 5000 + 1e6);
  EXPECT_EQ(made.copyNs(uint32_t(made.find("cpu:1")), 0, 1e6), 5000 + 1e6);
  setLink(made, "--link", "cpu:0-cpu:1=0s,1GB/s,half,1000km");
  EXPECT_EQ(made.links.size(), before + 1);
  EXPECT_TRUE(made.links.back().halfDuplex);
  EXPECT_EQ(made.links.back().totalLatencyNs(), 5e6);
  auto wrong = [&](const char *text) -> std::string {
    try {
      setLink(made, "--link", text);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(wrong("cpu:0"), "--link cpu:0: expected A-B=LATENCY,RATE, as cpu:0-cpu:1=5us,1GB/s");
  EXPECT_EQ(wrong("cpu:0-cpu:9=5us,1GB/s"),
            "--link cpu:0-cpu:9=5us,1GB/s: there is no 'cpu:9' in this topology, only cpu:0, ethernet, cpu:1, cpu:2, "
            "cpu:3");
  EXPECT_EQ(wrong("cpu:0-cpu:1=5,1GB/s"),
            "--link cpu:0-cpu:1=5,1GB/s: found '5', expected a time with its unit, as 5us (ns, us, ms, s)");
  EXPECT_EQ(wrong("cpu:0-cpu:1=5us,1Gb/s"),
            "--link cpu:0-cpu:1=5us,1Gb/s: found '1Gb/s', expected a rate above 0 with its unit, as 32GB/s in bytes or "
            "100Gbit/s in bits");
  EXPECT_EQ(wrong("cpu:0-cpu:1=5us,1GB/s,both"),
            "--link cpu:0-cpu:1=5us,1GB/s,both: found 'both', expected half, or a length as 10000km");
  EXPECT_EQ(wrong("cpu:0-cpu:1=5us,1GB/s,half,1km,half"),
            "--link cpu:0-cpu:1=5us,1GB/s,half,1km,half: half is given twice");
  EXPECT_EQ(wrong("cpu:0-cpu:1=5us,1GB/s,1km,0m"), "--link cpu:0-cpu:1=5us,1GB/s,1km,0m: a length is given twice");
  EXPECT_EQ(wrong("cpu:0-cpu:0=5us,1GB/s"), "--link cpu:0-cpu:0=5us,1GB/s: leads back to where it begins");
}

// As the runtime divides them (ThreadShares).
TEST(Topology, ProcessorsOfThisMachineShareItsThreads) {
  const std::string names[] = {"cpu:0", "null:0", "cpu:1", "cpu:2"};
  auto threadsOf = [&](int threads) {
    Topology made = thisMachine(names, threads);
    return std::vector<int>{made.nodes[0].threads, made.nodes[2].threads, made.nodes[3].threads};
  };
  EXPECT_EQ(threadsOf(8), (std::vector<int>{3, 3, 2}));
  EXPECT_EQ(threadsOf(2), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(thisMachine(std::span(names).first(2), 8).nodes[0].threads, 8);
}

TEST(Topology, NullDevicesOfThisMachineAreTheRuntimes) {
  const std::string names[] = {"null:0", "null:1"};
  Topology made = thisMachine(names, 1);
  EXPECT_EQ(made.copyNs(0, 1, 10'000), 100 + 1000);
  EXPECT_EQ(made.copyNs(uint32_t(made.inputs), 0, 10'000), 100 + 1000);
  const std::string absent[] = {"cuda:0"};
  EXPECT_THROW(thisMachine(absent, 1), Error);
}

} // namespace
