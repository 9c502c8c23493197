// Tensors are values: operations return at once, printing waits.
#include <iostream>
#include <sprig/sprig.h>

int main() {
  sprig::Tensor a({1, 2, 3}), b({4, 5, 6});
  std::cout << a + b << "\n"; // [5, 7, 9]
  sprig::Tensor x = sprig::randn({2, 3});
  std::cout << sprig::softmax(x * 2, -1) << "\n";
}
