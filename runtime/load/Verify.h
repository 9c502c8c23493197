// What execution relies on, checked once: every index, range, size, alignment and event of a decoded program. A program
// that passes cannot make the runtime read or write outside its buffers or wait forever (what its kernels do inside is
// up to them: a package is code).
#ifndef SPRIG_RUNTIME_LOAD_VERIFY_H
#define SPRIG_RUNTIME_LOAD_VERIFY_H

#include "runtime/base/Status.h"
#include "runtime/load/Program.h"

namespace sprig::rt::core {

inline Status badPackage(const char *message) { return {SPRIG_RT_BAD_PACKAGE, message}; }
inline Status badPackage(TextParts message) { return {SPRIG_RT_BAD_PACKAGE, message}; }

struct SectionSizes {
  int constants = -1;          // index of the constants section, -1 for none
  std::vector<uint64_t> bytes; // of every section
  std::vector<bool> isImage;   // which of them hold code
};

// Bytes that a program may take beside its file: in all, and by constants that are one element in the file, of which a
// few bytes can claim any number.
struct MemoryLimits {
  uint64_t all = UINT64_MAX;
  uint64_t repeated = UINT64_MAX;
};

// Also fills the fields of `program` that are marked "set by Verify". Refuses programs that need more memory than that.
Status verifyProgram(Program &program, const SectionSizes &sections, const MemoryLimits &limits);

// The part about lanes and events: each event is recorded once, each wait can end, and all commands that touch the same
// bytes, one of them writing, are in order. Run by verifyProgram, after the checks of its buffers.
Status verifySchedule(const Entry &entry, const Program &program);

// The part about ranks: which there are, and where they meet; of a collective, its numbers, and the sizes and places of
// its operands, which are buffers of the entry. Run by verifyProgram.
Status verifyRanks(const Entry &entry);
Status verifyCollective(Command &command, const Entry &entry);

// The part about lengths: which there are, and how dimensions follow. Run by verifyProgram, after the shapes.
Status verifyLengths(const Entry &entry);

// The part about code: each image has every kernel that its devices run, within its bytes. Run by verifyProgram, after
// the checks of its entries.
Status verifyImages(const Program &program, const SectionSizes &sections);

// What the commands of a verified entry touch of what anything writes: arenas, outputs, states.
order::Schedule scheduleOf(const Entry &entry, const Program &program);

} // namespace sprig::rt::core

#endif
