// Writes the fuzzers' binary seeds: `fuzz-seeds FOLDER` makes FOLDER/NAME/* for the fuzzer NAME. They are made when the
// tests are built, by the writers that belong to the readers, so that the repository holds none.
#include "lib/Checkpoint/Files.h"
#include "lib/Data/ArrayFile.h"
#include "lib/Data/File.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include "runtime/test/TestPackage.h"
#include <cstdio>
#include <png.h>
// This needs <cstdio>.
#include <jpeglib.h>

using namespace sprig;
namespace fs = std::filesystem;

namespace {

fs::path root;

template <typename Bytes> void save(const std::string &fuzzer, const std::string &name, const Bytes &bytes) {
  fs::create_directories(root / fuzzer);
  data::writeFile(root / fuzzer / name, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

data::Array array(const std::string &name, data::DType type, std::vector<int64_t> shape) {
  data::Array result{name, type, std::move(shape), {}};
  result.bytes.resize(size_t(*data::byteSize(type, result.shape)));
  for (size_t i = 0; i < result.bytes.size(); ++i) result.bytes[i] = char(type == data::DType::i1 ? i % 2 : i * 7);
  return result;
}

void arrays() {
  using data::DType;
  std::vector<data::Array> kinds = {array("x", DType::f32, {2, 3}),       array("labels", DType::i64, {4}),
                                    array("half", DType::f16, {2, 2, 2}), array("scalar", DType::f64, {}),
                                    array("mask", DType::i1, {5}),        array("empty", DType::u8, {0, 3})};
  for (const data::Array &each : kinds) {
    save("npy", each.name + ".npy", data::formatNpy(each));
    save("tensor-proto", each.name + ".pb", data::formatTensorProto(each));
  }
  save("npz", "one.npz", data::formatNpz(std::span(kinds).first(1)));
  save("npz", "all.npz", data::formatNpz(kinds));
  kinds.push_back(array("brain", DType::bf16, {2}));
  save("safetensors", "one.safetensors", data::formatSafetensors(std::span(kinds).first(1)));
  save("safetensors", "all.safetensors", data::formatSafetensors(kinds));
  const std::string bytes("\0\0\x08\x02\0\0\0\x02\0\0\0\x03\1\2\3\4\5\6", 18);
  const std::string floats("\0\0\x0d\x01\0\0\0\x01\x3f\x80\0\0", 12);
  save("idx", "bytes", bytes);
  save("idx", "floats", floats);
}

void topologies() {
  for (const machine::TopologyPreset &preset : machine::topologyPresets())
    save("topology", preset.name + std::string(".json"), machine::topologyToText(preset.make()));
}

void png(const std::string &name, uint32_t format) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = 5;
  image.height = 3;
  image.format = format;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image)), colors(256 * 4), file(4096);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = uint8_t(i * 11 % 4);
  if (format & PNG_FORMAT_FLAG_COLORMAP) image.colormap_entries = 4;
  png_alloc_size_t size = file.size();
  if (!png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, colors.data())) std::abort();
  file.resize(size);
  save("image", name, file);
}

void jpeg(const std::string &name, int components, bool progressive) {
  jpeg_compress_struct writer = {};
  jpeg_error_mgr errors = {};
  writer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&writer);
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&writer, &bytes, &size);
  writer.image_width = 9;
  writer.image_height = 7;
  writer.input_components = components;
  writer.in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&writer);
  if (progressive) jpeg_simple_progression(&writer);
  jpeg_start_compress(&writer, TRUE);
  std::vector<uint8_t> row(size_t(9 * components));
  for (int y = 0; y < 7; ++y) {
    for (size_t i = 0; i < row.size(); ++i) row[i] = uint8_t(i * 20 + size_t(y) * 9);
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&writer, rows, 1);
  }
  jpeg_finish_compress(&writer);
  save("image", name, std::span(bytes, size));
  std::free(bytes);
  jpeg_destroy_compress(&writer);
}

void images() {
  png("grey.png", PNG_FORMAT_GRAY);
  png("colors.png", PNG_FORMAT_RGB);
  png("opacity.png", PNG_FORMAT_RGBA);
  png("wide.png", PNG_FORMAT_LINEAR_Y);
  png("palette.png", PNG_FORMAT_RGB | PNG_FORMAT_FLAG_COLORMAP);
  jpeg("grey.jpg", 1, false);
  jpeg("colors.jpg", 3, false);
  jpeg("progressive.jpg", 3, true);
}

void checkpointSeeds() {
  data::Array weight = array("fc.weight", data::DType::f32, {2, 2});
  std::vector<checkpoints::ArrayView> views = {{weight.name, weight.dtype, weight.shape, weight.bytes}};
  std::vector<char> file;
  checkpoints::formatArrays(views, file);
  std::string whole =
      checkpoints::formatManifest({12, 3, 4, 42, "c0", "a1", ""}, file.size(), checkpoints::checksum(file)) + '\0';
  whole.append(file.begin(), file.end());
  save("checkpoint", "one", whole);
}

