// What drawings have in common: the page with its title and style sheet (colours are classes, for light and dark
// pages), text, numbers. For what draws SVG.
#pragma once
#include <string>

namespace sprig::plot {

inline constexpr int kColors = 6; ///< classes s0 to s5 of lines, f0 to f5 of what is filled; `on` is text on the latter

/// One decimal.
std::string number(double value);
std::string escape(const std::string &text);
/// A text of a class at a place; nothing where it is empty.
std::string text(double x, double y, const char *kind, const std::string &content, const std::string &attributes = "");
/// Up to the title; "</svg>" ends it.
std::string beginSvg(double width, double height, double left, const std::string &title, const std::string &subtitle);

} // namespace sprig::plot
