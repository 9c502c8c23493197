// Quantities as people write them: what is meant is what is read, and what leaves it open is refused.
#include "sprig/rt/units.hpp"

#include <gtest/gtest.h>

namespace sprig::rt {
namespace {

TEST(Units, BitsAreNoBytes) {
  EXPECT_EQ(parseRate("1GB/s"), Rate::ofBytes(1e9));
  EXPECT_EQ(parseRate("8Gbit/s"), Rate::ofBytes(1e9));
  EXPECT_EQ(parseRate("8Gbit/s"), Rate::ofBits(8e9));
  EXPECT_EQ(parseRate("100Gbit/s")->bytesPerSecond(), 12.5e9);
  EXPECT_EQ(parseRate("1GB/s")->bitsPerSecond(), 8e9);
  EXPECT_EQ(parseRate("1 kB/s"), Rate::ofBytes(1000));
  EXPECT_EQ(parseRate("1KiB/s"), Rate::ofBytes(1024));
  EXPECT_EQ(parseRate("1.5e3MB/s"), Rate::ofBytes(1.5e9));
  for (const char *open : {"1Gb/s", "1Gbps", "1GBps", "1G/s", "1GB", "1Gbit", "1gb/s", "1GFLOP/s"})
    EXPECT_EQ(parseRate(open), std::nullopt) << open;
}

TEST(Units, NonsenseIsRefused) {
  for (const char *text : {"", "s", "5", "5 ", "5x", "-5us", "-0us", "+5us", "nanus", "infus", "1e400us", "1e30s",
                           "5us ", "0x5us", "5u", "5 u s"})
    EXPECT_EQ(parseNanoseconds(text), std::nullopt) << text;
  for (const char *text : {"0GB/s", "1e-9B/s", "1bit/s", "1e30GB/s", "nanGB/s", "-1GB/s", "GB/s", "/s"})
    EXPECT_EQ(parseRate(text), std::nullopt) << text;
  for (const char *text : {"16", "16Gbit", "1e30GB", "-1B"}) EXPECT_EQ(parseBytes(text), std::nullopt) << text;
  for (const char *text : {"0FLOP/s", "15.7TFLOPS", "15.7T"}) EXPECT_EQ(parseFlops(text), std::nullopt) << text;
  for (const char *text : {"10", "10miles"}) EXPECT_EQ(parseMeters(text), std::nullopt) << text;
  for (const char *text : {"5us", "5us,", ",1GB/s", "5us,1GB", "1GB/s,5us", "5us,1GB/s,"})
    EXPECT_EQ(parseLink(text), std::nullopt) << text;
}

TEST(Units, EachUnit) {
  EXPECT_EQ(parseNanoseconds("5us"), 5000);
  EXPECT_EQ(parseNanoseconds("5\u00b5s"), 5000);
  EXPECT_EQ(parseNanoseconds("0.5 ms"), 5e5);
  EXPECT_EQ(parseNanoseconds("0s"), 0);
  EXPECT_EQ(parseBytes("16GB"), 16e9);
  EXPECT_EQ(parseBytes("256KiB"), 262144);
  EXPECT_EQ(parseFlops("15.7TFLOP/s"), 15.7e12);
  EXPECT_EQ(parseMeters("10000km"), 1e7);
}

TEST(Units, WhatIsWrittenReadsBack) {
  EXPECT_EQ(writeNanoseconds(5000), "5us");
  EXPECT_EQ(writeNanoseconds(0), "0ns");
  EXPECT_EQ(writeNanoseconds(1234567), "1.234567ms");
  EXPECT_EQ(writeRate(Rate::ofBits(100e9)), "12.5GB/s");
  EXPECT_EQ(writeBytes(16e9), "16GB");
  EXPECT_EQ(writeBytes(0), "0B");
  EXPECT_EQ(writeFlops(15.7e12), "15.7TFLOP/s");
  EXPECT_EQ(writeMeters(1e7), "10000km");
  for (double ns : {0.0, 0.25, 1.0, 3.1, 999.0, 1e15}) EXPECT_EQ(parseNanoseconds(writeNanoseconds(ns)), ns);
}

// 32 MB over a link of 5 us and 32 GB/s take 1.005 ms, to the nanosecond.
TEST(Units, ALinkTakesAStartAndItsBytes) {
  LinkRates link = parseLink("5us,32GB/s").value();
  EXPECT_EQ(link.nanoseconds(32e6), 1'005'000);
  EXPECT_NEAR(link.nanoseconds(1), 5000, 0.04);
}

} // namespace
} // namespace sprig::rt
