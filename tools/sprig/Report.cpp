#include "tools/sprig/Report.h"
#include "runtime/base/Decimal.h"
#include "sprig/error.h"
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

namespace sprig::cli {

using decimal::scaled;

namespace {

bool quietFlag = false, verboseFlag = false;

bool looksNumeric(const std::string &cell) {
  // "~" marks an estimate.
  size_t at = !cell.empty() && (cell[0] == '-' || cell[0] == '~');
  return cell.size() > at && std::isdigit(static_cast<unsigned char>(cell[at]));
}

// Columns count code points, not bytes.
size_t width(const std::string &cell) {
  return size_t(std::count_if(cell.begin(), cell.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

} // namespace

void Table::print() const { std::cout << text(); }

std::string Table::text() const {
  std::string all;
  std::vector<size_t> widths;
  for (auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], width(row[i]));
    }
  for (auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      std::string pad(widths[i] - width(row[i]), ' ');
      line += cells == Cells::numbersRight && looksNumeric(row[i]) ? pad + row[i] : row[i] + pad;
      if (i + 1 < row.size()) line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + '\n';
  }
  return all;
}

std::string toText(const Json &json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string formatNanoseconds(double ns) { return scaled(ns, 1000, {"ns", "us", "ms", "s"}); }
std::string formatBytes(double bytes) { return scaled(bytes, 1000, {"B", "KB", "MB", "GB", "TB"}); }
std::string formatBinaryBytes(double bytes) { return scaled(bytes, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string formatCount(double count, const std::string &unit) {
  return scaled(count, 1000, {"", "K", "M", "G", "T"}) + unit;
}

std::string formatDouble(double value, int digits) { return decimal::general(value, digits); }

void warn(const std::string &text) {
  if (!quietFlag) std::cerr << "warning: " << text << '\n';
}
void inform(const std::string &text) {
  if (!quietFlag) std::cerr << text << '\n';
}
void setQuiet(bool quiet) { quietFlag = quiet; }
uint64_t peakMemory() {
  // Not getrusage: that counts the memory of a parent that forked, too.
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stoull(word) * 1024;
  return 0;
}

bool isQuiet() { return quietFlag; }
bool isVerbose() { return verboseFlag; }
void setVerbose(bool verbose) { verboseFlag = verbose; }

} // namespace sprig::cli
