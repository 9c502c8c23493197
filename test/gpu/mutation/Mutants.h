// Small faults in PTX text, one at a time: what a mutation test of kernels tries (DeMillo, Lipton, Sayward: Hints on
// Test Data Selection, 1978). Each stays a text that the parser takes.
#ifndef SPRIG_TEST_GPU_MUTATION_MUTANTS_H
#define SPRIG_TEST_GPU_MUTATION_MUTANTS_H

#include <string>
#include <vector>

namespace sprig::gpu {

struct Mutant {
  unsigned line;       // of the text, from 1
  std::string was, is; // the instruction; `is` is empty where it is left out
  std::string text;    // all of it, changed

  // "instruction -> instruction", without numbers of registers: what stays the same when others come and go.
  std::string name() const;
};

// Of text as LLVM's NVPTX back-end writes it (an instruction a line): barriers and stores left out, branches and
// comparisons turned, operations replaced by their neighbours, operands of a selection exchanged, integers one higher,
// addresses an element further, shuffles over half the distance.
std::vector<Mutant> mutantsOf(const std::string &text);

} // namespace sprig::gpu
#endif
