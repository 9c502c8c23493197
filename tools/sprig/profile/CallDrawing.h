// The picture of calls: a row for each lane, device, link, queue and loader, the same for recorded calls and simulated
// ones. For sprig profile --svg and sprig simulate --svg.
#pragma once
#include "lib/Machine/Simulator.h"
#include "lib/Plot/Timeline.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::cli {

/// A time as a trace stores it; what is endless ends in 31 years.
inline uint64_t wholeNanoseconds(double ns) { return uint64_t(std::llround(std::min(ns, 1e18))); }

/// "cpu:0 to cpu:1"; of a link that carries one direction at a time, "cpu:0 and cpu:1".
std::string directionOf(const machine::Topology &topology, const machine::LinkUse &use);

enum class Drawn { work, copy, load, call, wait, meet };

class CallDrawing {
public:
  /// Of what lies within `window`.
  CallDrawing(const std::string &title, const std::string &subtitle, machine::Span window);

  /// A row, then its spans, in order. What begins a group has room above it.
  void row(const std::string &label, bool beginsGroup = false);
  void span(const machine::Span &span, const std::string &name, Drawn kind, bool isCritical = false);
  /// A row of spans that have no names.
  void uses(const std::string &label, const std::vector<machine::Span> &spans, Drawn kind, bool beginsGroup);
  std::string svg() const;

private:
  plot::Timeline timeline;
  machine::Span window;
};

} // namespace sprig::cli
