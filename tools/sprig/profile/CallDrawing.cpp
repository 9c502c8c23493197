#include "tools/sprig/profile/CallDrawing.h"

namespace sprig::cli {
namespace {

// Of the palette of lib/Plot, by kind.
constexpr int kColors[] = {0, 1, 2, 3, 5, 4};
constexpr const char *kNames[] = {"computes", "copies", "loads data", "call", "waits", "meets other ranks"};

} // namespace

std::string directionOf(const machine::Topology &topology, const machine::LinkUse &use) {
  const machine::TopologyLink &link = topology.links[use.link];
  uint32_t from = use.forward ? link.a : link.b, to = use.forward ? link.b : link.a;
  return topology.nodes[from].name + (link.halfDuplex ? " and " : " to ") + topology.nodes[to].name;
}

CallDrawing::CallDrawing(const std::string &title, const std::string &subtitle, machine::Span window) : window(window) {
  timeline.title = title;
  timeline.subtitle = subtitle;
  timeline.ns = std::max(window.length(), 0.0);
}

void CallDrawing::row(const std::string &label, bool beginsGroup) { timeline.rows.push_back({label, {}, beginsGroup}); }

void CallDrawing::span(const machine::Span &span, const std::string &name, Drawn kind, bool isCritical) {
  double begin = std::max(span.begin, window.begin), end = std::min(span.end, window.end);
  if (!(end > begin)) return;
  timeline.rows.back().spans.push_back(
      {begin - window.begin, end - window.begin, name, kColors[int(kind)], kind == Drawn::wait, isCritical});
}

void CallDrawing::uses(const std::string &label, const std::vector<machine::Span> &spans, Drawn kind,
                       bool beginsGroup) {
  row(label, beginsGroup);
  for (const machine::Span &each : spans) span(each, "", kind);
}

// The key has what the picture has.
std::string CallDrawing::svg() const {
  plot::Timeline drawn = timeline;
  bool isMarked = false;
  for (int kind = 0; kind < int(std::size(kColors)); ++kind) {
    auto isOfKind = [&](const plot::TimelineSpan &span) { return span.color == kColors[kind]; };
    bool isThere = false;
    for (const plot::TimelineRow &row : timeline.rows) {
      isThere |= std::any_of(row.spans.begin(), row.spans.end(), isOfKind);
      isMarked |= std::any_of(row.spans.begin(), row.spans.end(), [](const auto &span) { return span.marked; });
    }
    if (isThere) drawn.keys.push_back({kNames[kind], kColors[kind], kind == int(Drawn::wait)});
  }
  if (isMarked) drawn.keys.push_back({"critical path", 0, false, true});
  return toSvg(drawn);
}

} // namespace sprig::cli
