#include "tools/sprig/profile/ProfileCompare.h"
#include "lib/Data/File.h"
#include "lib/Json/Json.h"
#include "runtime/base/Hex.h"
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

namespace sprig::cli {
namespace {

constexpr int64_t kMostSamples = 256;

// NaN and infinities are no JSON numbers.
Json numberOrText(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
double numberFrom(const Json &json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return NAN;
  if (json == "inf") return INFINITY;
  if (json == "-inf") return -INFINITY;
  badInput("found " + json.dump() + ", expected a number");
}
double finiteFrom(const Json &json) {
  double value = numberFrom(json);
  if (!std::isfinite(value)) badInput("found " + json.dump() + ", expected a finite number");
  return value;
}

Json readProfile(const std::string &path) {
  auto bytes = data::readFile(path);
  Json json;
  try {
    json = parseJson({bytes.data(), bytes.size()}, path);
  } catch (const Json::exception &error) {
    badInput(path + ": is no JSON: " + error.what());
  }
  if (!json.is_object() || !json.contains("kind") || json["kind"] != "sprig profile" || !json.contains("profiles"))
    badInput(path + ": expected what 'sprig profile --format json' prints");
  return json;
}

// Why two outputs differ, or empty. Adds the largest difference.
std::string differenceOf(const Json &a, const Json &b, double bound, double &largest) {
  std::string name = a.at("name");
  if (a.at("name") != b.at("name") || a.at("type") != b.at("type"))
    return "output '" + name + "' is " + a.at("type").get<std::string>() + " in one and '" +
           b.at("name").get<std::string>() + "' of " + b.at("type").get<std::string>() + " in the other";
  if (a.at("digest") == b.at("digest")) return {};
  const Json &left = a.at("samples"), &right = b.at("samples");
  double scale = std::max(finiteFrom(a.at("max_abs")), finiteFrom(b.at("max_abs")));
  if (left.size() != right.size())
    return "output '" + name + "' has " + std::to_string(left.size()) + " samples in one and " +
           std::to_string(right.size()) + " in the other";
  for (size_t i = 0; i < left.size(); ++i) {
    double x = numberFrom(left[i]), y = numberFrom(right[i]);
    if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
    double difference = std::fabs(x - y) / (scale > 0 ? scale : 1);
    largest = std::isfinite(difference) ? std::max(largest, difference) : INFINITY;
  }
  if (!(largest <= bound))
    return "output '" + name + "' differs by " + formatDouble(largest, 3) + " of its largest value, more than " +
           formatDouble(bound, 3);
  return {};
}

struct Results {
  std::string reason; ///< why they do not agree
  bool sameBits = true;
  double largest = 0;
};

Results compareResults(const Json &a, const Json &b, double bound) {
  Results results;
  if (a.at("inputs") != b.at("inputs")) {
    results.reason = "the profiles were taken with different inputs";
    return results;
  }
  const Json &left = a.at("outputs"), &right = b.at("outputs");
  if (left.size() != right.size()) {
    results.reason = "one has " + std::to_string(left.size()) + " outputs, the other " + std::to_string(right.size());
    return results;
  }
  for (size_t i = 0; i < left.size() && results.reason.empty(); ++i) {
    results.sameBits &= left[i].at("digest") == right[i].at("digest");
    results.reason = differenceOf(left[i], right[i], bound, results.largest);
  }
  return results;
}

struct Pair {
  double before = 0, after = 0; ///< self ns a call
  bool inBefore = false, inAfter = false;
};

// Rows of one name are the first, second, ... of it: two layers may share a name.
void collect(const Json &profile, bool after, std::vector<std::string> &order, std::map<std::string, Pair> &pairs) {
  std::map<std::string, int> seen;
  double calls = std::max(1.0, profile.at("calls").get<double>());
  for (const Json &row : profile.at("rows")) {
    std::string name = row.at("name");
    if (int n = seen[name]++) name += " #" + std::to_string(n + 1);
    auto [found, isNew] = pairs.try_emplace(name);
    if (isNew) order.push_back(name);
    (after ? found->second.after : found->second.before) = row.at("self_ns").get<double>() / calls;
    (after ? found->second.inAfter : found->second.inBefore) = true;
  }
}

// Before, after and what to say about a call's time, from its quartiles.
Json compareCalls(const Json &a, const Json &b, std::string &verdict) {
  const Json &p = a.at("plain_call_quartiles_ns"), &q = b.at("plain_call_quartiles_ns");
  double before = p.at(1), after = q.at(1);
  if (!(before > 0) || !(after > 0))
    badInput("calls of " + formatDouble(before) + " and " + formatDouble(after) + " ns");
  bool overlap = q.at(0).get<double>() <= p.at(2).get<double>() && p.at(0).get<double>() <= q.at(2).get<double>();
  double ratio = before / after;
  verdict = overlap     ? "no difference beyond the noise"
            : ratio > 1 ? "the second is " + formatDouble(ratio, 3) + " times as fast"
                        : "the second is slower: " + formatDouble(ratio, 3) + " times the speed";
  return {{"before_ns", before},
          {"after_ns", after},
          {"speedup", ratio},
          {"noise", overlap},
          {"before_per_second", 1e9 / before},
          {"after_per_second", 1e9 / after}};
}

Json compareOne(const Json &a, const Json &b, double bound, bool quiet, bool &agrees) {
  std::vector<std::string> order;
  std::map<std::string, Pair> pairs;
  collect(a, false, order, pairs);
  collect(b, true, order, pairs);
  std::stable_sort(order.begin(), order.end(), [&](auto &x, auto &y) {
    return std::fabs(pairs[x].after - pairs[x].before) > std::fabs(pairs[y].after - pairs[y].before);
  });
  Table table({a.at("group").get<std::string>(), "before us", "after us", "difference us", "before/after"});
  Json rows = Json::array();
  for (const std::string &name : order) {
    const Pair &pair = pairs[name];
    auto us = [](bool there, double ns) { return there ? formatDouble(ns / 1e3, 4) : std::string("-"); };
    bool both = pair.inBefore && pair.inAfter && pair.after > 0;
    table.add({name, us(pair.inBefore, pair.before), us(pair.inAfter, pair.after),
               formatDouble((pair.after - pair.before) / 1e3, 3),
               both ? formatDouble(pair.before / pair.after, 3) : "-"});
    Json row = {{"name", name}, {"before_ns", nullptr}, {"after_ns", nullptr}};
    if (pair.inBefore) row["before_ns"] = pair.before;
    if (pair.inAfter) row["after_ns"] = pair.after;
    rows.push_back(row);
  }
  Results results = compareResults(a, b, bound);
  std::string verdict;
  Json call = compareCalls(a, b, verdict);
  agrees &= results.reason.empty();
  if (!results.reason.empty()) {
    verdict = "no claim on speed: " + results.reason;
    call.erase("speedup");
  }
  std::string outputs = !results.reason.empty() ? "differ"
                        : results.sameBits ? "equal in every bit"
                                           : "differ by " + formatDouble(results.largest, 3) + " of the largest value";
  if (!quiet) {
    std::cout << "entry '" << a.at("entry").get<std::string>() << "': self time of a call\n";
    table.print();
    std::cout << "a call takes " << formatNanoseconds(call["before_ns"]) << " before, "
              << formatNanoseconds(call["after_ns"]) << " after (medians, not recorded); calls/s "
              << formatDouble(std::round(call["before_per_second"].get<double>())) << " before, "
              << formatDouble(std::round(call["after_per_second"].get<double>())) << " after\n"
              << "outputs " << outputs << '\n'
              << verdict << '\n';
  }
  return {{"entry", a.at("entry")}, {"rows", rows}, {"call", call}, {"outputs", outputs}, {"verdict", verdict}};
}

} // namespace

// FNV-1a.
std::string digestOf(const std::vector<char> &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char byte : bytes) hash = (hash ^ uint8_t(byte)) * 0x100000001b3;
  return hexDigits(hash);
}

Json outputToJson(const data::Array &array) {
  Json samples = Json::array();
  double largest = 0;
  int64_t count = array.elements(), step = std::max<int64_t>(1, count / kMostSamples);
  for (int64_t i = 0; i < count; ++i) {
    double value = array.at(i);
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    if (i % step == 0 && int64_t(samples.size()) < kMostSamples) samples.push_back(numberOrText(value));
  }
  return {{"name", array.name},
          {"type", data::describe(array)},
          {"digest", digestOf(array.bytes)},
          {"max_abs", largest},
          {"samples", samples}};
}

ProfileComparison compareProfiles(const std::string &before, const std::string &after, double bound, bool quiet) {
  Json a = readProfile(before), b = readProfile(after);
  ProfileComparison comparison{true, {}};
  try {
    const Json &left = a.at("profiles"), &right = b.at("profiles");
    if (left.size() != right.size())
      badInput("one has " + std::to_string(left.size()) + " entries, the other " + std::to_string(right.size()));
    if (a.at("machine") != b.at("machine"))
      warn("the profiles are of different machines: " + a.at("machine").get<std::string>() + " and " +
           b.at("machine").get<std::string>());
    Json list = Json::array();
    for (size_t i = 0; i < left.size(); ++i)
      list.push_back(compareOne(left[i], right[i], bound, quiet, comparison.isSameResult));
    comparison.json = {{"before", before}, {"after", after}, {"entries", list}};
  } catch (const std::exception &error) {
    badInput(before + " or " + after + ": is not a whole profile: " + error.what());
  }
  return comparison;
}

} // namespace sprig::cli
