// Which calls wait for work in flight and which do not (the table of docs/async.md), with a long product in flight.
#include "sprig/grad.h"
#include "sprig/timer.h"
#include "tools/sprig/bench/Imperative.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace sprig::cli {
namespace {

/// Products of 0.5 times the unit matrix: about a tenth of a second, and every bit of the result is known.
class SlowProduct {
public:
  SlowProduct() {
    constexpr double kSeconds = 0.1;
    factor = mul(eye(kSize), 0.5f);
    start = ones({kSize, kSize});
    synchronize();
    matmul(start, factor).wait();
    double one = 1e300;
    for (int i = 0; i < 10; ++i) {
      auto from = Clock::now();
      matmul(start, factor).wait();
      one = std::min(one, secondsSince(from));
    }
    length = std::clamp(int(std::ceil(kSeconds / one)), 1, maxInFlight() / 2);
    least = 1e300;
    for (int i = 0; i < 3; ++i) {
      auto from = Clock::now();
      issue().wait();
      least = std::min(least, secondsSince(from));
    }
  }
  Tensor issue() const {
    Tensor x = start;
    for (int i = 0; i < length; ++i) x = matmul(x, factor);
    return x;
  }
  double expected() const { return std::ldexp(1.0, -length); }
  double seconds() const { return least; }

private:
  static constexpr int64_t kSize = 1024;
  Tensor factor, start;
  int length = 1;
  double least = 0;
};

struct Call {
  const char *name;
  bool blocks;
  std::function<bool(const Tensor &slow)> run; ///< whether it gave what it must
};

} // namespace

void benchBlocking(const ExperimentOptions &, ExperimentReport &report) {
  SlowProduct product;
  double expected = product.expected();
  Tensor early = full({2, 2}, 3.0)[1][1], other = full({1024, 1024}, 2.0);
  Parameter weight(full({1024}, 1.0));
  auto compiled = sprig::compile([](const Tensor &x) { return x + 1; }, {.name = "add one"});
  compiled(other).wait();
  grad(sum(other * weight), weight.value()).wait(); // derived once for each structure
  std::vector<float> host(1024, 1.0f);
  Event event;
  auto is = [=](double value) { return value == expected; };
  const std::vector<Call> calls = {
      {"item()", true, [&](const Tensor &x) { return is(x[3][5].item<float>()); }},
      {"toVector()", true, [&](const Tensor &x) { return is(x.toVector<float>().back()); }},
      {"data()", true, [&](const Tensor &x) { return is(x.data<float>()[7]); }},
      {"bytes()", true, [&](const Tensor &x) { return is(static_cast<const float *>(x.bytes())[9]); }},
      {"text()", true, [&](const Tensor &x) { return !x.text().empty() && is(x[0][0].item<float>()); }},
      {"out << x", true,
       [&](const Tensor &x) {
         std::ostringstream out;
         out << x;
         return out.str() == x.text();
       }},
      {"wait()", true, [&](const Tensor &x) { return (x.wait(), x.ready()); }},
      {"synchronize()", true, [&](const Tensor &x) { return (synchronize(), x.ready()); }},
      {"Timer", true, [&](const Tensor &x) { return (Timer(), x.ready()); }},
      {"Event::synchronize()", true,
       [&](const Tensor &x) {
         event.record();
         event.synchronize();
         return x.ready();
       }},
      {"matmul(x, y)", false, [&](const Tensor &x) { return matmul(x, other).shape() == x.shape(); }},
      {"x + 1", false, [&](const Tensor &x) { return (x + 1).dtype() == DType::f32; }},
      {"x.reshape(...), x[2]", false, [&](const Tensor &x) { return x.reshape({-1})[2].rank() == 0; }},
      {"a compiled function", false, [&](const Tensor &x) { return compiled(x).size(0) == 1024; }},
      {"grad(...)", false, [&](const Tensor &x) { return grad(sum(x * weight), weight.value()).numel() == 1024; }},
      {"Parameter::set()", false, [&](const Tensor &x) { return (weight.set(sum(x, 0)), weight.numel() == 1024); }},
      {"shape(), size(), rank()", false, [&](const Tensor &x) { return x.shape()[1] == x.size(0) && x.rank() == 2; }},
      {"numel(), dtype()", false, [&](const Tensor &x) { return x.numel() == 1 << 20 && x.dtype() == DType::f32; }},
      {"ready()", false, [&](const Tensor &x) { return !x.ready(); }},
      {"Tensor::from(...)", false, [&](const Tensor &) { return Tensor::from(host, {1024}).numel() == 1024; }},
      {"Event::record(), reached()", false, [&](const Tensor &) { return (event.record(), !event.reached()); }},
      {"item() of an earlier value", false, [&](const Tensor &) { return early.item<float>() == 3; }},
  };
  report.table("calls", {"call", "waits", "ms", "right"});
  bool wait = true, rightAway = true, right[2] = {true, true};
  early.wait();
  for (const Call &call : calls) {
    double took = 0;
    bool good = false, waited = false;
    // A machine that is busy elsewhere may stop us for milliseconds, so that each call gets three tries.
    for (int attempt = 0; attempt < 3; ++attempt) {
      synchronize();
      Tensor slow = product.issue();
      bool wasInFlight = !slow.ready();
      auto start = Clock::now();
      good = call.run(slow);
      took = secondsSince(start);
      waited = wasInFlight && slow.ready();
      if (good && waited == call.blocks && (call.blocks || took < 1e-3)) break;
    }
    synchronize();
    report.row({call.name, call.blocks ? "yes" : "no", took * 1e3, good ? "yes" : "NO"});
    right[call.blocks] &= good;
    if (call.blocks)
      wait &= waited;
    else
      rightAway &= !waited && took < 1e-3;
  }
  report.verdict("what reads waits for the product in flight",
                 "one of about " + formatNanoseconds(product.seconds() * 1e9), wait);
  report.verdict("and gives what it must", right[1] ? "all of it" : "see the table", right[1]);
  report.timed("everything else returns within a millisecond, before the product is there", "see the table", rightAway);
  report.timed("and gives what it must while that is in flight", right[0] ? "all of it" : "see the table", right[0]);
}

} // namespace sprig::cli
