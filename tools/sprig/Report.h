// What every command prints with: text tables, JSON, numbers for people.
// Results go to standard output, everything else to standard error (docs/cli.md).
#pragma once
#include "sprig/error.h"
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace sprig::cli {

using Json = nlohmann::ordered_json;

/// A document as it is printed; names that are not UTF-8 have U+FFFD in place of what is not.
std::string toText(const Json &json);

/// A table of text cells; columns are as wide as their widest cell, numbers to the right unless all is text.
class Table {
public:
  enum class Cells { numbersRight, text };
  explicit Table(std::vector<std::string> header, Cells cells = Cells::numbersRight)
      : rows{std::move(header)}, cells(cells) {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// Prints to standard output.
  void print() const;
  std::string text() const; ///< lines that end

private:
  std::vector<std::vector<std::string>> rows;
  Cells cells;
};

/// Three significant digits with a unit that fits: "235 us", "1.2 ms".
std::string formatNanoseconds(double ns);
/// "64.0 KB", in powers of 1000 as files are sized.
std::string formatBytes(double bytes);
/// "32 KiB", in powers of 1024 as caches are sized.
std::string formatBinaryBytes(double bytes);
/// "30.1 MFLOP"
std::string formatCount(double count, const std::string &unit);
std::string formatDouble(double value, int digits = 6);
/// "1.234", of nanoseconds, without the unit.
inline std::string formatMilliseconds(double ns) { return formatDouble(ns / 1e6, 4); }
/// A share of 1 in percent, three significant digits: "12.5", without the sign.
inline std::string formatPercent(double share) { return formatDouble(100 * share, 3); }

/// Prints `warning: TEXT` to standard error unless quiet.
void warn(const std::string &text);
/// Prints a plain line to standard error unless quiet.
void inform(const std::string &text);
void setQuiet(bool quiet);
/// Bytes that this process has had in memory at most, as the system counts them; what started it does not count.
uint64_t peakMemory();

bool isQuiet();
/// Whether informing goes into detail (-v).
bool isVerbose();
void setVerbose(bool verbose);

} // namespace sprig::cli
