// Folders of images, a subfolder for each class.
#include "lib/Data/Image.h"
#include "sprig/data/files.h"
#include <algorithm>

namespace fs = std::filesystem;

namespace sprig::data {
namespace {

bool isImage(const fs::path &path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

void check(const ImageOptions &options) {
  if (options.channels != 1 && options.channels != 3 && options.channels != 4)
    badUse("data: images of " + std::to_string(options.channels) + " channels, expected 1, 3 or 4");
  if (options.height < 0 || options.width < 0 || (options.width && !options.height))
    badUse("data: images of " + std::to_string(options.height) + " x " + std::to_string(options.width) +
           ", expected positive sizes, or 0 as they are");
  if (!isFloat(options.dtype) && options.dtype != sprig::DType::u8)
    badUse(std::string("data: images of ") + sprig::name(options.dtype) + ", expected floats or u8");
}

class Folder {
public:
  Folder(const fs::path &folder, const ImageOptions &options) : options(options) {
    std::vector<std::string> classes = imageClasses(folder);
    for (size_t c = 0; c < classes.size(); ++c) {
      std::vector<fs::path> found;
      std::error_code error;
      fs::recursive_directory_iterator it(folder / classes[c], error), end;
      for (; !error && it != end; it.increment(error))
        if (isImage(it->path()) && it->is_regular_file()) found.push_back(it->path());
      if (error) badInput((folder / classes[c]).string() + ": " + error.message());
      if (found.empty()) badInput((folder / classes[c]).string() + ": holds no .png, .jpg or .jpeg file");
      std::sort(found.begin(), found.end());
      for (fs::path &path : found) files.push_back({std::move(path), int64_t(c)});
    }
  }
  int64_t size() const { return int64_t(files.size()); }
  Sample get(int64_t index) const {
    const File &file = files[size_t(index)];
    return {readImage(file.path, options), file.label};
  }

private:
  struct File {
    fs::path path;
    int64_t label;
  };
  ImageOptions options;
  std::vector<File> files;
};

} // namespace

std::vector<std::string> imageClasses(const fs::path &folder) {
  std::vector<std::string> classes;
  std::error_code error;
  fs::directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error))
    if (it->is_directory()) classes.push_back(it->path().filename().string());
  if (error) badInput(folder.string() + ": " + error.message());
  if (classes.empty()) badInput(folder.string() + ": has no subfolder, expected one for each class");
  std::sort(classes.begin(), classes.end());
  return classes;
}

Field readImage(const fs::path &path, const ImageOptions &options) {
  check(options);
  auto image = std::make_shared<const Image>(readImageFile(path, options.channels));
  Field field =
      Field::view(image->planes.data(), {sprig::DType::u8, {image->channels, image->height, image->width}}, image);
  bool bytes = options.dtype == sprig::DType::u8;
  if (!bytes) field = field.to(sprig::DType::f32, /*scaleBytes=*/true, Source());
  if (options.height) field = resize(field, options.height, options.width ? options.width : options.height);
  return bytes ? field : field.to(options.dtype, false, Source());
}

Dataset imageFolder(const fs::path &folder, const ImageOptions &options) {
  check(options);
  return Folder(folder, options);
}

} // namespace sprig::data
