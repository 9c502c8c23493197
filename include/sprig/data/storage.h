// Simulated storage: how long samples take to come, for benches that any machine repeats.
// For Loader's option ioDelay. Nothing is read; the thread that loads waits as long as the device would take.
#pragma once
#include "sprig/api.h"
#include <cstdint>
#include <string>

namespace sprig::data {

struct IoDelay {
  double perItem = 0;            ///< seconds of each sample, whatever its size; each worker waits for itself
  double latency = 0;            ///< seconds of a request
  double bandwidth = 0;          ///< bytes a second of the whole device; 0: no limit
  int channels = 0;              ///< requests that it serves at once; 0: any number
  int64_t readBytes = 256 << 10; ///< samples that lie side by side are read together, up to this many bytes
  bool none() const { return perItem <= 0 && latency <= 0 && bandwidth <= 0; }
};

/// A hard disk: one arm, half a turn (30 / rpm seconds) and a seek of 5.5 ms to each place, 150 MB/s.
SPRIG_API IoDelay hdd(double rpm = 7200);
/// A SATA or datacentre solid state disk: 80 us, 32 requests at once (400,000 a second), 2 GB/s.
SPRIG_API IoDelay ssd();
/// PCIe 4: 20 us, 64 requests at once, 8 GB/s.
SPRIG_API IoDelay nvme();
/// "hdd", "hdd:10000" (rpm), "ssd", "nvme", or the time of each sample: "20ms", "50us", "0.02s". Throws Error (usage).
SPRIG_API IoDelay parseIoDelay(const std::string &text);

} // namespace sprig::data
