#include "lib/Plot/Timeline.h"
#include "lib/Plot/SvgText.h"
#include "lib/Plot/Ticks.h"
#include <algorithm>
#include <cmath>

namespace sprig::plot {
namespace {

constexpr double kTimelineWidth = 980, kTimelineLeft = 190, kTimelineRight = 28, kTimelineTop = 84, kRow = 22,
                 kBar = 16, kGroup = 12, kTimelineBottom = 48, kMark = 2.5;
constexpr double kLetter = 6.5;
// Narrower than that is not seen by itself.
constexpr double kSeen = 0.4;

std::string clipped(const std::string &label, double room) {
  auto letters = size_t(std::max(0.0, room / kLetter));
  if (label.size() <= letters) return label;
  if (letters < 4) return "";
  // Not within a character.
  size_t kept = letters - 2;
  while (kept > 0 && (static_cast<unsigned char>(label[kept]) & 0xc0) == 0x80) --kept;
  return label.substr(0, kept) + "..";
}

std::string fill(int color, bool faint) {
  return "f" + std::to_string(((color % kColors) + kColors) % kColors) + (faint ? " faint" : "");
}

struct Unit {
  const char *name;
  double ns;
};
Unit unitFor(double ns) {
  for (Unit unit : {Unit{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}})
    if (ns >= unit.ns) return unit;
  return {"ns", 1};
}

class TimelineDrawing {
public:
  explicit TimelineDrawing(const Timeline &timeline)
      : timeline(timeline), unit(unitFor(timeline.ns)),
        scale(linearScale(0, timeline.ns > 0 ? timeline.ns / unit.ns : 1, 9)) {}

  std::string draw() {
    double height = kTimelineTop + kTimelineBottom;
    for (const TimelineRow &row : timeline.rows) height += kRow + (row.apart ? kGroup : 0);
    std::string svg = beginSvg(kTimelineWidth, height, kTimelineLeft, timeline.title, timeline.subtitle) + legend();
    double step = scale.ticks.size() > 1 ? scale.ticks[1] - scale.ticks[0] : 1;
    for (double tick : scale.ticks) {
      double x = xOf(tick * unit.ns);
      svg += "<path class=\"grid\" d=\"M" + number(x) + " " + number(kTimelineTop) + "V" +
             number(height - kTimelineBottom) + "\"/>\n" +
             text(x, height - kTimelineBottom + 18, "quiet", tickText(tick, step), "text-anchor=\"middle\"");
    }
    svg += text((kTimelineLeft + kTimelineWidth - kTimelineRight) / 2, height - 10, "quiet", unit.name,
                "text-anchor=\"middle\"");
    double y = kTimelineTop;
    for (const TimelineRow &row : timeline.rows) {
      if (row.apart) y += kGroup;
      svg += text(kTimelineLeft - 8, y + 15, "text", clipped(row.label, kTimelineLeft - 12), "text-anchor=\"end\"") +
             bars(row, y + (kRow - kBar) / 2);
      y += kRow;
    }
    return svg + "</svg>\n";
  }

private:
  const Timeline &timeline;
  Unit unit;
  Scale scale;

  double xOf(double ns) const {
    return kTimelineLeft + scale.share(ns / unit.ns) * (kTimelineWidth - kTimelineLeft - kTimelineRight);
  }

  std::string bars(const TimelineRow &row, double y) const {
    std::string svg;
    for (size_t i = 0; i < row.spans.size();) {
      const TimelineSpan &span = row.spans[i];
      double from = xOf(span.begin), to = xOf(span.end);
      size_t next = i + 1;
      // What cannot be told apart is drawn as one.
      while (next < row.spans.size() && row.spans[next].color == span.color && row.spans[next].marked == span.marked &&
             to - from < 2 && xOf(row.spans[next].begin) - to < kSeen && xOf(row.spans[next].end) - from < 2)
        to = xOf(row.spans[next++].end);
      bool single = next == i + 1;
      svg += "<rect class=\"" + fill(span.color, span.faint) + "\" x=\"" + number(from) + "\" y=\"" + number(y) +
             "\" width=\"" + number(std::max(kSeen, to - from - (to - from > 3 ? 0.6 : 0))) + "\" height=\"" +
             number(kBar) + "\">";
      if (single && !span.label.empty())
        svg += "<title>" + escape(span.label) + ", " + tickText((span.end - span.begin) / unit.ns, 0.001) + " " +
               unit.name + "</title>";
      svg += "</rect>\n";
      if (span.marked) svg += mark(from, y + kBar + 1, to - from);
      if (single)
        svg +=
            text(from + 4, y + 12, span.faint ? "quiet" : "on", clipped(span.label, to - from - 8), "font-size=\"11\"");
      i = next;
    }
    return svg;
  }

  static std::string mark(double x, double y, double width) {
    return "<rect class=\"text\" x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" +
           number(std::max(kSeen, width - (width > 3 ? 0.6 : 0))) + "\" height=\"" + number(kMark) + "\"/>\n";
  }

  std::string legend() const {
    std::string svg;
    double x = kTimelineLeft;
    for (const TimelineKey &key : timeline.keys) {
      svg += (key.marked ? mark(x, 63, 12)
                         : "<rect class=\"" + fill(key.color, key.faint) + "\" x=\"" + number(x) +
                               "\" y=\"56\" width=\"12\" height=\"12\"/>\n") +
             text(x + 18, 66, "text", key.name);
      x += 40 + double(key.name.size()) * kLetter;
    }
    return svg;
  }
};

} // namespace

std::string toSvg(const Timeline &timeline) { return TimelineDrawing(timeline).draw(); }

} // namespace sprig::plot
