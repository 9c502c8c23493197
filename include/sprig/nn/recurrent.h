// Recurrent layers, PyTorch's: several layers, both directions, dropout between layers. For programs.
// Parameters are named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, with _reverse for the other direction, in
// PyTorch's gate order (LSTM: i, f, g, o; GRU: r, z, n), and start uniform within ± 1 / sqrt(hidden).
#pragma once
#include "sprig/functional.h"
#include "sprig/nn/module.h"

namespace sprig::nn {

struct RecurrentOptions {
  int64_t layers = 1;
  bool bias = true;
  bool batchFirst = false; ///< input and output [batch, steps, ...] instead of [steps, batch, ...]
  double dropout = 0;      ///< on the outputs of all layers but the last, in training
  bool bidirectional = false;
};

/// h of every step [steps, batch, directions hidden]; the last h, and of an LSTM c, [layers directions, batch, hidden].
struct RecurrentOutput {
  Tensor output, h, c;
};

/// Base of RNN, GRU and LSTM. Input [steps, batch, features], or [steps, features] without a batch. States are zeros
/// unless given. `lengths` [batch]: sequences end there, as PyTorch's packed ones (sprig/functional.h).
class SPRIG_API Recurrent : public Module {
public:
  std::string extra() const override;

  struct Weights {
    Parameter inputs, states, inputBias, stateBias;
  };
  std::vector<Weights> weights; ///< of layer 0, its reverse direction, layer 1, ...

protected:
  enum class Kind : uint8_t { rnn, gru, lstm };
  Recurrent() = default;
  Recurrent(Kind kind, int64_t features, int64_t hidden, const RecurrentOptions &options, Source at);
  RecurrentOutput run(const Operand &x, const Operand &h, const Operand &c, const Operand &lengths) const;

  RnnActivation activation = RnnActivation::tanh;

private:
  Kind kind = Kind::rnn;
  int64_t features = 0, hidden = 0;
  RecurrentOptions options;
};

class SPRIG_API RNN : public Recurrent {
public:
  RNN() = default;
  RNN(int64_t features, int64_t hidden, const RecurrentOptions &options = {},
      RnnActivation activation = RnnActivation::tanh, Source at = Source::here());
  RecurrentOutput operator()(const Operand &x, const Operand &h = {}, const Operand &lengths = {}) const {
    return run(x, h, {}, lengths);
  }
};
class SPRIG_API GRU : public Recurrent {
public:
  GRU() = default;
  GRU(int64_t features, int64_t hidden, const RecurrentOptions &options = {}, Source at = Source::here())
      : Recurrent(Kind::gru, features, hidden, options, at) {}
  RecurrentOutput operator()(const Operand &x, const Operand &h = {}, const Operand &lengths = {}) const {
    return run(x, h, {}, lengths);
  }
};
class SPRIG_API LSTM : public Recurrent {
public:
  LSTM() = default;
  LSTM(int64_t features, int64_t hidden, const RecurrentOptions &options = {}, Source at = Source::here())
      : Recurrent(Kind::lstm, features, hidden, options, at) {}
  RecurrentOutput operator()(const Operand &x, const Operand &h = {}, const Operand &c = {},
                             const Operand &lengths = {}) const {
    return run(x, h, c, lengths);
  }
};

struct CellOptions {
  bool bias = true;
};
/// One step of a recurrence. Base of RNNCell, GRUCell and LSTMCell; input [batch, features].
class SPRIG_API RecurrentCell : public Module {
public:
  std::string extra() const override;
  Parameter weightIh, weightHh, biasIh, biasHh; ///< weight_ih, weight_hh, bias_ih, bias_hh

protected:
  RecurrentCell() = default;
  RecurrentCell(int64_t gates, int64_t features, int64_t hidden, const CellOptions &options, Source at);
  Tensor zerosFor(const Operand &x) const;
  /// The state that is given, or zeros.
  Operand stateOr(const Operand &state, const Operand &x, const char *what) const;
  int64_t features = 0, hidden = 0;
};
class SPRIG_API RNNCell : public RecurrentCell {
public:
  RNNCell() = default;
  RNNCell(int64_t features, int64_t hidden, const CellOptions &options = {},
          RnnActivation activation = RnnActivation::tanh, Source at = Source::here())
      : RecurrentCell(1, features, hidden, options, at), activation(activation) {}
  Tensor operator()(const Operand &x, const Operand &h = {}) const;

private:
  RnnActivation activation = RnnActivation::tanh;
};
class SPRIG_API GRUCell : public RecurrentCell {
public:
  GRUCell() = default;
  GRUCell(int64_t features, int64_t hidden, const CellOptions &options = {}, Source at = Source::here())
      : RecurrentCell(3, features, hidden, options, at) {}
  Tensor operator()(const Operand &x, const Operand &h = {}) const;
};
class SPRIG_API LSTMCell : public RecurrentCell {
public:
  LSTMCell() = default;
  LSTMCell(int64_t features, int64_t hidden, const CellOptions &options = {}, Source at = Source::here())
      : RecurrentCell(4, features, hidden, options, at) {}
  LstmState operator()(const Operand &x, const Operand &h = {}, const Operand &c = {}) const;
};

} // namespace sprig::nn
