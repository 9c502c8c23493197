// Inputs and outputs of models that are no tensors: sequences of tensors, and optionals, which may be absent.
// Programs have tensors alone, so such a value stands for as many as it holds, known when compiling: elements of a
// sequence `x` are `x.0`, `x.1`, ..., an optional that is there is what it holds, one that is absent nothing.
// For importers, which make such inputs and outputs, and for whoever gives and compares their arrays.
#pragma once
#include "lib/Data/Array.h"
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sprig::data {

enum class Holder { tensor, sequence, optional, optionalSequence };
inline bool isSequence(Holder holder) { return holder == Holder::sequence || holder == Holder::optionalSequence; }
inline bool isOptional(Holder holder) { return holder == Holder::optional || holder == Holder::optionalSequence; }

/// "sequence of f32", "optional sequence of f32"; of a tensor "f32".
std::string describe(Holder holder, const std::string &element);

/// What a value holds.
struct Held {
  bool isPresent = true;
  int64_t count = 1; ///< tensors
};
/// By the entry's dimensions `x.length` (how many) and `x.present` (0 or 1), else by what is given: elements x.0, x.1,
/// ... in a row, or x itself. Nothing where nobody says it. Throws usage errors that begin with `input 'x'`.
std::optional<Held> heldBy(Holder holder, const std::string &name, const std::map<std::string, int64_t> &dims,
                           const std::function<bool(const std::string &)> &isGiven);
/// Throws a usage error where one of these dimensions is a range of sizes: other lengths are other programs.
void refuseRanges(Holder holder, const std::string &name, const std::function<bool(const std::string &)> &isRange);
/// Adds the dimensions that say it.
void bind(Holder holder, const std::string &name, const Held &held, std::map<std::string, int64_t> &dims);
/// The flag that says it: "--dim x.length=N".
std::string flagOf(Holder holder, const std::string &name);
/// The names of the tensors that a value stands for.
std::vector<std::string> namesOf(Holder holder, const std::string &name, const Held &held);
std::string elementName(const std::string &sequence, int64_t index);

/// A value as files have it.
struct Stored {
  std::vector<Array> arrays; ///< one of a tensor, elements of a sequence
  bool isPresent = true;
};
/// A file with a value that is held so: of tensors any file of one array, of others a serialized onnx.SequenceProto or
/// onnx.OptionalProto. Throws badInput errors that name the file.
Stored readStored(const std::filesystem::path &path, Holder holder);
/// The latter.
Stored parseStored(std::span<const char> bytes, Holder holder, const std::string &file);

} // namespace sprig::data
