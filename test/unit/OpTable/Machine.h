// The processor that rows run on: the host's own, or one that a test emulates.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::optable {

/// What code is made for: the processor's levels, and what it has beyond them for products of bytes and of bf16, where
/// code has those.
std::vector<std::string> instructionSets(bool hasBytes = true, bool hasBf16 = true);

/// Limits of instruction sets (rt::LoadOptions::cpu) that the code is run under, one after the other; "": none.
std::vector<std::string> limits();

/// Numbers of threads that the code is run by, one after the other.
std::vector<int> threadCounts();

/// The package as the runtime takes it on this processor.
std::vector<uint8_t> runnable(std::vector<uint8_t> package);

} // namespace sprig::optable
