// Texts, tables, files and models are the same under a locale with decimal commas and grouped digits.
#include "sprig/compile.h"
#include "sprig/nn.h"
#include "sprig/onnx.h"
#include "sprig/ops.h"
#include "sprig/profile.h"
#include "sprig/trainer.h"
#include "test/unit/Folder.h"
#include "test/unit/Frontend/Points.h"
#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <gtest/gtest.h>
#include <locale>
#include <sstream>

using namespace sprig;

namespace {

/// German, as programs set it: for C and for streams.
struct GermanLocale {
  Folder folder;
  std::locale before;
  GermanLocale() {
    std::string command = "localedef -i de_DE -f UTF-8 " + (folder.path / "de_DE.UTF-8").string();
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command + " failed: is Debian's locales there?");
    setenv("LOCPATH", folder.path.c_str(), 1);
    before = std::locale::global(std::locale("de_DE.UTF-8"));
  }
  ~GermanLocale() {
    std::locale::global(before);
    unsetenv("LOCPATH");
  }
};

struct Curve : nn::Module {
  nn::Linear linear = add("linear", nn::Linear(4, 3));
  Tensor operator()(const Tensor &x) const { return celu(linear(x), 0.75); }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.0125}); }
};

std::string errorOf(auto f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// Everything that holds numbers with a fraction, or many digits.
std::vector<std::string> texts() {
  std::vector<std::string> all;
  all.push_back(Tensor::from(std::vector<float>{0.5f, -1234567.5f, 1e-9f}, {3}).text());
  all.push_back(errorOf([] { hardTanh(ones({1}), 0.5, -1234.25); }));
  all.push_back(errorOf([] { arange(0.5, 12345.5, -0.25); }));
  manualSeed(5);
  Curve net;
  all.push_back(net.text());
  std::vector<uint8_t> onnx = exportOnnxBytes(net, {{DType::f32, {1, 4}}});
  all.emplace_back(onnx.begin(), onnx.end());
  Tensor x = full({1, 4}, 0.3f);
  all.push_back(net(x).text());
  // Constants and attributes are read from text again.
  Model model = Model::text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                            "  %c = nn.constant dense<[0.25, 1.5]> : tensor<2xf32>\n"
                            "  %0 = nn.mul %x, %c : tensor<2xf32>, tensor<2xf32>\n"
                            "  return %0 : tensor<2xf32>\n}\n");
  std::vector<uint8_t> package = compileToPackage(model);
  all.emplace_back(package.begin(), package.end());

  Folder folder;
  data::Loader train(pointsOf(1100, 4, 3, 0.3), data::LoaderOptions{.batch = 1, .workers = 0});
  TrainerOptions options;
  options.maxEpochs = 1;
  options.print = false;
  options.metrics = folder.path / "metrics.csv";
  options.plot = folder.path / "run.svg";
  FitResult result = Trainer(options).fit(net, train);
  std::istringstream drawn(textOf(options.plot));
  for (std::string line; std::getline(drawn, line);)
    if (line.find("s/epoch") == std::string::npos) all.push_back(line);
  std::istringstream rows(textOf(options.metrics));
  for (std::string row; std::getline(rows, row);) {
    size_t seconds = 0; // the fifth and the last column differ from run to run
    for (int comma = 0; comma < 4; ++comma) seconds = row.find(',', seconds) + 1;
    const size_t behind = row.find(',', seconds);
    all.push_back(row.substr(0, seconds) + row.substr(behind, row.rfind(',') - behind));
  }
  return all;
}

} // namespace

TEST(Locale, WithDecimalCommasChangesNoText) {
  std::vector<std::string> expected = texts(), got;
  EXPECT_NE(expected[1].find("bounded by 0.5 and -1234.25"), std::string::npos) << expected[1];
  {
    GermanLocale german;
    ASSERT_STREQ(std::localeconv()->decimal_point, ",");
    Profile profile;
    profile.start();
    got = texts();
    profile.stop();
    // After the line of titles: numbers in fixed columns.
    std::string table = profile.table();
    EXPECT_EQ(table.substr(table.find('\n') + 1, 46).find(','), std::string::npos) << table;
  }
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    auto [a, b] = std::mismatch(got[i].begin(), got[i].end(), expected[i].begin(), expected[i].end());
    EXPECT_TRUE(a == got[i].end() && b == expected[i].end())
        << "text " << i << " is '" << std::string(a, got[i].end()).substr(0, 40) << "' where it was '"
        << std::string(b, expected[i].end()).substr(0, 40) << "'";
  }
}
