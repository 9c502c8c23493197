// LibTorch eager training as a C++ programmer writes it today (multilayer perceptrons). Protocol of serve.h, with
// "load TASK_FOLDER 0"; the check of "ready" is the loss of step 10.
#include "serve.h"
#include <torch/torch.h>

struct Trainer {
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  at::Tensor x, y, loss;

  explicit Trainer(const std::filesystem::path &dir) {
    std::ifstream list(dir / "shapes.txt");
    std::vector<at::Tensor> parameters;
    for (std::string line; std::getline(list, line);) {
      std::istringstream words(line);
      std::string file, type;
      words >> file >> type;
      std::vector<int64_t> shape;
      for (int64_t d; words >> d;) shape.push_back(d);
      auto t = torch::empty(shape, type == "i64" ? at::kLong : at::kFloat);
      std::ifstream(dir / file, std::ios::binary).read(static_cast<char *>(t.data_ptr()), t.nbytes());
      (file[0] == 'x' ? x : file[0] == 'y' ? y : parameters.emplace_back()) = t;
    }
    for (size_t i = 0; i < parameters.size(); i += 2) {
      torch::nn::Linear layer(parameters[i].size(1), parameters[i].size(0));
      torch::NoGradGuard noGrad;
      layer->weight.copy_(parameters[i]);
      layer->bias.copy_(parameters[i + 1]);
      net->push_back(layer);
      if (i + 2 < parameters.size()) net->push_back(torch::nn::ReLU());
    }
    if (dir.filename().string().find("sgd") != std::string::npos)
      optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(.05));
    else
      optimizer = std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(1e-3));
  }
  void step() {
    optimizer->zero_grad();
    loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer->step();
  }
};

int main(int argc, char **argv) {
  at::set_num_threads(std::atoi(argv[argc - 1]));
  std::unique_ptr<Trainer> trainer;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, dir;
    words >> command;
    try {
      if (command == "load") {
        words >> dir;
        std::string name = std::filesystem::path(dir).filename();
        if (name.rfind("mlp", 0) && name.rfind("tiny_", 0)) throw std::runtime_error("not written for this net");
        auto start = bench::Clock::now();
        trainer = std::make_unique<Trainer>(dir);
        trainer->step();
        double ns = bench::nsSince(start);
        for (int i = 0; i < 9; ++i) trainer->step();
        std::cout << "ready " << ns << ' ' << trainer->loss.item<float>() << std::endl;
      } else {
        if (!trainer) throw std::runtime_error("nothing loaded");
        double ms;
        words >> ms;
        std::cout << "ns " << bench::timeCalls([&] { trainer->step(); }, ms) << std::endl;
      }
    } catch (const std::exception &e) {
      std::string what = e.what();
      std::replace(what.begin(), what.end(), '\n', ' ');
      std::cout << "error " << what.substr(0, 300) << std::endl;
    }
  }
}
