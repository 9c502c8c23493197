#include "lib/Checkpoint/Files.h"
#include "test/unit/Checkpoint/Fixture.h"
#include <fstream>

using namespace sprig;
using namespace sprig::checkpoints;

namespace {

// Without syncing, which thousands of times takes long.
void overwrite(const fs::path &file, const std::vector<char> &bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

} // namespace

TEST_F(Checkpoints, WhatIsSavedComesBack) {
  EXPECT_TRUE(listSteps(folder).empty());
  save({7});
  expectState(load(folder / "step-7"), State(7));
  expectState(loadForResume(folder), State(7));
  expectState(loadForResume(folder / "step-7"), State(7));
  expectState(loadForResume(folder / "step-7" / ""), State(7));
  // The arrays are a file that other programs read.
  EXPECT_EQ(data::parseSafetensors(data::readFile(folder / "step-7" / "arrays.safetensors"), "f").size(), 2u);
}

TEST_F(Checkpoints, TheLastFewAreKept) {
  save({1, 2, 10, 20, 100}, 3);
  EXPECT_EQ(listSteps(folder), (std::vector<int64_t>{100, 20, 10}));
  expectState(loadForResume(folder), State(100));
  EXPECT_TRUE(nothingAside());
}

TEST_F(Checkpoints, ARunFromAnEarlierStepTakesThePlaceOfTheLaterOnes) {
  save({10, 20, 30}, 5);
  Writer writer(folder, 5);
  State changed(20);
  changed.weights[0] = -1;
  writer.save(manifestOf(20), changed.views());
  writer.wait();
  EXPECT_EQ(listSteps(folder), (std::vector<int64_t>{20, 10}));
  expectState(loadForResume(folder), changed);
  EXPECT_TRUE(nothingAside());
}

TEST_F(Checkpoints, SavingCopies) {
  Writer writer(folder, 10);
  State state(1, 300000);
  for (int64_t step = 1; step <= 5; ++step) {
    State now(step, 300000);
    state.weights = now.weights;
    state.step = step;
    writer.save(manifestOf(step), state.views());
    std::fill(state.weights.begin(), state.weights.end(), -1.f); // the next step goes on at once
  }
  writer.wait();
  for (int64_t step = 1; step <= 5; ++step) expectState(load(stepFolder(folder, step)), State(step, 300000));
}

TEST_F(Checkpoints, WhatKilledProcessesLeftIsRemovedAndIgnored) {
  save({5});
  fs::create_directories(folder / ".tmp-new-123-9");
  data::writeFile(folder / ".tmp-new-123-9" / "arrays.safetensors", std::string("half"));
  fs::create_directories(folder / "step-x");
  fs::create_directories(folder / "step-07"); // no name that this program writes
  EXPECT_EQ(listSteps(folder), std::vector<int64_t>{5});
  Writer writer(folder, 3);
  EXPECT_TRUE(nothingAside());
  EXPECT_TRUE(fs::exists(folder / "step-x"));
}

TEST_F(Checkpoints, OneWriterAtATime) {
  Writer writer(folder, 3);
  EXPECT_EQ(refusal([&] { Writer second(folder, 3); }, ErrorKind::usage),
            folder.string() + ": another process is writing checkpoints there");
}

TEST_F(Checkpoints, ADamagedOneIsRefusedAndThePreviousOffered) {
  save({10, 20, 30}, 5);
  fs::path arrays = folder / "step-30" / "arrays.safetensors";
  std::vector<char> bytes = data::readFile(arrays);
  bytes.resize(bytes.size() - 1);
  overwrite(arrays, bytes);
  EXPECT_EQ(refusal([&] { loadForResume(folder); }),
            arrays.string() + ": is cut off: it has " + std::to_string(bytes.size()) + " bytes, the manifest says " +
                std::to_string(bytes.size() + 1) +
                "\nnote: the checkpoint before it is sound: --resume=" + (folder / "step-20").string());
  fs::remove(folder / "step-20" / "manifest.json");
  EXPECT_NE(refusal([&] { loadForResume(folder / "step-30"); }).find("--resume=" + (folder / "step-10").string()),
            std::string::npos);
  EXPECT_EQ(refusal([&] { load(folder / "step-20"); }),
            (folder / "step-20" / "manifest.json").string() + ": is missing");
  fs::remove_all(folder / "step-10");
  EXPECT_NE(refusal([&] { loadForResume(folder); }).find("\nnote: no other checkpoint there is sound"),
            std::string::npos);
  fs::remove_all(folder / "step-20");
  EXPECT_NE(refusal([&] { loadForResume(folder); }).find("\nnote: there is no other checkpoint"), std::string::npos);
}

TEST_F(Checkpoints, EveryCutAndEveryChangedByteIsFound) {
  Writer writer(folder, 3);
  writer.save(manifestOf(3), State(3, 8).views());
  writer.wait();
  fs::path step = folder / "step-3";
  for (const char *name : {kArraysFile, kManifestFile}) {
    std::vector<char> whole = data::readFile(step / name);
    for (size_t size = 0; size < whole.size(); size += 3) {
      overwrite(step / name, {whole.begin(), whole.begin() + ptrdiff_t(size)});
      refusal([&] { load(step); });
    }
    for (size_t at = 0; at < whole.size(); ++at)
      for (char mask : {char(1), char(0x80)}) {
        std::vector<char> flipped = whole;
        flipped[at] ^= mask;
        overwrite(step / name, flipped);
        refusal([&] { load(step); });
      }
    std::vector<char> longer = whole;
    longer.push_back('\n');
    overwrite(step / name, longer);
    refusal([&] { load(step); });
    overwrite(step / name, whole);
    expectState(load(step), State(3, 8));
  }
}

TEST_F(Checkpoints, FilesOfDifferentCheckpointsDoNotMix) {
  save({1, 2});
  fs::copy_file(folder / "step-1" / "arrays.safetensors", folder / "step-2" / "arrays.safetensors",
                fs::copy_options::overwrite_existing);
  EXPECT_NE(refusal([&] { load(folder / "step-2"); }).find("its checksum is not the manifest's"), std::string::npos);
  fs::rename(folder / "step-1", folder / "step-8");
  EXPECT_EQ(refusal([&] { load(folder / "step-8"); }),
            (folder / "step-8" / "manifest.json").string() + ": is of step 1, its folder is step-8");
}

// A manifest with another value of a field, and the checksum that it then has.
std::string manifestWith(const std::string &field, const std::string &value) {
  std::string text = formatManifest(manifestOf(1), 1, 2);
  size_t at = text.find('"' + field + "\": ") + field.size() + 4;
  text.replace(at, text.find(',', at) - at, value);
  text.replace(text.size() - 20, 16, std::string(16, '0'));
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(checksum(text)));
  return text.replace(text.size() - 20, 16, digits);
}

