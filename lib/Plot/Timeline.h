// A timeline as SVG: rows of spans over one axis of time, what runs beside what.
// For `sprig simulate --svg` and `sprig profile --svg`. Spans that are narrower than can be seen become one, so a
// drawing stays small however many there are.
#pragma once
#include <string>
#include <vector>

namespace sprig::plot {

struct TimelineSpan {
  double begin = 0, end = 0; ///< nanoseconds from the timeline's begin
  std::string label;         ///< written inside where it fits
  int color = 0;             ///< of the palette, by number
  bool faint = false;        ///< nothing happens: a wait
  bool marked = false;       ///< underlined
};

struct TimelineRow {
  std::string label;               ///< on the left
  std::vector<TimelineSpan> spans; ///< in order, apart from each other
  bool apart = false;              ///< begins a group: there is room above it
};

struct TimelineKey {
  std::string name;
  int color = 0;
  bool faint = false;
  bool marked = false;
};

struct Timeline {
  std::string title, subtitle;
  double ns = 0; ///< how long it is
  std::vector<TimelineRow> rows;
  std::vector<TimelineKey> keys; ///< what the colours mean
};

std::string toSvg(const Timeline &timeline);

} // namespace sprig::plot
