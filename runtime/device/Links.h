// The links of set latency and rate between the devices of one load, and what goes over which. On the processor they
// are paced in real time (Wire.h); null devices reckon with them on their own clock.
#ifndef SPRIG_RUNTIME_DEVICE_LINKS_H
#define SPRIG_RUNTIME_DEVICE_LINKS_H

#include "runtime/device/Device.h"
#include "runtime/device/Wire.h"

#include <span>

namespace sprig::rt::core {

class Links {
public:
  // As in sprig/rt/links.hpp; a later one replaces one between the same places. Devices by their names. The caller's
  // arrays lie on the first device that works on the host's memory; where there is none, on "host".
  static Status make(std::span<const std::string> given, std::span<const std::shared_ptr<Device>> devices,
                     Links &links);

  bool empty() const { return list.empty(); }
  // What a copy goes over; null: over no link of these. No device: the host.
  Wire *between(const Device *from, const Device *to) const;
  // Tells which go over something, as its entries copy; starts the threads of what is paced in real time. The links
  // that no copy of the program goes over are told to `unused`.
  Status use(const Program &program, std::span<const std::shared_ptr<Device>> devices,
             std::vector<std::string> &unused) const;

private:
  struct Link {
    std::string text;
    const Device *a, *b;
    std::unique_ptr<Wire> there, back; // `back` is null where both directions share one
  };
  std::vector<Link> list;
  const Device *host = nullptr; // the device that the caller's arrays lie on
};

} // namespace sprig::rt::core

#endif
