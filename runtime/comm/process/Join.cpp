// What libsprig_rt_processes.so shows.
#include "runtime/comm/process/ProcessTransport.h"

extern "C" __attribute__((visibility("default"))) const char *sprig_rt_processes_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void
sprig_rt_processes_join(const sprig::rt::comm::ProcessRanksOptions &options,
                        std::unique_ptr<sprig::rt::comm::Transport> &transport, sprig::rt::comm::Status &status) {
  auto ranks = std::make_unique<sprig::rt::comm::ProcessTransport>(options);
  status = ranks->join();
  if (status.isOk()) transport = std::move(ranks);
}
