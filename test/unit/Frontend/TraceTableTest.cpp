// The table of docs/tracing.md: what a function reads besides its tensors, and what becomes of each.
// Every row runs the same body imperatively and compiled, with a change in between; both must agree, or the compiled
// one must refuse with the line and with what has changed.
#include "sprig/functional.h"
#include "sprig/package.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Expect.h"
#include <random>

using namespace sprig;

namespace {

/// What becomes of a row's change.
enum class Outcome {
  key,      ///< recorded anew
  input,    ///< seen without a recording
  constant, ///< refused
};

/// A compiled function with what it captures.
struct Subject {
  std::function<Tensor()> call;
  std::function<void()> change;
  std::function<size_t()> recordings;
};

struct Row {
  const char *name;
  Outcome outcome;
  std::function<Subject(bool compiled)> make;
  const char *text; ///< in the reason, or in the refusal
};

std::string lastReason;

template <typename F>
Subject subject(bool isCompiled, F body, std::function<void()> change,
                std::function<Tensor(const Function<F> &)> call) {
  auto f = compile(std::move(body), {.name = "body", .report = [](const std::string &line) { lastReason = line; }});
  f.enable(isCompiled);
  return {[f, call] { return call(f); }, std::move(change), [f] { return f.recordings().size(); }};
}
template <typename F> Subject subject(bool isCompiled, F body, std::function<void()> change) {
  return subject<F>(isCompiled, std::move(body), std::move(change),
                    [](const Function<F> &f) { return f(Tensor({1.f, 2.f, 3.f})); });
}

/// State that body and change share.
template <typename T> std::shared_ptr<T> shared(T value) { return std::make_shared<T>(std::move(value)); }
Tensor threeOnes() { return Tensor({1.f, 1.f, 1.f}); }
optim::Optimizer someOptimizer() { return optim::sgd(std::vector{Parameter(threeOnes())}); }

/// A step on two weights; the result tells what it did to them.
struct Step {
  Parameter a{Tensor({0.5f, 1.f, 2.f})}, b{Tensor({3.f, 2.f, 1.f})};
  optim::Optimizer optimizer = optim::sgd({a, b}, {.lr = 0.1, .momentum = 0.9});
  Step() {
    a.setName("a");
    b.setName("b");
  }
  Tensor operator()(Tensor x) const {
    Tensor loss = sum(tanh(x * a) * b);
    optimizer.update(grad(loss, optimizer.parameters()));
    return cat({a.value(), b.value()});
  }
};
Row stepRow(const char *name, Outcome outcome, std::function<void(Step &)> change, const char *text = "") {
  return {name, outcome,
          [change](bool isCompiled) {
            auto step = shared(Step());
            return subject(isCompiled, *step, [=] { change(*step); });
          },
          text};
}

/// A body that multiplies by what `read` gives of a captured state, and a change of that state.
template <typename S>
Row captured(const char *name, Outcome outcome, std::function<S()> make, std::function<Tensor(Tensor, S &)> body,
             std::function<void(S &)> change, const char *text = "") {
  return {name, outcome,
          [=](bool isCompiled) {
            auto own = shared(make());
            return subject(isCompiled, [=](Tensor x) { return body(x, *own); }, [=] { change(*own); });
          },
          text};
}

/// One argument that is no tensor, before and after the change.
template <typename T>
Row argument(const char *name, T before, T behind, std::function<Tensor(Tensor, T)> body, const char *text) {
  return {name, Outcome::key,
          [=](bool isCompiled) {
            auto given = shared(before);
            auto f = [body](Tensor x, T value) { return body(x, value); };
            return subject<decltype(f)>(
                isCompiled, f, [=] { *given = behind; },
                [=](const auto &f) { return f(Tensor({1.f, 2.f, 3.f}), *given); });
          },
          text};
}

struct Noisy : nn::Module {
  nn::Linear linear = add("linear", nn::Linear(3, 3));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.5));
  Tensor operator()(Tensor x) const { return dropout(linear(x)); }
};

struct Rate {
  optim::Optimizer optimizer = someOptimizer();
  double rate = 0.5;
};

enum class Mode { plain, doubled };

