#include "tools/sprig/inspect/CudaKernels.h"
#include "lib/Cubin/Cubin.h"
#include "lib/Machine/CudaModel.h"
#include "runtime/base/Decimal.h"
#include "runtime/format/Container.h"
#include "runtime/load/Decode.h"
#include "tools/sprig/run/PackageTables.h"
#include <nlohmann/json.hpp>
#include <algorithm>
#include <iostream>
#include <set>

namespace sprig::cli {
namespace {

using rt::core::Command;
using rt::core::CommandKind;
using rt::core::Image;
using rt::core::Program;

constexpr const char *kNeverMeasured = "predicted, never measured here";

bool isText(const Image &image) { return image.isa.starts_with("compute_"); }

// The kernels of a PTX text that have an instruction.
std::set<std::string, std::less<>> kernelsWith(std::string_view instruction, std::string_view ptx) {
  constexpr std::string_view entry = ".entry ";
  std::set<std::string, std::less<>> found;
  for (size_t at = ptx.find(entry); at != ptx.npos;) {
    size_t name = at + entry.size(), next = ptx.find(entry, name);
    std::string_view kernel = ptx.substr(name, next == ptx.npos ? next : next - name);
    if (kernel.find(instruction) != kernel.npos) found.emplace(kernel.substr(0, kernel.find('(')));
    at = next;
  }
  return found;
}

struct Launch {
  const rt::core::Entry *entry = nullptr;
  const Command *command = nullptr;
  double accesses = 0; // to places that data names
};

std::vector<Launch> launchesOf(const Program &program, const PackageTables &tables) {
  std::vector<Launch> launches;
  for (uint32_t entry = 0; entry < program.entries.size(); ++entry)
    for (uint32_t lane = 0; lane < program.entries[entry].lanes.size(); ++lane)
      for (uint32_t i = 0; i < program.entries[entry].lanes[lane].commands.size(); ++i) {
        const Command &command = program.entries[entry].lanes[lane].commands[i];
        if (command.kind != CommandKind::Dispatch || command.tiles <= 0) continue;
        Launch &launch = launches.emplace_back(Launch{&program.entries[entry], &command});
        for (const TouchedOperand &touched : tables.touched(entry, lane, i))
          launch.accesses += touched.accessedBytes ? double(touched.accesses) : 0;
      }
  return launches;
}

class ImageReader {
public:
  /// `ptx`: the package's, or nothing.
  ImageReader(const Program &program, const std::vector<Launch> &launches, const Image &image,
              std::span<const uint8_t> code, std::string_view ptx)
      : program(program), launches(launches), image(image), onTensorCores(kernelsWith("mma.sync", ptx)) {
    report.architecture = image.isa;
    report.device = machine::findCudaDevice(image.isa);
    if (isText(image)) return;
    std::string_view bytes(reinterpret_cast<const char *>(code.data()), code.size());
    if (!gpu::Cubin::parse(bytes, cubin, report.problem)) cubin = {};
  }

  CudaImageReport read() {
    std::vector<const Launch *> largest(program.kernels.size());
    std::vector<int64_t> counts(program.kernels.size());
    for (const Launch &launch : launches) {
      uint32_t kernel = launch.command->kernel;
      if (!runs(kernel)) continue;
      ++counts[kernel];
      const Launch *&most = largest[kernel];
      if (!most || launch.command->tiles > most->command->tiles) most = &launch;
      addTime(launch);
    }
    for (uint32_t kernel = 0; kernel < largest.size(); ++kernel)
      if (largest[kernel]) report.kernels.push_back(row(kernel, *largest[kernel], counts[kernel]));
    return std::move(report);
  }

private:
  bool runs(uint32_t kernel) const {
    return kernel < image.entryPoints.size() && kernel < image.launches.size() && !image.entryPoints[kernel].empty();
  }
  machine::CudaEstimate estimate(const Launch &launch) const {
    const Command &command = *launch.command;
    machine::CudaWork work{double(command.flops), double(command.bytes), command.tiles, isTf32(command.kernel)};
    work.accesses = launch.accesses;
    for (const rt::core::Part &part : command.parts) {
      work.isLoop |= part.steps > 0;
      work.repeated += double(part.steps) * double(part.repeated);
    }
    return machine::estimateCudaKernel(*report.device, work);
  }
  // There are no products of other types on tensor cores.
  bool isTf32(uint32_t kernel) const { return onTensorCores.contains(image.entryPoints[kernel]); }

