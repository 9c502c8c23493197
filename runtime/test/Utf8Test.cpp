// What stands for bytes that are no UTF-8.
#include "sprig/rt/trace.hpp"
#include "sprig/rt/utf8.hpp"

#include <gtest/gtest.h>

namespace sprig::rt {
namespace {

TEST(Utf8, WellFormedTextStays) {
  for (const char *text : {"", "a", "d\u00e9j\u00e0", "\u4e2d\u6587", "\U0001f331", "\u0080", "\u0800", "\U00010000",
                           "\ud7ff", "\ue000", "\U0010ffff", "\ufffd"})
    EXPECT_EQ(validUtf8(text), text);
  EXPECT_EQ(validUtf8(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

// The examples of the Unicode standard (chapter 3, U+FFFD Substitution of Maximal Subparts).
TEST(Utf8, EachLongestStartIsReplacedOnce) {
  EXPECT_EQ(validUtf8("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41"), "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA");
  EXPECT_EQ(validUtf8("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41"), "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffdA");
  EXPECT_EQ(validUtf8("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42"), "\ufffd\ufffd\ufffd\ufffd\ufffdA\ufffd\ufffdB");
  EXPECT_EQ(validUtf8("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41"), "\ufffd\ufffd\ufffd\ufffdA");
}

TEST(Utf8, CutOffSequencesAreTold) {
  EXPECT_TRUE(utf8Start("\xe2\x82").cutOff);
  EXPECT_TRUE(utf8Start("\xf0").cutOff);
  EXPECT_FALSE(utf8Start("\xe2\x41").cutOff);
  EXPECT_FALSE(utf8Start("\xff").cutOff);
  EXPECT_EQ(utf8Start("\xe2\x82").size, 2u);
}

TEST(Utf8, TracesAreWellFormed) { EXPECT_EQ(jsonString("a\xff\"\x1b\\"), "\"a\ufffd\\\"\\u001b\\\\\""); }

} // namespace
} // namespace sprig::rt
