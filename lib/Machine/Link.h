// What bytes go over from one place to another. For the machine model and what it is calibrated by.
#pragma once

namespace sprig::machine {

struct Link {
  double latency = 0;        ///< seconds until the first byte is there
  double bytesPerSecond = 0; ///< once it goes on
  double seconds(double bytes) const { return latency + bytes / bytesPerSecond; }
};

} // namespace sprig::machine
