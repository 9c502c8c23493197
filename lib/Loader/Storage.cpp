#include "lib/Loader/Storage.h"
#include "runtime/base/Decimal.h"
#include "sprig/error.h"
#include <algorithm>
#include <charconv>

namespace sprig::data {
namespace {

using StorageClock = Storage::Clock;

StorageClock::duration seconds(double value) {
  return std::chrono::duration_cast<StorageClock::duration>(std::chrono::duration<double>(value));
}

constexpr double kSeek = 5.5e-3;  // an arm's mean way, with settling
constexpr double kLongest = 3600; // seconds of one sample or request
constexpr int kMostChannels = 4096;

} // namespace

IoDelay hdd(double rpm) {
  if (!(rpm >= 1)) badUse("data: a disk of " + decimal::shortest(rpm) + " turns a minute");
  return {.latency = 30 / rpm + kSeek, .bandwidth = 150e6, .channels = 1};
}
IoDelay ssd() { return {.latency = 80e-6, .bandwidth = 2e9, .channels = 32}; }
IoDelay nvme() { return {.latency = 20e-6, .bandwidth = 8e9, .channels = 64}; }

IoDelay parseIoDelay(const std::string &text) {
  auto refuse = [&] { badUse("I/O delay '" + text + "': expected hdd, hdd:RPM, ssd, nvme or a time such as 20ms"); };
  double number = 0;
  auto parse = [&](const char *from) {
    auto [end, error] = std::from_chars(from, text.data() + text.size(), number);
    if (error != std::errc()) refuse();
    return std::string(end, text.data() + text.size());
  };
  if (text == "hdd") return hdd();
  if (text == "ssd") return ssd();
  if (text == "nvme") return nvme();
  if (text.starts_with("hdd:")) {
    if (!parse(text.data() + 4).empty() || !(number >= 1)) refuse();
    return hdd(number);
  }
  std::string unit = parse(text.data());
  double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 0;
  if (scale == 0 || !(number >= 0 && number * scale <= kLongest)) refuse();
  return {.perItem = number * scale};
}

Storage::Storage(const IoDelay &delay) : delay(delay) {
  auto check = [](const char *what, double value, double most) {
    if (!(value >= 0 && value <= most))
      badUse(std::string("data: ioDelay.") + what + " is " + decimal::shortest(value) + ", expected 0 to " +
             std::to_string(int64_t(most)));
  };
  check("perItem", delay.perItem, kLongest);
  check("latency", delay.latency, kLongest);
  check("bandwidth", delay.bandwidth, 1e18);
  check("channels", delay.channels, kMostChannels);
  if (delay.readBytes < 1)
    badUse("data: ioDelay.readBytes is " + std::to_string(delay.readBytes) + ", expected at least 1");
  channels.resize(size_t(delay.channels));
}

StorageClock::time_point Storage::request(int64_t position, int64_t bytes, StorageClock::time_point now) {
  StorageClock::time_point start = now;
  Channel *channel = nullptr;
  bool follows = false;
  if (!channels.empty()) {
    channel = &*std::min_element(channels.begin(), channels.end(),
                                 [](const Channel &a, const Channel &b) { return a.free < b.free; });
    start = std::max(start, channel->free);
    follows = channels.size() == 1 && channel->position == position;
  }
  if (!follows) start += seconds(delay.latency);
  StorageClock::time_point end = start;
  if (delay.bandwidth > 0) end = linkFree = std::max(start, linkFree) + seconds(double(bytes) / delay.bandwidth);
  if (channel) *channel = {end, position + bytes};
  return end;
}

StorageClock::time_point Storage::read(std::span<const int64_t> samples, int64_t bytesEach,
                                       StorageClock::time_point now) {
  StorageClock::time_point done = now;
  if (delay.latency > 0 || delay.bandwidth > 0) {
    std::lock_guard lock(mutex);
    for (size_t i = 0, next = 0; i < samples.size(); i = next) {
      for (next = i + 1; next < samples.size() && samples[next] == samples[next - 1] + 1;) ++next;
      int64_t position = samples[i] * bytesEach, end = position + int64_t(next - i) * bytesEach;
      do {
        int64_t bytes = std::min(end - position, delay.readBytes);
        done = std::max(done, request(position, bytes, now));
        position += bytes;
      } while (position < end);
    }
  }
  return done + seconds(delay.perItem * double(samples.size()));
}

} // namespace sprig::data
