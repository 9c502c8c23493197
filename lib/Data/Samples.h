// The samples of a data set: an array whose first dimension counts them, read from a file or mapped where it is large.
// For training and evaluation. `gather` puts chosen samples into a batch, in the type and shape that a model takes.
#pragma once
#include "lib/Data/Array.h"
#include <memory>
#include <span>
#include <string>

namespace sprig::data {

class Samples {
public:
  /// FILE, or FILE.npz:MEMBER (FILE.safetensors:NAME). A file of several arrays without a member is an error that lists
  /// them. A file of at least `mapFrom` bytes is mapped instead of read where its array lies in it as it is (.npy,
  /// .safetensors, .npz without compression): data larger than memory work, and a file that shrinks meanwhile would
  /// end the process. Throws sprig::Error (badInput).
  static Samples open(const std::string &spec, int64_t mapFrom = kMapFrom);
  /// Several arrays of one file, which is read once; an empty name is the only one that there is.
  static std::vector<Samples> openAll(const std::string &file, const std::vector<std::string> &members,
                                      int64_t mapFrom = kMapFrom);
  static Samples from(Array array, const std::string &name);
  /// Memory of someone else's, row-major, that `owner` keeps alive; at least one dimension.
  static Samples view(const std::string &name, DType type, const std::vector<int64_t> &shape, const void *bytes,
                      std::shared_ptr<const void> owner);
  static constexpr int64_t kMapFrom = int64_t(1) << 30;

  const std::string &name() const { return source; }
  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t count() const { return dims[0]; }
  std::vector<int64_t> sampleShape() const { return {dims.begin() + 1, dims.end()}; }
  int64_t sampleElements() const { return elements; }
  const char *bytes() const { return data; }
  /// Keeps the bytes alive.
  const std::shared_ptr<const void> &owned() const { return owner; }

private:
  std::string source;
  DType type = DType::f32;
  std::vector<int64_t> dims;
  int64_t elements = 1;
  const char *data = nullptr;
  std::shared_ptr<const void> owner;
};

/// How samples become a model's input or target. Floats and integers may change their width; integers and booleans
/// may become floats; no float becomes an integer.
struct Intake {
  DType dtype = DType::f32;
  std::vector<int64_t> shape; ///< of one sample
  /// Bytes (u8) that become floats are divided by 255, as images are meant; for inputs, not for targets.
  bool scaleBytes = false;
};

/// Whether samples fit: as many elements, and equal shapes but for dimensions of 1, or one of the two is flat (a
/// table's row, a network that takes flat images). Throws badInput with both facts; `what` is "input 'x'".
void checkFits(const Samples &samples, const Intake &intake, const std::string &what);

/// Throws badInput unless both have the same, positive number of samples.
void checkCounts(const Samples &x, const Samples &y);

/// Throws badInput that names the first sample whose class is not in 0 to classes - 1 (ignoreIndex is let through).
void checkClasses(const Samples &samples, int64_t classes, const int64_t *ignoreIndex = nullptr);

/// Writes the samples of these indices to `out`, one after the other. Allocates nothing. They must have passed
/// checkFits; an integer that its narrower type does not hold throws badInput.
void gather(const Samples &samples, std::span<const int64_t> indices, const Intake &intake, void *out);

} // namespace sprig::data