std::vector<Row> rows() {
  using Numbers = std::vector<double>;
  return {
      // Keys: settings of the host.
      {"a module's mode", Outcome::key,
       [](bool isCompiled) {
         auto net = shared(Noisy());
         return subject(isCompiled, *net, [=] { net->eval(); });
       },
       "layer 'dropout' is in evaluation mode, recorded was in training mode"},
      stepRow(
          "freezing a parameter", Outcome::key, [](Step &s) { s.b.setTrainable(false); },
          "parameter 'b' is frozen, recorded was trainable"),
      captured<Parameter>(
          "a parameter's flag, read", Outcome::key, [] { return Parameter(threeOnes(), false); },
          [](Tensor x, Parameter &p) { return p.trainable() ? x * 2 : x; }, [](Parameter &p) { p.setTrainable(true); },
          "is trainable, recorded was frozen"),
      stepRow(
          "an optimizer's schedule", Outcome::key,
          [](Step &s) { s.optimizer.setSchedule(optim::schedule::exponential(0.5)); },
          "recorded was set to schedule none"),
      stepRow(
          "clipping by norm", Outcome::key, [](Step &s) { s.optimizer.setClipNorm(0.01); },
          "clipNorm 0.01, clipValue 0.0, recorded was set to schedule none, clipNorm 0.0"),
      stepRow(
          "clipping by value", Outcome::key, [](Step &s) { s.optimizer.setClipValue(0.01); }, "clipValue 0.01"),
      captured<int>(
          "the default element type, read", Outcome::key, [] { return 0; },
          [](Tensor x, int &) { return nn::defaultDType() == DType::f64 ? x * 2 : x; },
          [](int &) { nn::setDefaultDType(DType::f64); }, "defaultDType() is f64, recorded was f32"),
      // Keys: arguments.
      argument<double>(
          "a number", 0.5, -0.0, [](Tensor x, double s) { return x * s; },
          "the number in argument 1 is -0.0, recorded was 0.5"),
      argument<bool>(
          "a boolean", false, true, [](Tensor x, bool on) { return on ? x * 2 : x; },
          "argument 1 is true, recorded was false"),
      argument<Mode>(
          "an enumeration", Mode::plain, Mode::doubled, [](Tensor x, Mode m) { return m == Mode::doubled ? x * 2 : x; },
          "argument 1 is 1, recorded was 0"),
      argument<std::string>(
          "a text", "relu", "tanh", [](Tensor x, std::string s) { return s == "relu" ? relu(x) : tanh(x); },
          "the text in argument 1 is 'tanh', recorded was 'relu'"),
      argument<Shape>(
          "a shape", {3, 1}, {1, 3}, [](Tensor x, Shape s) { return x.reshape(s); },
          "the number in argument 1 is 1, recorded was 3"),
      argument<Numbers>(
          "a length", {1, 2}, {1, 2, 3}, [](Tensor x, Numbers n) { return x * double(n.size()); },
          "a length in argument 1 is 3, recorded was 2"),
      argument<std::optional<Tensor>>(
          "an optional tensor", std::nullopt, threeOnes(),
          [](Tensor x, std::optional<Tensor> b) { return b ? x + *b : x; },
          "what is optional in argument 1 is there, recorded was left out"),
      argument<Tensor>(
          "a tensor that holds nothing", Tensor(), threeOnes(),
          [](Tensor x, Tensor b) { return b.defined() ? x + b : x; }, "argument 1 is there, recorded was left out"),
      argument<Tensor>(
          "a tensor's type", threeOnes(), Tensor({1, 1, 1}), [](Tensor x, Tensor b) { return x + b; },
          "argument 1 is 3xi32, recorded was 3xf32"),
      // Inputs.
      argument<Tensor>(
          "a tensor's value", threeOnes(), Tensor({3.f, 3.f, 3.f}), [](Tensor x, Tensor b) { return x + b; }, nullptr),
      stepRow("a parameter's value", Outcome::input, [](Step &s) { s.a.set(Tensor({3.f, 2.f, 1.f})); }),
      stepRow("the learning rate", Outcome::input, [](Step &s) { s.optimizer.setLr(0.5); }),
      stepRow("an optimizer's state", Outcome::input,
              [](Step &s) {
                nn::StateDict state = s.optimizer.stateDict();
                for (nn::NamedTensor &row : state)
                  if (isFloat(row.value.dtype())) row.value = row.value * 2;
                s.optimizer.loadStateDict(state);
              }),
      {"the seed", Outcome::input,
       [](bool isCompiled) {
         return subject(isCompiled, [](Tensor x) { return x * rand({3}); }, [] { manualSeed(99); });
       },
       ""},
      {"the place in the random sequence", Outcome::input,
       [](bool isCompiled) { return subject(isCompiled, [](Tensor x) { return x * rand({3}); }, [] { rand({3}); }); },
       ""},
      {"new initial values", Outcome::input,
       [](bool isCompiled) {
         auto net = shared(nn::Linear(3, 2));
         return subject(isCompiled, *net, [=] { net->resetParameters(); });
       },
       ""},
      captured<Parameter>(
          "freezing where no gradient is taken", Outcome::input, [] { return Parameter(threeOnes()); },
          [](Tensor x, Parameter &p) { return x * p; }, [](Parameter &p) { p.setTrainable(false); }),
      // Constants.
      captured<double>(
          "a captured number", Outcome::constant, [] { return 0.5; }, [](Tensor x, double &s) { return x * s; },
          [](double &s) { s = 0.25; }, "mul: uses the number 0.25, recorded was 0.5"),
      captured<double>(
          "a captured number within a region", Outcome::constant, [] { return 0.5; },
          [](Tensor x, double &s) { return checkpoint([&](Tensor y) { return tanh(y) * s; })(x); },
          [](double &s) { s = 0.25; }, "mul: uses the number 0.25, recorded was 0.5"),
      captured<Rate>(
          "a captured rate", Outcome::constant, [] { return Rate(); },
          [](Tensor x, Rate &r) { return r.optimizer.setLr(r.rate), x * 2; }, [](Rate &r) { r.rate = 0.25; },
          "the next value of parameter 'optimizer/lr' uses a tensor f64 of outside, whose element 0 is 0.25"),
      captured<int64_t>(
          "a captured length", Outcome::constant, [] { return 3; },
          [](Tensor x, int64_t &n) { return sum(x.slice(0, 0, n)); }, [](int64_t &n) { n = 2; }, "slice: "),
      captured<Shape>(
          "a captured shape", Outcome::constant, [] { return Shape{3, 1}; },
          [](Tensor x, Shape &s) { return x.reshape(s); }, [](Shape &s) { s = {1, 3}; },
          "reshape: gives 1x3xf32, recorded was 3x1xf32"),
      captured<int>(
          "a captured number of rounds", Outcome::constant, [] { return 2; },
          [](Tensor x, int &n) {
            for (int i = 0; i < n; ++i) x = tanh(x);
            return x;
          },
          [](int &n) { n = 3; }, "tanh: is recorded in addition: 3 operations, recorded were 2"),
      captured<bool>(
          "a branch", Outcome::constant, [] { return false; },
          [](Tensor x, bool &on) { return on ? relu(x) : tanh(x); }, [](bool &on) { on = true; },
          "relu: is recorded, where it was tanh"),
      captured<Tensor>(
          "a captured tensor", Outcome::constant, [] { return threeOnes(); }, [](Tensor x, Tensor &t) { return x * t; },
          [](Tensor &t) { t = Tensor({1.f, 5.f, 1.f}); },
          "mul: uses a tensor 3xf32 of outside, whose element 1 is 5, recorded was 1"),
      captured<Numbers>(
          "numbers that become a tensor", Outcome::constant, [] { return Numbers{1, 2, 3}; },
          [](Tensor x, Numbers &n) { return x * Tensor::from(n).to(DType::f32); }, [](Numbers &n) { n[2] = 7; },
          "whose element 2 is 7, recorded was 3"),
      captured<Parameter>(
          "a captured handle of a parameter", Outcome::constant, [] { return Parameter(threeOnes()); },
          [](Tensor x, Parameter &p) { return x * p; }, [](Parameter &p) { p = Parameter(Tensor({2.f, 2.f, 2.f})); },
          "uses another parameter"),
      captured<nn::Linear>(
          "a captured handle of a layer", Outcome::constant, [] { return nn::Linear(3, 2); },
          [](Tensor x, nn::Linear &l) { return l(x); }, [](nn::Linear &l) { l = nn::Linear(3, 2); },
          "uses another parameter"),
      captured<std::mt19937>(
          "numbers that the host draws", Outcome::constant, [] { return std::mt19937(1); },
          [](Tensor x, std::mt19937 &random) { return x * double(random() % 1000); }, [](std::mt19937 &) {},
          "uses the number"),
  };
}

