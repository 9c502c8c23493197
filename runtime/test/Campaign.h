// What programs of random tests share that are also run at length: their arguments, and who is told of when one dies.
#ifndef SPRIG_RUNTIME_TEST_CAMPAIGN_H
#define SPRIG_RUNTIME_TEST_CAMPAIGN_H

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace sprig::rt::test {

// --count N [--seed S] [--keep FOLDER]; a count of 0 asks for the tests.
struct Campaign {
  uint64_t seed = 1000, count = 0;
  std::string folder = ".";
  std::string wrong; // what is not understood

  Campaign(int argc, char **argv) {
    for (int i = 1; i < argc; i += 2) {
      char *end = nullptr;
      unsigned long long value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
      bool isNumber = end && *end == 0 && end != argv[i + 1];
      if (std::strcmp(argv[i], "--count") == 0 && isNumber)
        count = value;
      else if (std::strcmp(argv[i], "--seed") == 0 && isNumber)
        seed = value;
      else if (std::strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
        folder = argv[i + 1];
      else if (wrong.empty())
        wrong = argv[i];
    }
    if (!wrong.empty())
      std::fprintf(stderr, "expected --count N, --seed S or --keep FOLDER with a value, found '%s'\n", wrong.c_str());
  }
};

inline volatile uint64_t currentSeed = 0;

// From now on a program that dies says of which seed; an endless wait is a death, too.
inline void begin(uint64_t seed) {
  currentSeed = seed;
  auto onDeath = [](int signal) {
    char text[64];
    int size = std::snprintf(text, sizeof text, "signal %d at seed %llu\n", signal, (unsigned long long)(currentSeed));
    if (::write(2, text, size_t(size)) < 0) _exit(1);
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  };
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) std::signal(signal, onDeath);
  ::alarm(600);
}

} // namespace sprig::rt::test

#endif
