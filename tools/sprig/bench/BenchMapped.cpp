// sprig bench loader: batches of a mapped .npy file, beside reads of each sample from the file and beside reads that
// take a millisecond.
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "sprig/data.h"
#include "tools/sprig/bench/Experiment.h"
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace sprig::cli {
namespace {

constexpr int64_t kRows = 10000, kColumns = 784, kMappedBatch = 32, kMappedBatches = 100;

// The file of an experiment, removed at its end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("sprig-bench-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// A sample for each read, as programs do that seek in a file.
class MappedRows {
public:
  MappedRows(const fs::path &path, int64_t start) : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), start(start) {
    if (file < 0) runtimeError(path.string() + ": " + std::strerror(errno));
  }
  ~MappedRows() { ::close(file); }
  int64_t size() const { return kRows; }
  data::Sample get(int64_t index) const {
    data::Field row({sprig::DType::f32, {kColumns}});
    ssize_t bytes = kColumns * 4;
    if (::pread(file, row.editBytes(), size_t(bytes), start + index * bytes) != bytes)
      runtimeError("the file ends early");
    return {row};
  }

private:
  int file;
  int64_t start;
};

struct Result {
  double seconds = 0, sum = 0;
};

Result runMapped(const data::Dataset &set, const data::IoDelay &delay) {
  data::Loader loader(set, {.batch = kMappedBatch, .shuffle = 3, .workers = 0, .ioDelay = delay});
  Result result;
  auto start = std::chrono::steady_clock::now();
  for (const data::Batch &batch : loader) {
    for (int64_t i = 0; i < batch.size(); ++i) result.sum += batch.host(0).item<float>(i * kColumns + 5);
    if (batch.number() + 1 == kMappedBatches) break;
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

} // namespace

void benchMappedFiles(ExperimentReport &report) {
  Folder folder;
  fs::path path = folder.path / "x.npy";
  data::Array array{"", data::DType::f32, {kRows, kColumns}, {}};
  array.bytes.resize(size_t(kRows * kColumns * 4));
  auto *values = reinterpret_cast<float *>(array.bytes.data());
  for (int64_t i = 0; i < kRows * kColumns; ++i) values[i] = float(i % 1000003);
  std::vector<char> bytes = data::formatNpy(array);
  data::writeFile(path, bytes);
  data::NpyHeader header = data::parseNpyHeader(bytes, int64_t(bytes.size()), path.string());

  Result mapped = runMapped(data::npy(path, data::Map::always), {});
  Result read = runMapped(std::make_shared<const MappedRows>(path, int64_t(header.start)), {});
  Result slow = runMapped(data::npy(path, data::Map::always), {.perItem = 0.001});
  data::Sample first = data::npy(path, data::Map::always).get(0);
  report.table("mapped", {"100 batches of 32 of 10000 x 784", "ms"});
  report.row({"mapped", mapped.seconds * 1e3});
  report.row({"a read for each sample", read.seconds * 1e3});
  report.row({"reads of 1 ms for each sample", slow.seconds * 1e3});
  report.timed("a mapped file is faster than reads of a millisecond",
               formatDouble(slow.seconds / mapped.seconds, 3) + " times", slow.seconds > 10 * mapped.seconds);
  report.timed("and no slower than a read for each sample (within 20%)",
               formatDouble(read.seconds / mapped.seconds, 3) + " times", mapped.seconds < 1.2 * read.seconds);
  bool same = mapped.sum == read.sum && mapped.sum == slow.sum && first.x().item<float>(0) == 0 &&
              first.x().item<float>(783) == 783;
  report.verdict("samples start after the file's header of " + std::to_string(header.start) + " bytes",
                 "the same sums, and sample 0 is 0 to 783", same);
}

} // namespace sprig::cli
