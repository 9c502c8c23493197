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

const char *sprig_standin_report() {
  static std::string text;
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.report.counts.virtualNanoseconds = static_cast<uint64_t>(driver.scheduler.lastEnd());
  text = driver.report.json();
  return text.c_str();
}

void sprig_standin_kernel(const void *image, size_t bytes, const char *name, const uint32_t *sizes, size_t count,
                          void (*run)(SprigStandInRun *)) {
  using namespace sprig::cuda;
  KernelCode kernel;
  kernel.name = name;
  uint32_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t alignment = std::min<uint32_t>(sizes[i] & -sizes[i], 8);
    offset = (offset + alignment - 1) / alignment * alignment;
    kernel.parameters.push_back({offset, sizes[i]});
    offset += sizes[i];
  }
  kernel.parameterBytes = offset;
  kernel.run = [run](Driver &, KernelRun &launch) {
    const LaunchShape &shape = launch.shape;
    const uint32_t grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z};
    const uint32_t block[3] = {shape.block.x, shape.block.y, shape.block.z};
    SprigStandInRun view = {grid, block, shape.dynamicShared, launch.parameters, &launch.effects, nullptr};
    view.touch = [](SprigStandInRun *self, uint64_t address, uint64_t bytes, SprigStandInRun::Access access) {
      auto &effects = *static_cast<Effects *>(self->state);
      (access == SprigStandInRun::Read    ? effects.reads
       : access == SprigStandInRun::Write ? effects.writes
                                          : effects.updates[sprig::cuda::Access::Update])
          .add(address, bytes);
    };
    run(&view);
  };
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  driver.codes.add(hashOf(std::string_view(static_cast<const char *>(image), bytes)), std::move(kernel));
}

// The thread that runs the kernel holds the lock.
void sprig_standin_set_conditional(uint64_t handle, uint32_t value) {
  Driver &driver = Driver::get();
  auto condition = driver.conditions.find(handle);
  if (!driver.running || condition == driver.conditions.end()) {
    driver.report.complain("condition", "a condition is set that is not there, or by no kernel");
    return;
  }
  driver.conditionSet = true;
  condition->second.value = value;
  condition->second.setBy = driver.running;
}
