// Data sets of files. Every function throws sprig::Error (badInput) that names the file.
// For programs. Formats are those that the command line reads.
#pragma once
#include "sprig/data/dataset.h"
#include <filesystem>

namespace sprig::data {

/// Whether a file is mapped instead of read: larger than memory works then, and a file that is shortened meanwhile ends
/// the process. `automatic`: from 1 GiB on.
enum class Map { automatic, always, never };

/// One field: an array whose first dimension counts the samples.
SPRIG_API Dataset npy(const std::filesystem::path &path, Map map = Map::automatic);
/// The named members as fields, in this order; none: the only one that there is. Members that are not compressed can
/// be mapped.
SPRIG_API Dataset npz(const std::filesystem::path &path, const std::vector<std::string> &members = {},
                      Map map = Map::automatic);
SPRIG_API Dataset safetensors(const std::filesystem::path &path, const std::vector<std::string> &names = {},
                              Map map = Map::automatic);
/// The format of MNIST's files.
SPRIG_API Dataset idx(const std::filesystem::path &path);

struct CsvOptions {
  /// A column (from 0; negative from the end) that becomes y: i64 where all its numbers are whole, else f32. The others
  /// are x, as f32. Without one, a row is x, in the type of the table.
  std::optional<int> target = std::nullopt;
};
SPRIG_API Dataset csv(const std::filesystem::path &path, const CsvOptions &options = {});

struct ImageOptions {
  int channels = 3;   ///< 1: grey, 3: colours, 4: with opacity
  int64_t height = 0; ///< images are resized to this size (bilinear, anti-aliased); 0: as they are, all alike
  int64_t width = 0;  ///< 0: as height
  sprig::DType dtype = sprig::DType::f32; ///< floats are bytes / 255; u8: bytes
};
/// PNG and JPEG files of the folder's subfolders: x is channels x height x width, y the i64 number of the subfolder in
/// sorted order (torchvision's ImageFolder). Lists names at once; files are read by get().
SPRIG_API Dataset imageFolder(const std::filesystem::path &folder, const ImageOptions &options = {});
/// The subfolders that imageFolder numbers.
SPRIG_API std::vector<std::string> imageClasses(const std::filesystem::path &folder);
/// One PNG or JPEG file, channels x height x width.
SPRIG_API Field readImage(const std::filesystem::path &path, const ImageOptions &options = {});
/// channels x height x width of f32 or u8 in another size.
SPRIG_API Field resize(const Field &image, int64_t height, int64_t width);

struct MnistOptions {
  bool train = true; ///< 60000 samples, else the 10000 of the test
  int64_t size = 28; ///< images are resized to size x size
};
/// MNIST or Fashion-MNIST from a folder of their IDX files (train-images-idx3-ubyte, ...): x is 1 x size x size of f32
/// in 0 to 1, y an i64 class. A folder that is named has to have them: Error (badInput). Without a name the folder is
/// "fashion-mnist" or "mnist"; where that has none, images of ten synthetic classes of the same shape and number stand
/// in, and a line on the standard error output says so.
SPRIG_API Dataset fashionMnist(const std::filesystem::path &folder = {}, const MnistOptions &options = {});
SPRIG_API Dataset mnist(const std::filesystem::path &folder = {}, const MnistOptions &options = {});

} // namespace sprig::data