  void addTime(const Launch &launch) {
    if (!report.device) return;
    if (report.entries.empty() || launch.entry != last)
      report.entries.push_back({launch.entry->name, 0, int64_t(launch.entry->lanes.size())});
    last = launch.entry;
    CudaEntryTime &time = report.entries.back();
    machine::CudaEstimate taken = estimate(launch);
    ++time.kernels;
    time.seconds += taken.seconds();
    time.launchSeconds += taken.launch;
  }

  CudaKernelRow row(uint32_t kernel, const Launch &launch, int64_t count) const {
    const Command &command = *launch.command;
    CudaKernelRow made;
    made.kernel = program.kernels[kernel].name;
    made.command = command.name;
    made.launches = count;
    made.blocks = command.tiles;
    made.threads = image.launches[kernel].threads;
    made.flops = double(command.flops);
    made.bytes = double(command.bytes);
    made.isTf32 = isTf32(kernel);
    if (const gpu::CubinKernel *code = cubin.find(image.entryPoints[kernel])) {
      made.registers = code->registers;
      made.stackBytes = code->localBytes;
      made.sharedBytes = int64_t(code->staticShared) + image.launches[kernel].shared;
      if (report.device)
        made.blocksOnMultiprocessor =
            machine::blocksOnMultiprocessor(*report.device, code->registers, *made.sharedBytes, made.threads);
    }
    if (report.device) {
      machine::CudaEstimate taken = estimate(launch);
      made.seconds = taken.seconds();
      made.bound = taken.bound();
    }
    return made;
  }

  const Program &program;
  const std::vector<Launch> &launches;
  const Image &image;
  const std::set<std::string, std::less<>> onTensorCores;
  gpu::Cubin cubin;
  CudaImageReport report;
  const rt::core::Entry *last = nullptr;
};

std::string microseconds(double seconds) { return decimal::fixed(seconds * 1e6, 1); }

template <typename T> std::string orDash(const std::optional<T> &value) { return value ? std::to_string(*value) : "-"; }

// "sm_90, as of an H100 (67.0 TFLOP/s, 3.35 TB/s, 132 multiprocessors)"
std::string title(const CudaImageReport &report) {
  std::string text = report.architecture;
  if (!report.device) return text;
  bool hasTf32 =
      std::any_of(report.kernels.begin(), report.kernels.end(), [](const CudaKernelRow &row) { return row.isTf32; });
  auto tera = [](double value) { return decimal::general(value / 1e12); };
  const auto &device = *report.device;
  return text + ", of the card " + std::string(device.card) + " (" + tera(device.fma) + " TFLOP/s" +
         (hasTf32 ? ", " + tera(device.tf32) + " in tf32" : "") + ", " + tera(device.memory) + " TB/s, " +
         std::to_string(device.multiprocessors) + " multiprocessors); times are " + kNeverMeasured;
}

} // namespace

double CudaKernelRow::occupancy(const machine::CudaDevice &device) const {
  return double(blocksOnMultiprocessor * threads) / double(device.threads);
}

std::vector<CudaImageReport> cudaKernels(std::span<const std::byte> package) {
  rt::format::ContainerView view;
  Program program;
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(package.data()), package.size());
  if (rt::format::ContainerError error = rt::format::readContainer(bytes, view); error.failed) badInput(error.message);
  if (rt::core::Status status = rt::core::decodeProgram(view.sections[0].bytes, program); !status.isOk())
    badInput(std::string(status.message()));
  auto isCuda = [&](const Image &image) {
    return image.kind == rt::core::kCudaKind && image.section < view.sections.size();
  };
  bool hasCubin = std::any_of(program.images.begin(), program.images.end(),
                              [&](const Image &image) { return isCuda(image) && !isText(image); });
  std::string_view ptx;
  for (const Image &image : program.images) {
    if (!isCuda(image) || !isText(image)) continue;
    std::span<const uint8_t> text = view.sections[image.section].bytes;
    ptx = {reinterpret_cast<const char *>(text.data()), text.size()};
  }
  std::vector<Launch> launches = launchesOf(program, PackageTables(bytes));
  std::vector<CudaImageReport> reports;
  for (const Image &image : program.images)
    if (isCuda(image) && !(hasCubin && isText(image)))
      reports.push_back(ImageReader(program, launches, image, view.sections[image.section].bytes, ptx).read());
  return reports;
}