// One entry with something of everything, one with two lanes that wait for each other.
void packages() {
  using namespace rt::test;
  save("package", "add.sprig", addPackage(4).encode());
  // Every collective, of rows that ranks share evenly, and of one rank's program where they do not; buckets on a lane.
  for (int kind = 0; kind <= int(rt::collective::Kind::part); ++kind) {
    rt::core::Collective call{.kind = rt::collective::Kind(kind)};
    std::string name(nameOf(call.kind));
    save("package", name + ".sprig", callPackage(2, 0, call, 4, 2).encode());
    if (rt::collective::formOf(call.kind) != rt::collective::Form::inPlace &&
        call.kind != rt::collective::Kind::allToAll)
      save("package", name + "-uneven.sprig", callPackage(3, 1, call, 5, 1).encode());
  }
  save("package", "buckets.sprig", bucketPackage(2, 5, 2).encode());
  // Ranks of a mesh: every collective along an axis, in a program of all ranks, and in one of a rank that has pieces of
  // arrays.
  for (int kind = 0; kind < int(rt::collective::Kind::part); ++kind)
    for (int32_t rank : {-1, 3}) {
      rt::core::Collective call{.kind = rt::collective::Kind(kind), .axes = {1}};
      TestPackage package = callPackage(2, rank < 0 ? 0 : 1, call, 4, 2);
      rt::core::Entry &entry = package.program.entries[0];
      entry.ranks = 4;
      entry.rank = rank;
      entry.mesh = {{"data", 2}, {"model", 2}};
      for (auto *types : {&entry.inputs, &entry.outputs})
        for (rt::core::TensorType &type : *types) {
          if (rank < 0) continue;
          type.piece = {type.shape.begin(), type.shape.end()};
          if (!type.piece.empty()) type.piece[0] *= 2;
          for (size_t dim = 0; dim < type.shape.size(); ++dim) type.piece.push_back(dim == 0 ? type.shape[0] : 0);
        }
      save("package", std::string(nameOf(call.kind)) + (rank < 0 ? "-mesh.sprig" : "-mesh-rank.sprig"),
           package.encode());
    }
  TestPackage endless = addPackage(4); // more tiles than sums of them hold
  endless.program.entries[0].lanes[0].commands[0].tiles = INT64_MAX;
  save("package", "endless.sprig", endless.encode());
  TestPackage package;
  uint32_t constant = package.addConstant({1, 2, 3, 4});
  package.program.constants.push_back({"splat", 16, 0, {9, 0, 0, 0}});
  package.program.states.push_back({{"state", SPRIG_RT_U32, {4}, 0}, constant});
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4}), t = entry.arena(16), u = entry.arena(16);
  uint32_t state = entry.state(0, 16), done = entry.event(), back = entry.event();
  entry.dispatch(0, Add, {x, entry.constant(constant, 16), t}, 4);
  entry.record(0, done);
  entry.wait(1, done);
  entry.dispatch(1, Scratch, {t, u}, 4, 2);
  entry.record(1, back);
  entry.wait(0, back);
  entry.dispatch(0, Mix, {u, state, y}, 4);
  entry.copy(0, u, state);
  entry.entry.updatesState = true;
  entry.entry.lanes[0].commands[0].parts = {{"fc", "nn.add", "4xi32", "model.onnx:3", 4, 16, 0, 0, 0, ""}};
  package.program.entries.push_back(entry.entry);
  for (int64_t batch : {2, 8}) {
    EntryBuilder rows("rows");
    uint32_t in = rows.input("in", {batch, 2}), out = rows.output("out", {batch, 2});
    rows.dispatch(0, Scratch, {in, out}, 2 * batch);
    rows.entry.independentSamples = true;
    package.program.entries.push_back(rows.entry);
  }
  EntryBuilder grows("grows");
  uint32_t given = grows.input("in", {2, 8}), made = grows.output("out", {2, 8});
  grows.input("length of 'time'", {}, SPRIG_RT_I64);
  grows.dispatch(0, Scratch, {given, made}, 16);
  grows.entry.inputs[0].growing = grows.entry.outputs[0].growing = {{1, 2, 0, 1}};
  grows.entry.lengths = rt::core::Lengths{"time", 3, 4};
  package.program.entries.push_back(grows.entry);
  package.program.images[0].functions = {{"add", 0, 8}};
  save("package", "rich.sprig", package.encode());
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  root = argv[1];
  arrays();
  topologies();
  images();
  checkpointSeeds();
  packages();
}
