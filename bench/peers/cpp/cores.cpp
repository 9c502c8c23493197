// Whether this machine's processors are whole cores right now: on a virtual machine two of them may be threads of one core,
// or others' work may run on them. For each line of standard input runs fused multiply-adds on as many threads as the
// argument says, each on a processor of its own, the last ones first, and prints "ok SHARE": the rate of the slowest of
// them, of the best that one alone ever reached here.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

// Some 0.3 ms.
static double seconds() {
  float a[8] = {}, x = .5f;
  asm volatile("" : "+x"(x));
  auto from = std::chrono::steady_clock::now();
  for (int i = 0; i < 150'000; ++i)
    for (float &each : a) asm volatile("vfmadd231ss %1, %1, %0" : "+x"(each) : "x"(x));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

// On so many processors at once; each takes its best of `tries`.
static double slowest(int threads, int tries) {
  std::vector<double> least(threads, 1e9);
  std::barrier start(threads);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(std::thread::hardware_concurrency() - 1 - t, &one);
      sched_setaffinity(0, sizeof one, &one);
      for (int i = 0; i < tries; ++i) {
        start.arrive_and_wait();
        least[t] = std::min(least[t], seconds());
      }
    });
  for (std::thread &each : running) each.join();
  return *std::max_element(least.begin(), least.end());
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  double alone = slowest(1, 100);
  for (std::string line; std::getline(std::cin, line);) {
    alone = std::min(alone, slowest(1, 1));
    std::cout << "ok " << alone / slowest(threads, 3) << std::endl;
  }
}
