// Processors with instructions that the host may lack: there they are invalid, and the handler of the signal computes
// them. EmulatedMachine.cpp is the machine of the rows (Machine.h); a file for each kind of processor has the rest.
#pragma once
#include "test/unit/OpTable/VexInstruction.h"

namespace sprig::optable {

/// What code is made for.
extern const char *const kEmulatedSet;

/// Whether the host has the instructions itself; and whether it has what else their code is made of.
bool hasInstructions();
bool mayEmulate();

/// Computes one of the instructions for the thread whose registers these are; false: it is none of them.
bool emulate(const VexInstruction &instruction, ucontext_t &frame);

} // namespace sprig::optable