class TraceTable : public testing::TestWithParam<Row> {
protected:
  void SetUp() override {
    manualSeed(3);
    lastReason.clear();
  }
  void TearDown() override {
    nn::setDefaultDType(DType::f32);
    checkTraces(false);
  }

  /// Two calls, the change, two calls.
  static std::vector<float> numbersOf(const Subject &subject) {
    std::vector<float> numbers;
    for (int i = 0; i < 4; ++i) {
      if (i == 2) subject.change();
      std::vector<float> result = subject.call().to(DType::f32).toVector<float>();
      numbers.insert(numbers.end(), result.begin(), result.end());
    }
    return numbers;
  }
};

/// At the second call.
void expectRefusal(const Row &row) {
  Subject compiled = row.make(true);
  compiled.call().wait();
  compiled.change();
  std::string text = errorOf([&] { compiled.call(); });
  EXPECT_NE(text.find(row.text), std::string::npos) << text;
  EXPECT_NE(text.find("TraceTableTest.cpp:"), std::string::npos) << text;
}

/// What the second call cannot see: checkTraces looks at every one.
void expectRefusalLater(const Row &row) {
  Subject compiled = row.make(true);
  compiled.call();
  compiled.call();
  checkTraces(true);
  EXPECT_EQ(errorOf([&] { compiled.call(); }), "no error");
  compiled.change();
  std::string text = errorOf([&] { compiled.call(); });
  EXPECT_NE(text.find(row.text), std::string::npos) << text;
  checkTraces(false);
  EXPECT_EQ(errorOf([&] { compiled.call(); }), "no error");
}

