// Operators that Sprig does not compile, each with the reason.
#include "lib/Import/ONNX/Table.h"

namespace sprig::onnximport {

void addRefusals(Table &t) {
  t.refuse({"StringConcat", "StringNormalizer", "StringSplit", "RegexFullMatch", "TfIdfVectorizer"},
           "works on strings or n-grams of text, which Sprig does not have");
  t.refuse({"ImageDecoder"}, "decodes image files, which belongs in front of a compiled network");
  t.refuse({"Gradient"}, "asks for a gradient, which Sprig does not import yet");
}

} // namespace sprig::onnximport