TEST_F(Checkpoints, AManifestHoldsCounts) {
  for (const char *field : {"format", "step", "epoch", "index", "seed", "arrays_bytes"})
    for (const char *value : {"-1", "1.5", "true", "1e300", "[1]"}) {
      std::string text = manifestWith(field, value);
      EXPECT_EQ(refusal([&] { parseManifest(text, "manifest.json"); }),
                std::string("manifest.json: is no manifest: '") + field + "' is no count");
    }
  EXPECT_EQ(refusal([&] { parseManifest(manifestWith("settings", "[1]"), "manifest.json"); }),
            "manifest.json: is no manifest: 'settings' is no object");
  std::string nested = manifestWith("step", std::string(100'000, '[') + std::string(100'000, ']'));
  EXPECT_EQ(refusal([&] { parseManifest(nested, "manifest.json"); }), "manifest.json: is nested deeper than 64 levels");
  std::string text = manifestWith("seed", "18446744073709551615");
  EXPECT_EQ(parseManifest(text, "manifest.json").manifest.seed, UINT64_MAX);
}

TEST_F(Checkpoints, ANewerFormatIsRefusedByName) {
  save({1});
  data::writeFile(folder / "step-1" / "manifest.json", manifestWith("format", "9"));
  EXPECT_NE(refusal([&] { load(folder / "step-1"); }).find("has format 9, this Sprig reads up to 1"),
            std::string::npos);
}

TEST_F(Checkpoints, WhatIsNoFolderOfCheckpoints) {
  EXPECT_EQ(refusal([&] { loadForResume(folder); }), folder.string() + ": there is no such folder of checkpoints");
  fs::create_directories(folder);
  EXPECT_EQ(refusal([&] { loadForResume(folder); }), folder.string() + ": holds no checkpoint (step-N)");
  data::writeFile(root / "file", std::string("x"));
  EXPECT_EQ(refusal([&] { loadForResume(root / "file"); }),
            (root / "file").string() + ": is a file, expected a folder of checkpoints");
  EXPECT_NE(refusal([&] { Writer writer(root / "file", 3); }, ErrorKind::runtime).find("cannot be made"),
            std::string::npos);
}

TEST(Digest, KnownAnswers) {
  EXPECT_EQ(digest(std::string_view("")), "99aa06d3014798d86001c324468d497f"); // XXH3_128bits of nothing
  EXPECT_NE(digest(std::string_view("a")), digest(std::string_view("b")));
}
