#include "tools/sprig/run/Inputs.h"
#include "lib/Data/Philox.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/Listed.h"
#include "tools/sprig/Report.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace sprig::cli {
namespace {

std::string listInputs(const std::vector<InputSpec> &specs) {
  std::vector<std::string> lines;
  for (const InputSpec &spec : specs) lines.push_back(describe(spec));
  return "the inputs are:\n  " + data::listed(lines, 64, "\n  ");
}

void store(data::Array &array, int64_t index, double value) {
  auto put = [&](auto typed) { std::memcpy(array.bytes.data() + index * int64_t(sizeof typed), &typed, sizeof typed); };
  switch (array.dtype) {
  case data::DType::f64: return put(value);
  case data::DType::f32: return put(float(value));
  case data::DType::f16: return put(data::toHalf(value));
  case data::DType::bf16: return put(data::toBFloat16(value));
  default: array.bytes[size_t(index * data::size(array.dtype))] = char(value); // 0 or 1, little-endian
  }
}

} // namespace

std::optional<data::DType> dtypeOf(const std::string &name) {
  return data::parseDType(name.starts_with("ui") ? "u" + name.substr(2) : name);
}

std::string describe(const InputSpec &spec) {
  std::string text;
  if (!spec.hasShape) text += "*x";
  for (const Dim &dim : spec.dims)
    text += (dim.size ? std::to_string(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol) + "x";
  return spec.name + ": " + data::describe(spec.holder, text + spec.dtype);
}

std::vector<InputSpec> withTensors(const std::vector<InputSpec> &specs, std::map<std::string, int64_t> &dims,
                                   const std::function<bool(const std::string &)> &isGiven) {
  std::vector<InputSpec> result;
  for (const InputSpec &spec : specs) {
    std::optional<data::Held> held = data::heldBy(spec.holder, spec.name, dims, isGiven);
    if (spec.holder == data::Holder::tensor || !held) {
      result.push_back(spec);
      continue;
    }
    data::bind(spec.holder, spec.name, *held, dims);
    for (const std::string &name : data::namesOf(spec.holder, spec.name, *held)) {
      InputSpec tensor{name, spec.dtype, spec.dims, spec.hasShape};
      // Each element of a sequence has sizes of its own.
      for (size_t i = 0; data::isSequence(spec.holder) && i < tensor.dims.size(); ++i)
        if (!tensor.dims[i].size) tensor.dims[i].symbol = name + "." + std::to_string(i);
      result.push_back(std::move(tensor));
    }
  }
  return result;
}

void requireTensors(const std::vector<InputSpec> &specs) {
  std::string missing;
  for (const InputSpec &spec : specs)
    if (spec.holder != data::Holder::tensor)
      missing += "\n  " + describe(spec) + ": " + data::flagOf(spec.holder, spec.name);
  if (!missing.empty()) badUse("how much these inputs hold has to be known when compiling:" + missing);
}

std::map<std::string, data::Array> readInputs(const std::vector<std::string> &arguments,
                                              const std::vector<InputSpec> &specs) {
  std::map<std::string, data::Array> arrays;
  for (const std::string &argument : arguments) {
    size_t equals = argument.rfind('=');
    // A file name may hold '=': take the first split whose left side is an input.
    for (size_t at = argument.find('='); at != std::string::npos; at = argument.find('=', at + 1))
      if (std::any_of(specs.begin(), specs.end(), [&](auto &spec) { return spec.name == argument.substr(0, at); })) {
        equals = at;
        break;
      }
    std::string name, file;
    if (equals == std::string::npos && specs.size() == 1) {
      name = specs[0].name; // with one input its name can only be that
      file = argument;
    } else if (equals == std::string::npos) {
      badUse("--input " + argument + ": expected NAME=FILE\n" + listInputs(specs));
    } else {
      name = argument.substr(0, equals);
      file = argument.substr(equals + 1);
    }
    if (std::none_of(specs.begin(), specs.end(), [&](auto &spec) { return spec.name == name; }))
      badUse("--input " + argument + ": the model has no input '" + name + "'\n" + listInputs(specs));
    data::Array array = data::readArray(file, name);
    array.name = name;
    if (!arrays.emplace(name, std::move(array)).second)
      badUse("--input " + argument + ": input '" + name + "' is given twice");
  }
  return arrays;
}

void bindDims(const std::vector<InputSpec> &specs, const std::map<std::string, data::Array> &arrays,
              std::map<std::string, int64_t> &dims) {
  std::map<std::string, std::string> giver;
  for (const InputSpec &spec : specs) {
    auto found = arrays.find(spec.name);
    if (found == arrays.end()) continue;
    const data::Array &array = found->second;
    auto fail = [&](const std::string &what) {
      badInput("input '" + spec.name + "': got " + data::describe(array) + ", expected " +
               describe(spec).substr(spec.name.size() + 2) + (what.empty() ? "" : ": " + what));
    };
    if (auto dtype = dtypeOf(spec.dtype); dtype && *dtype != array.dtype) fail("");
    if (!spec.hasShape) continue;
    if (spec.dims.size() != array.shape.size()) fail("");
    for (size_t i = 0; i < spec.dims.size(); ++i) {
      const Dim &dim = spec.dims[i];
      if (dim.size && *dim.size != array.shape[i]) fail("");
      if (dim.size || dim.symbol.empty()) continue;
      auto [at, isNew] = dims.emplace(dim.symbol, array.shape[i]);
      if (isNew)
        giver[dim.symbol] = "input '" + spec.name + "'";
      else if (at->second != array.shape[i])
        fail("dimension '" + dim.symbol + "' is " + std::to_string(at->second) + " by " +
             (giver.count(dim.symbol) ? giver[dim.symbol] : "--dim"));
    }
  }
}

void fillRandom(const std::vector<InputSpec> &specs, uint64_t seed, const std::map<std::string, int64_t> &dims,
                std::map<std::string, data::Array> &arrays) {
  for (size_t k = 0; k < specs.size(); ++k) {
    const InputSpec &spec = specs[k];
    if (arrays.count(spec.name)) continue;
    data::Array array;
    array.name = spec.name;
    auto dtype = dtypeOf(spec.dtype);
    if (!dtype) unsupported("input '" + spec.name + "' has the element type " + spec.dtype);
    array.dtype = *dtype;
    for (const Dim &dim : spec.dims) {
      auto bound = dims.find(dim.symbol);
      if (!dim.size && bound == dims.end())
        badUse("input '" + describe(spec) + "' has an unbound dimension: bind it with --dim or --shape");
      array.shape.push_back(dim.size ? *dim.size : bound->second);
    }
    auto bytes = data::byteSize(array.dtype, array.shape);
    if (!bytes) badInput("input '" + spec.name + "' of " + data::describe(array) + " is too large");
    array.bytes.resize(size_t(*bytes));
    int64_t count = array.elements();
    for (int64_t i = 0; i < count; ++i) {
      auto words = data::philox({uint32_t(i), uint32_t(uint64_t(i) >> 32), uint32_t(k), 0},
                                {uint32_t(seed), uint32_t(seed >> 32)});
      // Box-Muller; the first uniform is in (0, 1].
      double u = (words[0] + 1.0) / 4294967296.0, v = words[1] / 4294967296.0;
      bool isFloat = data::isFloat(array.dtype);
      store(array, i, isFloat ? std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v) : words[2] & 1);
    }
    arrays.emplace(spec.name, std::move(array));
  }
}

void requireAll(const std::vector<InputSpec> &specs, const std::map<std::string, data::Array> &arrays) {
  for (const InputSpec &spec : specs)
    if (!arrays.count(spec.name))
      badUse("input '" + spec.name + "' is not given (--input " + spec.name + "=FILE, or --random-inputs SEED)\n" +
             listInputs(specs));
}

} // namespace sprig::cli