TEST_P(TraceTable, Agrees) {
  const Row &row = GetParam();
  bool isInput = row.outcome == Outcome::input || !row.text;
  manualSeed(3);
  Subject plain = row.make(false), compiled;
  if (row.outcome == Outcome::constant) {
    expectRefusal(row);
    if (std::string(row.name) != "numbers that the host draws") expectRefusalLater(row);
    return;
  }
  std::vector<float> expected = numbersOf(plain);
  nn::setDefaultDType(DType::f32);
  manualSeed(3);
  compiled = row.make(true);
  EXPECT_EQ(numbersOf(compiled), expected);
  EXPECT_EQ(compiled.recordings(), isInput ? 1u : 2u) << lastReason;
  if (!isInput) {
    EXPECT_NE(lastReason.find(row.text), std::string::npos) << lastReason;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, TraceTable, testing::ValuesIn(rows()), [](const auto &info) {
  std::string name;
  for (const char *c = info.param.name; *c; ++c)
    if (std::isalnum(*c)) name += *c;
  return name;
});

using Body = std::function<Tensor(Tensor)>;
struct Refusal {
  const char *name;
  std::function<Body()> make; ///< what the body captures is made outside of it
  const char *text;
};
Refusal refusal(const char *name, Body body, const char *text) {
  return {name, [body] { return body; }, text};
}
class TraceRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(TraceRefusals, AreOneError) {
  const Refusal &row = GetParam();
  Body body = row.make();
  std::string text = errorOf([&] { compile(body)(threeOnes()); });
  EXPECT_NE(text.find(row.text), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, TraceRefusals,
    testing::Values(
        refusal(
            "item", [](Tensor x) { return x * sum(x).item<float>(); }, "reads a value"),
        refusal(
            "manualSeed", [](Tensor x) { return manualSeed(1), x; }, "manualSeed: is called while a function"),
        refusal(
            "randomState", [](Tensor x) { return x * double(randomState().draws); }, "randomState: is called while"),
        refusal(
            "setRandomState", [](Tensor x) { return setRandomState({}), x; }, "setRandomState: is called while"),
        refusal(
            "newParameter", [](Tensor x) { return x * Parameter(threeOnes()); }, "Parameter: is called while"),
        refusal(
            "newLayer", [](Tensor x) { return nn::Linear(3, 2)(x); }, "while a function is being recorded"),
        Refusal{"resetParameters",
                [] { return [net = nn::Linear(3, 2)](Tensor x) { return net.resetParameters(), net(x); }; },
                "drawing initial values"},
        Refusal{"schedule",
                [] {
                  return [o = someOptimizer()](Tensor x) mutable { return o.setSchedule(optim::schedule::step(1)), x; };
                },
                "Optimizer::setSchedule: is called while"},
        Refusal{"clipping", [] { return [o = someOptimizer()](Tensor x) mutable { return o.setClipNorm(1), x; }; },
                "Optimizer::setClipNorm: is called while"},
        refusal(
            "defaultDType", [](Tensor x) { return nn::setDefaultDType(DType::f32), x; }, "setDefaultDType: is"),
        refusal(
            "synchronize", [](Tensor x) { return synchronize(), x; }, "synchronize: is called while"),
        refusal(
            "event", [](Tensor x) { return Event().record(), x; }, "Event::record: is called while")),
    [](const auto &info) { return info.param.name; });

} // namespace
