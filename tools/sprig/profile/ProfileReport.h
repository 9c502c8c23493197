// Prints a profile: a table that can be grouped and sorted by any column, or JSON that --compare reads.
#pragma once
#include "tools/sprig/profile/ProfileRows.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {

/// What rows are put together by.
inline constexpr const char *kProfileGroups[] = {"dispatch", "op", "layer", "shape", "source"};
/// What rows can be sorted by; "order" is that of the program.
inline constexpr const char *kProfileColumns[] = {"order",  "name",    "calls",  "self",  "total", "mean",
                                                  "median", "min",     "share",  "flops", "bytes", "rate",
                                                  "limit",  "threads", "device", "lane"};

struct ProfileView {
  std::string group = "dispatch";
  std::string sort = "self";
  bool operations = false; ///< show the operations of every command, not only the kernels of merged ones
};

/// A line of the report.
struct ProfileLine {
  std::string name, kind, device, lane;
  double calls = 0, selfNs = 0, totalNs = 0, flops = 0, bytes = 0; ///< over all calls
  double limitNs = 0;
  double threadNs = 0;
  double minNs = 0, medianNs = 0; ///< of one execution, times the calls
  bool isCritical = false;        ///< holds something that is on the critical path
  bool isEstimate = false;        ///< its time is a modelled share of a measured one
  std::vector<ProfileLine> inside;
  double meanNs() const { return calls ? totalNs / calls : 0; }
};

/// Lines by group and in order. Their self times sum up to the profile's wall time, those inside of others aside.
std::vector<ProfileLine> profileLines(const ProfileResult &result, const ProfileView &view);
void printProfile(const ProfileResult &result, const ProfileView &view);
Json profileToJson(const ProfileResult &result, const ProfileView &view);

} // namespace sprig::cli
