// What sprig quantize prints.
#pragma once
#include "tools/sprig/Report.h"
#include "tools/sprig/quantize/QuantizeModel.h"

namespace sprig::cli {

/// `output` is the file that was written, of so many bytes.
void print(const QuantizeReport &report, const std::string &output, uint64_t bytes, bool json);

} // namespace sprig::cli
