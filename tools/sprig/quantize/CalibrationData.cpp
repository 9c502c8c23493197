#include "tools/sprig/quantize/CalibrationData.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "lib/Data/Samples.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/quantize/CalibrationImages.h"
#include <algorithm>
#include <numeric>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

/// Arrays of some samples, by input.
struct Group {
  std::map<std::string, data::Array> arrays;
  std::optional<data::Array> labels;
  std::string where; ///< as errors call it
};

bool isLabels(const std::string &stem) { return stem == "labels" || stem == "y"; }

class Reader {
public:
  Reader(const std::vector<InputSpec> &specs, const CalibrationDataOptions &options) : specs(specs), options(options) {}

  CalibrationData read(const fs::path &folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error))
      badInput(folder.string() + (fs::exists(folder, error) ? ": is no folder" : ": no such folder"));
    for (Group &group : groupsOf(folder)) {
      if (result.samples >= options.samples || !add(group)) break;
    }
    if (leftOut)
      result.notes.push_back(std::to_string(leftOut) + " samples of " + folder.string() +
                             " are left out: they do not fill a call");
    if (result.calls.empty())
      badInput(folder.string() + ": has no data: expected input_0.*, arrays called as the "
                                 "model's inputs, array files or images");
    return std::move(result);
  }

