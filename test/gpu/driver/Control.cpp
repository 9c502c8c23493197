#include "test/gpu/driver/Control.h"
#include "test/gpu/driver/Driver.h"

using sprig::cuda::Driver;

void sprig_standin_reset() { Driver::reset(); }

const char *sprig_standin_complaints() {
  static std::string text;
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  text.clear();
  for (auto &complaint : driver.report.complaints()) text += complaint.text + "\n";
  return text.c_str();
}
