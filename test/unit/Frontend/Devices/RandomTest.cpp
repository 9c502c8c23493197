// Programs that are drawn: values, copies and gradients over several devices have the bits of one.
#include "sprig/sprig.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace sprig;

namespace {

/// One program, by its seed: the same operations whatever the number of devices.
std::vector<Tensor> run(uint32_t seed, int devices) {
  std::mt19937 draw(seed);
  auto below = [&](size_t n) { return size_t(draw() % n); };
  auto device = [&](size_t number) { return Device(Device::Kind::cpu, uint16_t(number % size_t(devices))); };
  std::vector<Tensor> roots, values;
  for (int i = 0; i < 3; ++i) {
    std::vector<float> numbers(36);
    for (float &number : numbers) number = float(int(draw() % 2001) - 1000) / 1000;
    DeviceScope scope(device(below(4)));
    roots.push_back(Tensor::from(numbers, {6, 6}).requireGrad());
  }
  values = roots;
  for (int i = 0; i < 12; ++i) {
    Device here = device(below(4));
    Tensor a = values[below(values.size())].to(here, true), b = values[below(values.size())].to(here, true);
    switch (below(5)) {
    case 0: values.push_back(tanh(a + b)); break;
    case 1: values.push_back(a * b - b); break;
    case 2: values.push_back(tanh(matmul(a, b))); break;
    case 3: values.push_back(a * mean(b)); break;
    case 4: values.push_back(softmax(a, 1) + sum(b, 0)); break;
    }
  }
  Tensor loss = mean(values.back());
  for (size_t i = values.size() - 3; i < values.size() - 1; ++i) loss = loss + mean(values[i] * 0.5);
  values.push_back(loss);
  for (const Tensor &root : roots) try {
      Tensor g = grad(loss, root);
      EXPECT_EQ(g.device(), root.device());
      values.push_back(g);
    } catch (const Error &) { // the loss does not depend on it, on any number of devices
      values.push_back(Tensor(0));
    }
  return values;
}

} // namespace

TEST(DeviceRandom, ProgramsHaveTheBitsOfOneDevice) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::vector<Tensor> one = run(seed, 1), two = run(seed, 2), three = run(seed, 3);
    for (size_t i = 0; i < one.size(); ++i)
      for (const Tensor &other : {two[i], three[i]}) {
        ASSERT_EQ(describe(one[i].type()), describe(other.type()));
        ASSERT_EQ(std::memcmp(one[i].bytes(), other.bytes(), size_t(other.type().bytes())), 0)
            << "seed " << seed << ", value " << i << "\n"
            << one[i].text() << "\n"
            << other.text();
      }
  }
}