private:
  std::vector<Group> groupsOf(const fs::path &folder) {
    std::vector<fs::path> files, folders;
    for (const auto &entry : fs::directory_iterator(folder)) {
      if (entry.is_directory())
        folders.push_back(entry.path());
      else if (isArrayFile(entry.path()))
        files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end());
    std::vector<Group> groups;
    if (auto numbered = numberedInputs(folder, files)) groups.push_back(std::move(*numbered));
    if (!groups.empty()) return groups;
    if (auto named = namedInputs(folder, files)) return {std::move(*named)};
    for (const fs::path &inner : folders) {
      std::vector<fs::path> inside;
      for (const auto &entry : fs::directory_iterator(inner))
        if (isArrayFile(entry.path())) inside.push_back(entry.path());
      if (auto numbered = numberedInputs(inner, inside)) groups.push_back(std::move(*numbered));
    }
    if (!groups.empty()) return groups;
    if (!files.empty()) return looseFiles(files);
    if (ImageList images = listImages(folder); !images.files.empty()) return imageGroups(images, folder);
    return {};
  }

  static bool isArrayFile(const fs::path &file) {
    std::string ending = file.extension();
    return ending == ".npy" || ending == ".npz" || ending == ".pb" || ending == ".safetensors" || ending == ".csv" ||
           file.filename().string().ends_with("-ubyte");
  }

  static std::optional<data::Array> labelsAmong(const std::vector<fs::path> &files) {
    for (const fs::path &file : files)
      if (isLabels(file.stem())) return data::readArray(file);
    return std::nullopt;
  }

  /// input_0, input_1, ... in the order of the graph.
  std::optional<Group> numberedInputs(const fs::path &folder, const std::vector<fs::path> &files) const {
    Group group{{}, labelsAmong(files), folder.string()};
    for (size_t k = 0; k < specs.size(); ++k)
      for (const fs::path &file : files)
        if (file.stem() == "input_" + std::to_string(k)) group.arrays[specs[k].name] = data::readArray(file);
    if (group.arrays.empty()) return std::nullopt;
    requireAll(group);
    return group;
  }

  std::optional<Group> namedInputs(const fs::path &folder, const std::vector<fs::path> &files) const {
    Group group{{}, labelsAmong(files), folder.string()};
    for (const InputSpec &spec : specs)
      for (const fs::path &file : files)
        if (file.stem() == data::encodeFileName(spec.name) && !(isLabels(file.stem()) && files.size() > 1))
          group.arrays[spec.name] = data::readArray(file);
    if (group.arrays.empty()) return std::nullopt;
    requireAll(group);
    return group;
  }

  void requireAll(const Group &group) const {
    for (const InputSpec &spec : specs)
      if (!group.arrays.count(spec.name))
        badInput(group.where + ": has " + std::to_string(group.arrays.size()) + " of the " + "model's " +
                 std::to_string(specs.size()) + " inputs; missing is " + describe(spec));
  }

  /// Files of whole samples: .npz with the inputs as members, or one array for the one input.
  std::vector<Group> looseFiles(const std::vector<fs::path> &files) {
    std::vector<Group> groups;
    std::vector<int64_t> counts;
    for (const fs::path &file : files) {
      if (isLabels(file.stem())) continue;
      Group group{{}, {}, file.string()};
      for (data::Array &array : data::readArrays(file)) {
        if (isLabels(array.name) && !isInput(array.name))
          group.labels = std::move(array);
        else if (isInput(array.name))
          group.arrays[array.name] = std::move(array);
        else if (specs.size() == 1 && group.arrays.empty())
          group.arrays[specs[0].name] = std::move(array);
      }
      requireAll(group);
      groups.push_back(std::move(group));
    }
    if (auto labels = labelsAmong(files)) {
      if (groups.size() == 1)
        groups[0].labels = std::move(labels);
      else
        result.notes.push_back("labels not used: one file of them lies beside " + std::to_string(groups.size()) +
                               " files of samples");
    }
    return groups;
  }

  bool isInput(const std::string &name) const {
    return std::any_of(specs.begin(), specs.end(), [&](const InputSpec &spec) { return spec.name == name; });
  }

  std::vector<Group> imageGroups(const ImageList &list, const fs::path &folder) {
    const std::vector<ImageFile> &images = list.files;
    if (specs.size() != 1)
      badInput(folder.string() + ": has images, and the model " + std::to_string(specs.size()) +
               " inputs; images are for models of one");
    int64_t count = std::min<int64_t>(int64_t(images.size()), options.samples);
    Group group{{}, {}, folder.string()};
    ImageIntake intake = imageIntake(specs[0], options, folder.string());
    group.arrays[specs[0].name] = readImages(images, count, intake);
    if (images[0].label >= 0) {
      data::Array labels{"labels", data::DType::i64, {count}, std::vector<char>(size_t(count) * 8)};
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(reinterpret_cast<const char *>(&images[size_t(i)].label), 8, labels.bytes.data() + i * 8);
      group.labels = std::move(labels);
      result.folders = list.folders;
    }
    return {std::move(group)};
  }

  /// The sizes of one sample: the model's, and where it leaves them open the array's.
  std::vector<int64_t> sampleShape(const InputSpec &spec, const data::Array &array) const {
    std::vector<int64_t> shape;
    for (size_t i = 1; i < spec.dims.size(); ++i) {
      auto bound = options.dims.find(spec.dims[i].symbol);
      if (spec.dims[i].size)
        shape.push_back(*spec.dims[i].size);
      else if (bound != options.dims.end())
        shape.push_back(bound->second);
      else if (array.shape.size() == spec.dims.size())
        shape.push_back(array.shape[i]);
      else
        badUse("input '" + spec.name + "': dimension '" + spec.dims[i].symbol +
               "' is not bound: give its size with --dim " + spec.dims[i].symbol + "=8");
    }
    return shape;
  }

  /// Whether the first dimension of all inputs counts samples: how many there are.
  std::optional<int64_t> countSamples(const Group &group) const {
    std::optional<int64_t> count;
    for (const InputSpec &spec : specs) {
      const data::Array &array = group.arrays.at(spec.name);
      if (!spec.hasShape || spec.dims.empty() || array.shape.empty()) return std::nullopt;
      bool isAlike = spec.dims[0].size == specs[0].dims[0].size && spec.dims[0].symbol == specs[0].dims[0].symbol;
      if (!isAlike || (count && *count != array.shape[0])) return std::nullopt;
      count = array.shape[0];
    }
    return count;
  }

  /// One sample, without the dimension that counts them.
  static bool isLone(const InputSpec &spec, const data::Array &array) {
    int64_t elements = 1;
    for (size_t i = 1; i < spec.dims.size(); ++i) elements *= spec.dims[i].size.value_or(0);
    return array.shape.size() + 1 == spec.dims.size() && array.elements() == elements;
  }

  /// Whether there may be room for more samples behind these.
  bool add(Group &group) {
    std::optional<int64_t> count = countSamples(group);
    if (!count) {
      addWhole(group);
      return true;
    }
    const Dim &batch = specs[0].dims[0];
    auto bound = options.dims.find(batch.symbol);
    if (group.arrays.size() == 1 && isLone(specs[0], group.arrays.begin()->second)) {
      data::Array &array = group.arrays.begin()->second;
      array.shape.insert(array.shape.begin(), 1);
      count = 1;
    }
    int64_t left = std::min(*count, options.samples - result.samples);
    bool isOpen = !batch.size && bound == options.dims.end();
    int64_t size = isOpen ? evenPart(left) : batch.size ? *batch.size : bound->second;
    if (left < size && *count >= size) { // it is the limit that is short
      if (result.calls.empty())
        badUse("--samples " + std::to_string(options.samples) + ": a call of the model takes " + std::to_string(size));
      return false;
    }
    if (size < 1 || left < size)
      badInput(group.where + ": has " + std::to_string(left) + " samples; a call of the model takes " +
               std::to_string(size));
    std::vector<std::pair<data::Samples, data::Intake>> fields;
    for (const InputSpec &spec : specs) {
      data::Array &array = group.arrays.at(spec.name);
      std::vector<int64_t> shape = sampleShape(spec, array);
      data::Intake intake{*dtypeOf(spec.dtype), shape, true};
      fields.emplace_back(data::Samples::from(std::move(array), group.where), intake);
      data::checkFits(fields.back().first, intake, "input '" + spec.name + "'");
    }
    checkLabels(group, *count);
    int64_t taken = isOpen ? left : left / size * size; // the last call may be smaller where the model allows it
    for (int64_t first = 0; first < taken; first += size) addCall(group, fields, first, std::min(size, taken - first));
    if (left == *count) leftOut += left - taken;
    return true;
  }

  /// The largest part that divides the samples, or the whole batch where only small ones do: fewer shapes to compile.
  int64_t evenPart(int64_t count) const {
    int64_t most = std::min(count, options.batch);
    for (int64_t size = most; size * 2 > most && size > 0; --size)
      if (count % size == 0) return size;
    return most;
  }

  void checkLabels(const Group &group, int64_t count) const {
    if (!group.labels) return;
    if (data::isFloat(group.labels->dtype) || group.labels->elements() != count)
      badInput(group.where + ": has " + std::to_string(count) + " samples and labels " + data::describe(*group.labels) +
               "; expected an integer for each");
  }

  void addCall(const Group &group, const std::vector<std::pair<data::Samples, data::Intake>> &fields, int64_t first,
               int64_t size) {
    CalibrationCall call;
    std::vector<int64_t> indices(static_cast<size_t>(size));
    std::iota(indices.begin(), indices.end(), first);
    for (size_t k = 0; k < fields.size(); ++k) {
      const auto &[samples, intake] = fields[k];
      data::Array array{specs[k].name, intake.dtype, intake.shape, {}};
      array.shape.insert(array.shape.begin(), size);
      array.bytes.resize(size_t(*data::byteSize(array.dtype, array.shape)));
      data::gather(samples, indices, intake, array.bytes.data());
      call.inputs.emplace(array.name, std::move(array));
    }
    if (group.labels)
      for (int64_t i : indices) call.labels.push_back(group.labels->integerAt(i));
    append(std::move(call), size);
  }

  /// Inputs that no dimension of samples goes through: one call.
  void addWhole(Group &group) {
    if (group.labels)
      result.notes.push_back("labels not used: " + group.where +
                             ": the first dimensions of the inputs do not count samples");
    CalibrationCall call;
    for (const InputSpec &spec : specs) {
      data::Array &array = group.arrays.at(spec.name);
      array.name = spec.name;
      call.inputs.emplace(spec.name, std::move(array));
    }
    append(std::move(call), 1);
  }

  void append(CalibrationCall call, int64_t samples) {
    result.samples += samples;
    call.samples = samples;
    result.calls.push_back(std::move(call));
  }

  const std::vector<InputSpec> &specs;
  const CalibrationDataOptions &options;
  CalibrationData result;
  int64_t leftOut = 0; ///< samples of whole groups
};

} // namespace

CalibrationData readCalibrationData(const fs::path &folder, const std::vector<InputSpec> &specs,
                                    const CalibrationDataOptions &options) {
  return Reader(specs, options).read(folder);
}

} // namespace sprig::cli
