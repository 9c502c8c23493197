#include "test/gpu/ptx/Lexer.h"
#include <cctype>

using namespace sprig::ptx;

static bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
}

std::vector<Token> sprig::ptx::lex(std::string_view text, const std::string &file) {
  std::vector<Token> tokens;
  unsigned line = 1;
  size_t i = 0;
  auto fail = [&](const std::string &what) { throw PtxError(file + ":" + std::to_string(line) + ": " + what); };
  auto add = [&](Token::Form form, size_t begin, size_t end) {
    tokens.push_back({form, text.substr(begin, end - begin), line});
    i = end;
  };
  while (i < text.size()) {
    char c = text[i];
    if (c == '\n') {
      ++line, ++i;
    } else if (std::isspace(static_cast<unsigned char>(c)) || c == '\0') {
      ++i;
    } else if (text.substr(i, 2) == "//" || c == '#') {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      size_t end = text.find("*/", i + 2);
      if (end == text.npos) fail("a comment does not end");
      for (; i < end + 2; ++i) line += text[i] == '\n';
    } else if (c == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      if (end >= text.size() || text[end] != '"') fail("a string does not end");
      add(Token::Form::String, i + 1, end);
      ++i;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      // 12, 0x1F, 0f3F800000, 0d..., 12U, 1.5e-3
      size_t end = i + 1;
      auto isExponentSign = [&] {
        return (text[end] == '+' || text[end] == '-') && (text[end - 1] == 'e' || text[end - 1] == 'E') &&
               text[i + 1] != 'x' && text[i + 1] != 'f' && text[i + 1] != 'F' && text[i + 1] != 'd' &&
               text[i + 1] != 'D';
      };
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '.' || isExponentSign()))
        ++end;
      add(Token::Form::Number, i, end);
    } else if (isWordStart(c)) {
      // `::` belongs to a word (.L2::128B) where something follows it.
      size_t end = i + 1;
      while (end < text.size()) {
        if (isWordPart(text[end]))
          ++end;
        else if (text.substr(end, 2) == "::" && end + 2 < text.size() && isWordPart(text[end + 2]))
          end += 2;
        else
          break;
      }
      add(Token::Form::Word, i, end);
    } else if (std::string_view("{}[]()<>,;:=+-!@|~*").find(c) != std::string_view::npos) {
      add(Token::Form::Punctuation, i, i + 1);
    } else {
      fail(std::string("there is a '") + c + "', where PTX has none");
    }
  }
  tokens.push_back({Token::Form::End, "the end of the text", line});
  return tokens;
}
