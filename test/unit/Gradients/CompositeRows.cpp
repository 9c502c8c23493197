// Rows of activations, normalisations, losses, dropout and recurrent layers.
#include "test/unit/Gradients/Harness.h"

namespace sprig::gradients {

static void addLosses(std::vector<Row> &rows) {
  auto classes = [&](std::string operation, std::string options, bool weights) {
    for (const char *reduction : {"none", "mean", "sum"})
      for (const char *shape : {"4x", "2x2x"}) {
        bool flat = shape[0] == '4';
        std::string t = flat ? "tensor<4xi64>" : "tensor<2x2xi64>", x = shape + std::string("3xf64");
        Row row{operation + " " + reduction + options + " of " + x, {x}, "", {}};
        std::string values = flat ? "[1, 0, -7, 2]" : "[[1, 0], [-7, 2]]";
        if (options.find("ignore") == std::string::npos) values.replace(values.find("-7"), 2, "2");
        row.body = "%t = nn.constant dense<" + values + "> : " + t + "\n%r = " + operation + " " + reduction +
                   " %a0, %t" + (weights ? " weights %a1" : "") + options + " : tensor<" + x + ">, " + t +
                   (weights ? ", tensor<3xf64>" : "");
        row.patterns = {{}, {Fill::Positive}};
        if (weights) row.arguments.push_back("3xf64");
        rows.push_back(row);
      }
  };
  for (bool weights : {false, true}) {
    for (const char *operation : {"nn.cross_entropy", "nn.nll_loss"})
      for (const char *options : {"", " {ignore_index = -7 : i64}"}) classes(operation, options, weights);
    classes("nn.cross_entropy", " {label_smoothing = 0.2 : f64}", weights);
    classes("nn.cross_entropy", " {ignore_index = -7 : i64, label_smoothing = 0.2 : f64}", weights);
  }
  for (const char *reduction : {"none", "mean", "sum"}) {
    auto loss = [&](std::string name, std::string options, Pattern operand, Pattern target) {
      rows.push_back(row(name + " " + reduction + " %a0, %a1" + options, {"3x2xf64", "3x2xf64"}, {operand, target}));
    };
    loss("nn.mse_loss", "", {}, {});
    loss("nn.l1_loss", "", {}, {});
    loss("nn.huber_loss", "", {}, {});
    loss("nn.huber_loss", " {delta = 0.5 : f64}", {}, {});
    loss("nn.bce_with_logits_loss", "", {}, {Fill::Unit});
    loss("nn.bce_with_logits_loss", " {positive_weight = 2.5 : f64}", {}, {Fill::Unit});
    loss("nn.kl_div_loss", "", {}, {Fill::Positive});
    loss("nn.kl_div_loss", " {log_target}", {}, {});
    rows.push_back({std::string("nn.bce_loss ") + reduction,
                    {"3x2xf64", "3x2xf64"},
                    "%p = nn.sigmoid %a0 : tensor<3x2xf64>\n%r = nn.bce_loss " + std::string(reduction) +
                        " %p, %a1 : tensor<3x2xf64>, tensor<3x2xf64>",
                    {}});
  }
}

static void addMeans(std::vector<Row> &rows) {
  for (const char *dims : {"0", "1", "2"}) {
    std::string options = std::string(" {dims = ") + dims + " : i64}";
    rows.push_back(row("nn.loss_mean %a0" + options, {"3x2xf64"}, {{}}));
    rows.push_back(row("nn.loss_mean_grad %a0 like %a1" + options, {"f64", "3x2xf64"}, {{}, {}}));
  }
  rows.push_back({"nn.loss_scale",
                  {"f64"},
                  "%c = nn.constant dense<0.3> : tensor<f64>\n%r = nn.loss_scale %a0, %c {factor = 0.3 : f64} : "
                  "tensor<f64>",
                  {}});
}

static void addRecurrent(std::vector<Row> &rows) {
  struct Kind {
    std::string name;
    int gates;
  };
  for (const Kind &kind : {Kind{"nn.rnn", 1}, {"nn.gru", 3}, {"nn.lstm", 4}})
    for (const char *options :
         {"", "reverse", "bias", "bias lengths", "bias linear_before_reset", "bias peephole reverse",
          "bias input_forget", "bias blocks", "bias blocks linear_before_reset"}) {
      std::string o = options;
      auto has = [&](const char *word) { return o.find(word) != std::string::npos; };
      bool lstm = kind.gates == 4;
      if ((has("linear") && kind.gates != 3) || (has("blocks") && kind.gates == 1) ||
          ((has("peephole") || has("input_forget")) && !lstm))
        continue;
      std::string g = std::to_string(2 * kind.gates), twice = std::to_string(4 * kind.gates);
      Row row{kind.name + " " + o, {"3x2x2xf64", g + "x2xf64", g + "x2xf64", "2x2xf64"}, "", {}};
      std::string operands = "%a0, %a1, %a2 from %a3", attributes;
      auto add = [&](std::string word, std::string type) {
        operands += word + "%a" + std::to_string(row.arguments.size());
        row.arguments.push_back(type);
      };
      if (lstm) add(", ", "2x2xf64");
      if (has("bias")) add(" bias ", twice + "xf64");
      if (has("peephole")) add(" peephole ", "6xf64");
      std::string lengths;
      if (has("lengths")) lengths = "%n = nn.constant dense<[3, 1]> : tensor<2xi32>\n", operands += " lengths %n";
      for (const char *word : {"reverse", "linear_before_reset", "input_forget"})
        if (has(word)) attributes += (attributes.empty() ? "" : ", ") + std::string(word);
      if (has("blocks"))
        attributes += (attributes.empty() ? "" : ", ") + std::string("gate_blocks = array<i64: ") +
                      (lstm ? "0, 3, 1, 2>" : "1, 0, 2>");
      std::string types;
      for (const std::string &type : row.arguments) types += (types.empty() ? "tensor<" : ", tensor<") + type + ">";
      if (has("lengths")) types += ", tensor<2xi32>";
      row.body = lengths + "%r:" + (lstm ? "3" : "2") + " = " + kind.name + " " + operands +
                 (attributes.empty() ? "" : " {" + attributes + "}") + " : " + types;
      row.patterns.assign(row.arguments.size(), {Fill::Unit});
      rows.push_back(row);
    }
}

std::vector<Row> compositeRows() {
  std::vector<Row> rows;
  for (const char *operation :
       {"nn.silu %a0", "nn.mish %a0", "nn.softplus %a0", "nn.softsign %a0", "nn.hard_swish %a0", "nn.gelu %a0",
        "nn.gelu %a0 {tanh_approximation}", "nn.elu %a0 {alpha = 1.5 : f64}", "nn.celu %a0 {alpha = 0.5 : f64}",
        "nn.selu %a0 {alpha = 1.67326 : f64, gamma = 1.0507 : f64}", "nn.leaky_relu %a0 {alpha = 0.125 : f64}",
        "nn.hard_sigmoid %a0 {alpha = 0.25 : f64, beta = 0.5 : f64}"})
    rows.push_back(row(operation, {"3x4xf64"}));
  for (const char *name : {"nn.softmax", "nn.log_softmax"})
    for (const char *axis : {"0", "1", "2"})
      rows.push_back(row(std::string(name) + " %a0 axis = " + axis, {"2x3x4xf64"}));
  auto norm = [&](std::string operation, std::vector<std::string> arguments, std::vector<Pattern> patterns = {}) {
    rows.push_back(row(operation, std::move(arguments), std::move(patterns)));
  };
  norm("nn.layer_norm %a0, %a1, %a2 axis = 1 {epsilon = 0.001 : f64}", {"2x5xf64", "5xf64", "5xf64"});
  norm("nn.layer_norm %a0, %a1 axis = 1 {epsilon = 0.001 : f64}", {"2x3x4xf64", "3x4xf64"});
  norm("nn.layer_norm %a0, %a1, %a2 axis = 2 {epsilon = 0.001 : f64}", {"2x3x4xf64", "4xf64", "f64"});
  norm("nn.rms_norm %a0, %a1 axis = 1 {epsilon = 0.001 : f64}", {"2x5xf64", "5xf64"});
  norm("nn.group_norm %a0, %a1, %a2 {groups = 2 : i64, epsilon = 0.001 : f64}", {"2x4x3xf64", "4xf64", "4xf64"});
  norm("nn.batch_norm %a0, %a1, %a2, %a3, %a4 {epsilon = 0.001 : f64}",
       {"2x3x2xf64", "3xf64", "3xf64", "3xf64", "3xf64"}, {{}, {}, {}, {}, {Fill::Positive}});
  Row batch = row("nn.batch_norm_train %a0, %a1, %a2 {epsilon = 0.001 : f64}", {"3x2x2xf64", "2xf64", "2xf64"});
  batch.body.replace(0, 2, "%r:3");
  rows.push_back(batch);
  Row flat = row("nn.batch_norm_train %a0, %a1, %a2 {epsilon = 0.001 : f64}", {"4x2xf64", "2xf64", "2xf64"});
  flat.body.replace(0, 2, "%r:3");
  rows.push_back(flat);
  Row unbiased =
      row("nn.batch_norm_train %a0, %a1, %a2 {epsilon = 0.001 : f64, unbiased}", {"3x2xf64", "2xf64", "2xf64"});
  unbiased.body.replace(0, 2, "%r:3");
  rows.push_back(unbiased);
  Row gradient =
      row("nn.batch_norm_train_grad %a0, %a1, %a2 {epsilon = 0.1 : f64}", {"3x2x2xf64", "2xf64", "3x2x2xf64"});
  gradient.body.replace(0, 2, "%r:3");
  rows.push_back(gradient);
  rows.push_back({"dropout",
                  {"4x5xf64"},
                  R"(%k = nn.constant dense<12345678901> : tensor<i64>
                     %c = nn.constant dense<[7]> : tensor<1xi64>
                     %r = nn.dropout %a0, %k, %c {ratio = 0.4 : f64, stream = 2 : i64} : tensor<4x5xf64>, tensor<i64>, tensor<1xi64>)"});
  addLosses(rows);
  addMeans(rows);
  addRecurrent(rows);
  return rows;
}

} // namespace sprig::gradients
