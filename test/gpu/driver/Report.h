// What went wrong, for people (stderr) and tests, and how much of what was done.
#ifndef SPRIG_TEST_GPU_DRIVER_REPORT_H
#define SPRIG_TEST_GPU_DRIVER_REPORT_H

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace sprig::cuda {

class Report {
public:
  /// Prints the first complaint of each `key`, and counts the others: a loop repeats its faults.
  void complain(const std::string &key, const std::string &text);

  struct Complaint {
    std::string text;
    uint64_t times = 1;
  };
  const std::vector<Complaint> &complaints() const { return list; }

private:
  std::vector<Complaint> list;
  std::unordered_map<std::string, size_t> known;
};

} // namespace sprig::cuda

#endif
