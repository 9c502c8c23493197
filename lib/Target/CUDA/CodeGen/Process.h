// Another program, run to its end or to a limit of time. For the assembler.
#pragma once
#include "llvm/Support/Error.h"
#include <chrono>
#include <string>
#include <vector>

namespace sprig::cuda {

struct ProcessResult {
  int code = 0;       // what it exited with
  int signal = 0;     // or what ended it
  std::string output; // of both standard streams, its first MiB
};

/// Runs `arguments[0]`, a path, in a folder, with nothing to read. The error says that it could not be started, or that
/// it took longer than `limit`; then it has been killed.
llvm::Expected<ProcessResult> runProcess(const std::vector<std::string> &arguments, const std::string &folder,
                                         std::chrono::milliseconds limit);

} // namespace sprig::cuda
