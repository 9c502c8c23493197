#include "lib/Frontend/Engine/GrowingCall.h"
#include "lib/Frontend/Record.h"
#include "lib/Lengths/Ranges.h"

namespace sprig::frontend {

GrowingCall growingCall(const FunctionOptions &options, std::span<const Tensor> arguments, Source at) {
  GrowingCall call;
  for (const GrowingAxis &each : options.growing) {
    auto refuse = [&](const std::string &why) {
      fail(at, options.name,
           "axis " + std::to_string(each.axis) + " of tensor " + std::to_string(each.tensor) + " " + why);
    };
    if (each.tensor >= arguments.size())
      refuse("grows, and it is given " + std::to_string(arguments.size()) + " tensors");
    TensorType type = arguments[each.tensor].type();
    if (each.axis < 0 || each.axis >= type.shape.rank()) refuse("grows, and it is " + describe(type));
    int64_t size = type.shape[each.axis];
    if (call.length && size != call.length)
      refuse("is " + std::to_string(size) + " long, and another that grows with it " + std::to_string(call.length));
    if (size < 1 || size > options.longest)
      refuse("is " + std::to_string(size) + " long, expected 1 to " + std::to_string(options.longest) +
             " (FunctionOptions::longest)");
    call.length = size;
  }
  call.program = programOf(call.length, {1, options.longest});
  return call;
}

std::vector<Tensor> padded(const GrowingCall &call, const FunctionOptions &options, std::span<const Tensor> arguments,
                           Source at) {
  static const OpName &pad = opName("nn.pad");
  std::vector<Tensor> given(arguments.begin(), arguments.end());
  for (size_t i = 0; i < given.size() && call.length < call.program.last; ++i) {
    TensorType type = given[i].type();
    Shape low = type.shape, high = type.shape;
    for (int axis = 0; axis < type.shape.rank(); ++axis) low[axis] = high[axis] = 0;
    bool grows = false;
    for (const GrowingAxis &each : options.growing) {
      if (each.tensor != i) continue;
      high[each.axis] = call.program.last - call.length;
      type.shape[each.axis] = call.program.last;
      grows = true;
    }
    if (grows)
      given[i] =
          record(pad, {given[i], scalar(0, type.dtype, at, "pad")},
                 {Attr::word("mode", "pad_mode constant"), Attr::of("low", low), Attr::of("high", high)}, type, at);
  }
  given.push_back(Tensor(call.length));
  return given;
}

std::vector<Tensor> cut(const GrowingCall &call, const Variant &variant, std::vector<Tensor> results, Source at) {
  static const OpName &slice = opName("nn.slice");
  for (size_t i = 0; i < results.size(); ++i) {
    TensorType type = results[i].type();
    Shape starts = type.shape, steps = type.shape;
    for (int axis = 0; axis < type.shape.rank(); ++axis) starts[axis] = 0, steps[axis] = 1;
    for (const GrowingDim &each : variant.growing[i]) type.shape[each.axis] = each.length.at(call.length);
    if (type.shape == results[i].type().shape) continue;
    results[i] =
        record(slice, {results[i]},
               {Attr::of("starts", starts), Attr::of("sizes", type.shape), Attr::of("steps", steps)}, type, at);
  }
  return results;
}

} // namespace sprig::frontend
