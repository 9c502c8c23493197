#include "lib/Events/Record.h"
#include <gtest/gtest.h>
#include <numeric>

namespace sprig::events {
namespace {

using namespace std::string_literals;

// RFC 3720, appendix B.4.
TEST(Record, ChecksumsOfTheStandard) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string up(32, '\0');
  std::iota(up.begin(), up.end(), char(0));
  EXPECT_EQ(crc32c(up), 0x46dd794eu);
  EXPECT_EQ(crc32c(std::string(up.rbegin(), up.rend())), 0x113fdb5cu);
  std::string read10 = "\x01\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x14\0\0\0\0\0\x04\0\0\0\0\x14\0\0\0\x18"s
                       "\x28\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"s;
  ASSERT_EQ(read10.size(), 48u);
  EXPECT_EQ(crc32c(read10), 0xd9963a56u);
  EXPECT_EQ(crc32c(""), 0u);
}

// Records as TensorBoard 2.21 writes them (tensorboard.summary.writer.record_writer).
TEST(Record, BytesAsTensorBoardWritesThem) {
  std::string file;
  appendRecord(file, "sprig");
  EXPECT_EQ(file, "\x05\0\0\0\0\0\0\0\xea\xb2\x04\x3e\x73\x70\x72\x69\x67\x46\x1e\xe4\x61"s);
  file.clear();
  appendRecord(file, "");
  EXPECT_EQ(file, "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2"s);
}

} // namespace
} // namespace sprig::events
