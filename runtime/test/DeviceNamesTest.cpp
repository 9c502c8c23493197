// One notation for devices: what it names, and what it refuses.
#include "runtime/device/DeviceNames.h"

#include <gtest/gtest.h>

namespace sprig::rt::core {
namespace {

std::string parsed(std::string_view text) {
  GivenDevices devices;
  if (Status status = parseDevices(text, devices); !status.isOk()) return std::string(status.message());
  std::string result;
  for (const GivenDevice &device : devices.list)
    result += concat(result.empty() ? "" : " ", device.kind, device.alone ? "" : concat(":", device.ordinal).text());
  return devices.threads ? concat(result, " of ", devices.threads, " threads").text() : result;
}

TEST(DeviceNames, NameAndCount) {
  EXPECT_EQ(parsed("cpu"), "cpu");
  EXPECT_EQ(parsed("cpu:0"), "cpu:0");
  EXPECT_EQ(parsed("cuda:0,1"), "cuda:0 cuda:1");
  EXPECT_EQ(parsed("null:3"), "null:3");
  EXPECT_EQ(parsed("null*3"), "null:0 null:1 null:2");
  EXPECT_EQ(parsed("cuda:1,0,cpu,null:1023"), "cuda:1 cuda:0 cpu null:1023");
  EXPECT_EQ(parsed("cuda*2,null:7,8"), "cuda:0 cuda:1 null:7 null:8");
}

TEST(DeviceNames, TheProcessorWithANumberHadThreads) {
  EXPECT_EQ(parsed("cpu:4"), "cpu of 4 threads");
  EXPECT_EQ(parsed("cpu:4,cuda:0"), "cpu:4 cuda:0");
  EXPECT_EQ(parsed("cpu:5000"), "devices 'cpu:5000': expected cpu:N with N threads, from 1 to 1024, found '5000'");
  EXPECT_EQ(parsed("cpu:x"), "devices 'cpu:x': expected cpu:N with N threads, from 1 to 1024, found 'x'");
}

TEST(DeviceNames, RefuseNonsense) {
  EXPECT_EQ(parsed(""), "devices '': expected a kind of device (cpu, cuda, null), found ''");
  EXPECT_EQ(parsed("gpu:0"), "devices 'gpu:0': expected a kind of device (cpu, cuda, null), found 'gpu'");
  EXPECT_EQ(parsed("0"), "devices '0': expected a kind of device (cpu, cuda, null), found '0'");
  EXPECT_EQ(parsed("cuda:0,,1"), "devices 'cuda:0,,1': expected a kind of device (cpu, cuda, null), found ''");
  EXPECT_EQ(parsed("cuda*2,3"), "devices 'cuda*2,3': expected a kind of device (cpu, cuda, null), found '3'");
  EXPECT_EQ(parsed("cuda:"), "devices 'cuda:': expected cuda:N with a number from 0 to 1023, found ''");
  EXPECT_EQ(parsed("cuda:-1"), "devices 'cuda:-1': expected cuda:N with a number from 0 to 1023, found '-1'");
  EXPECT_EQ(parsed("cuda:1024"), "devices 'cuda:1024': expected cuda:N with a number from 0 to 1023, found '1024'");
  EXPECT_EQ(parsed("cuda:0x1"), "devices 'cuda:0x1': expected cuda:N with a number from 0 to 1023, found '0x1'");
  EXPECT_EQ(parsed("null*0"), "devices 'null*0': expected null*N with a count from 1 to 1024, found '0'");
  EXPECT_EQ(parsed("null*"), "devices 'null*': expected null*N with a count from 1 to 1024, found ''");
  EXPECT_EQ(parsed("cuda:0,0"), "devices 'cuda:0,0': cuda:0 is given twice");
  EXPECT_EQ(parsed("cpu,cpu:0"), "devices 'cpu,cpu:0': cpu:0 is given twice");
}

} // namespace
} // namespace sprig::rt::core
