// Operations return before they have run. What that means for clocks, for the order of work and for memory.
// The same experiments with their relations checked: `sprig bench async`.
#include <chrono>
#include <cstdio>
#include <sprig/sprig.h>

using namespace sprig;

static double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main() {
  Tensor a = randn({1000, 1000}), b = randn({1000, 1000});
  matmul(a, b).wait(); // warm
  double start = now();
  Tensor c;
  for (int i = 0; i < 10; ++i) c = matmul(a, b);
  double asked = now();
  synchronize();
  double done = now();
  std::printf("10 products: asked for in %.4f sec, done after %.4f sec\n", asked - start, done - start);

  {
    Benchmark scope("10 products, honestly timed"); // waits at both ends
    for (int i = 0; i < 10; ++i) c = matmul(a, b);
  }
  {
    Benchmark scope("waiting after each");
    for (int i = 0; i < 10; ++i) matmul(a, b).wait();
  }
  // Types and shapes are known at once; numbers are waited for.
  c = matmul(a, b);
  start = now();
  int64_t elements = c.numel();
  asked = now();
  float first = c.data<float>()[0];
  std::printf("numel %lld in %.6f sec, the first element %.3f in %.4f sec\n", (long long)elements, asked - start, first,
              now() - asked);
}