Json toJson(const std::vector<CudaImageReport> &reports) {
  Json list = Json::array();
  for (const CudaImageReport &report : reports) {
    Json kernels = Json::array(), entries = Json::array();
    for (const CudaKernelRow &row : report.kernels) {
      Json one = {{"kernel", row.kernel}, {"command", row.command}, {"launches", row.launches},
                  {"blocks", row.blocks}, {"threads", row.threads}, {"flops", row.flops},
                  {"bytes", row.bytes}};
      if (row.isTf32) one["precision"] = "tf32";
      if (row.registers) {
        one["registers"] = *row.registers;
        one["shared_bytes"] = *row.sharedBytes;
        one["stack_bytes"] = *row.stackBytes;
      }
      if (row.registers && report.device) {
        one["blocks_on_multiprocessor"] = row.blocksOnMultiprocessor;
        one["occupancy"] = row.occupancy(*report.device);
      }
      if (report.device) {
        one["bound"] = row.bound;
        one["predicted_us"] = row.seconds * 1e6;
      }
      kernels.push_back(one);
    }
    for (const CudaEntryTime &time : report.entries)
      entries.push_back({{"name", time.entry},
                         {"lanes", time.lanes},
                         {"kernels", time.kernels},
                         {"predicted_us", time.seconds * 1e6},
                         {"predicted_launch_us", time.launchSeconds * 1e6}});
    Json one = {{"architecture", report.architecture}, {"times", kNeverMeasured}};
    if (report.device) one["card"] = report.device->card;
    if (!report.problem.empty()) one["problem"] = report.problem;
    one["kernels"] = kernels;
    one["entries"] = entries;
    list.push_back(one);
  }
  return list;
}

void print(const std::vector<CudaImageReport> &reports) {
  for (const CudaImageReport &report : reports) {
    std::cout << "\nkernels on " << title(report) << '\n';
    Table table({"  kernel", "launches", "blocks", "threads", "registers", "shared", "stack", "occupancy", "bound",
                 "predicted us"});
    for (const CudaKernelRow &row : report.kernels) {
      std::string occupancy = "-";
      if (row.registers && report.device) occupancy = std::to_string(int(100 * row.occupancy(*report.device))) + "%";
      table.add({"  " + row.kernel, std::to_string(row.launches), std::to_string(row.blocks),
                 std::to_string(row.threads), orDash(row.registers), orDash(row.sharedBytes), orDash(row.stackBytes),
                 occupancy, row.bound.empty() ? "-" : row.bound, report.device ? microseconds(row.seconds) : "-"});
    }
    table.print();
    if (!report.problem.empty()) std::cout << "  the cubin says nothing of its kernels: " << report.problem << '\n';
    for (const CudaEntryTime &time : report.entries)
      std::cout << "  entry '" << time.entry << "': " << time.kernels
                << (time.kernels == 1 ? " kernel, " : " kernels, ") << microseconds(time.seconds) << " us predicted, "
                << microseconds(time.launchSeconds) << " of it launches"
                << (time.lanes == 1 ? ""
                                    : ", one after the other; they run on " + std::to_string(time.lanes) + " lanes")
                << '\n';
  }
}

} // namespace sprig::cli
