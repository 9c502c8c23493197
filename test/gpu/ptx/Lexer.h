// Words of PTX text, for the parser. Comments, and lines of preprocessed text (#), are skipped.
#ifndef SPRIG_TEST_GPU_PTX_LEXER_H
#define SPRIG_TEST_GPU_PTX_LEXER_H

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::ptx {

// What is wrong with a PTX text: "FILE:LINE: ...".
struct PtxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Token {
  // Word: an identifier, a dotted name (ld.global.f32, %tid.x) or a directive (.reg). Number: as written. String: its
  // content.
  enum class Form { Word, Number, String, Punctuation, End } form = Form::End;
  std::string_view text;
  unsigned line = 0;
  bool is(std::string_view other) const { return form != Form::String && text == other; }
};

std::vector<Token> lex(std::string_view text, const std::string &file);

} // namespace sprig::ptx
#endif
