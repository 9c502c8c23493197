#include "lib/Plot/SvgText.h"
#include "runtime/base/Decimal.h"
#include "runtime/include/sprig/rt/utf8.hpp"
#include <string_view>

namespace sprig::plot {
namespace {

constexpr char kStyle[] = R"(<style>
svg { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, Helvetica, Arial, sans-serif }
.page { fill: #ffffff } .text { fill: #24292f } .quiet { fill: #656d76 }
.grid { stroke: #d8dee4; stroke-width: 1 } .minor { stroke: #eff2f5; stroke-width: 1 }
.frame { stroke: #afb8c1; stroke-width: 1; fill: none }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round }
.faint { stroke-width: 1; opacity: .35 } .bad { fill: #d1242f }
.s0 { stroke: #1f6feb } .s1 { stroke: #d4700b } .s2 { stroke: #1a7f37 } .s3 { stroke: #8250df }
.s4 { stroke: #bf3989 } .s5 { stroke: #6e7781 }
.f0 { fill: #1f6feb } .f1 { fill: #d4700b } .f2 { fill: #1a7f37 } .f3 { fill: #8250df } .f4 { fill: #bf3989 }
.f5 { fill: #6e7781 } .on { fill: #ffffff }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .text { fill: #e6edf3 } .quiet { fill: #9198a1 }
.grid { stroke: #30363d } .minor { stroke: #1c2128 } .frame { stroke: #484f58 } .bad { fill: #ff7b72 }
.s0 { stroke: #58a6ff } .s1 { stroke: #f0983e } .s2 { stroke: #56d364 } .s3 { stroke: #bc8cff }
.s4 { stroke: #ff7bc8 } .s5 { stroke: #9198a1 }
.f0 { fill: #58a6ff } .f1 { fill: #f0983e } .f2 { fill: #56d364 } .f3 { fill: #bc8cff } .f4 { fill: #ff7bc8 }
.f5 { fill: #9198a1 } .on { fill: #0d1117 }
}
</style>
)";

} // namespace

std::string number(double value) {
  std::string result = decimal::fixed(value, 1);
  if (result.ends_with(".0")) result.resize(result.size() - 2);
  return result == "-0" ? "0" : result;
}

std::string escape(const std::string &text) {
  std::string result, valid = rt::validUtf8(text);
  for (size_t i = 0; i < valid.size(); ++i) {
    // XML has neither U+FFFE nor U+FFFF.
    std::string_view three = std::string_view(valid).substr(i, 3);
    if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") {
      i += 2;
      continue;
    }
    char c = valid[i];
    switch (c) {
    case '&': result += "&amp;"; break;
    case '<': result += "&lt;"; break;
    case '>': result += "&gt;"; break;
    case '"': result += "&quot;"; break;
    // Nor other control characters, not even escaped.
    default:
      if (static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n') result += c;
    }
  }
  return result;
}

std::string text(double x, double y, const char *kind, const std::string &content, const std::string &attributes) {
  if (content.empty()) return "";
  return "<text class=\"" + std::string(kind) + "\" x=\"" + number(x) + "\" y=\"" + number(y) + "\"" +
         (attributes.empty() ? "" : " " + attributes) + ">" + escape(content) + "</text>\n";
}
std::string beginSvg(double width, double height, double left, const std::string &title, const std::string &subtitle) {
  std::string size = number(width) + "\" height=\"" + number(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " + number(width) + " " +
         number(height) + "\" role=\"img\" aria-label=\"" + escape(title) + "\">\n" + kStyle +
         "<rect class=\"page\" width=\"" + size + "\" rx=\"6\"/>\n" +
         text(left, 26, "text", title, "font-size=\"16\" font-weight=\"600\"") + text(left, 44, "quiet", subtitle);
}

} // namespace sprig::plot
