#include "lib/Import/ONNX/MicrosoftSchemas.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <map>

namespace sprig::onnximport {

namespace {

/// An operator in short. Inputs and outputs as "name:type", where the type is one of `types` or an element type; '?'
/// behind the name marks what may be left out, '*' any number of any types. Attributes as "name:kind", kinds f, i, s
/// and the lists F, I and S; '!' marks those that have to be given. Types as "T=float,float16".
struct Row {
  const char *name, *inputs, *outputs, *attributes, *types;
  const char *domain = kMicrosoftDomain;
};

constexpr const char *kConvAttributes = "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I";
constexpr const char *kFusedConvAttributes =
    "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I activation:s activation_params:F";
constexpr const char *kFloats = "T=float,float16,double,bfloat16";
constexpr const char *kBytes = "T=uint8,int8";
constexpr const char *kBinaryQuantized = "A:T A_scale:float A_zero_point?:T B:T B_scale:float B_zero_point?:T "
                                         "C_scale:float C_zero_point?:T";
constexpr const char *kUnaryQuantized = "X:T X_scale:float X_zero_point?:T Y_scale:float Y_zero_point?:T";

constexpr Row kRows[] = {
    {"LayerNormalization", "X:T Scale:V B?:V", "Y:V Mean?:U InvStdDev?:U", "axis:i epsilon:f stash_type:i",
     "T=float,float16,double,bfloat16 V=float,float16,double,bfloat16 U=float,double", ""},
    {"SimplifiedLayerNormalization", "X:T scale:V", "Y:V inv_std_var?:U", "axis:i epsilon:f stash_type:i",
     "T=float,float16,double,bfloat16 V=float,float16,double,bfloat16 U=float,double", ""},
    {"SkipLayerNormalization", "input:T skip:T gamma:T beta?:T bias?:T",
     "output:T mean?:float inv_std_var?:float input_skip_bias_sum?:T", "epsilon:f", kFloats},
    {"SkipSimplifiedLayerNormalization", "input:T skip:T gamma:T bias?:T",
     "output:T mean?:float inv_std_var?:float input_skip_bias_sum?:T", "epsilon:f", kFloats},
    {"EmbedLayerNormalization",
     "input_ids:I segment_ids?:I word_embedding:T position_embedding:T segment_embedding?:T gamma:T beta:T mask?:I "
     "position_ids?:I",
     "output:T mask_index?:int32 embedding_sum?:T", "epsilon:f mask_index_type:i",
     "T=float,float16,double,bfloat16 I=int32,int64"},
    {"FusedMatMul", "A:T B:T", "Y:T", "alpha:f transA:i transB:i transBatchA:i transBatchB:i", kFloats},
    {"FusedGemm", "A:T B:T C?:T", "Y:T",
     "alpha:f beta:f transA:i transB:i activation:s activation_alpha:f activation_beta:f activation_gamma:f", kFloats},
    {"FusedConv", "X:T W:T B?:T Z?:T", "Y:T", kFusedConvAttributes, kFloats},
    {"NhwcConv", "X:T W:T B?:T", "Y:T", kConvAttributes, kFloats},
    {"Gelu", "X:T", "Y:T", "", kFloats},
    {"BiasGelu", "A:T B:T", "C:T", "", kFloats},
    {"FastGelu", "X:T bias?:T", "Y:T", "", kFloats},
    {"QuickGelu", "X:T", "Y:T", "alpha:f", kFloats},
    {"BiasAdd", "X:T bias:T skip:T", "Y:T", "", kFloats},
    {"RotaryEmbedding", "input:T position_ids:M cos_cache:T sin_cache:T", "output:T",
     "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f",
     "T=float,float16,bfloat16 M=int64"},
    {"Attention", "input:T weights:T bias?:T mask_index?:M past?:T attention_bias?:T past_sequence_length?:M",
     "output:T present?:T",
     "num_heads!:i unidirectional:i scale:f mask_filter_value:f qkv_hidden_sizes:I do_rotary:i rotary_embedding_dim:i "
     "past_present_share_buffer:i",
     "T=float,float16,bfloat16 M=int32"},
    {"MultiHeadAttention",
     "query:T key?:T value?:T bias?:T key_padding_mask?:M attention_bias?:T past_key?:T past_value?:T "
     "past_sequence_length?:M cache_indirection?:M",
     "output:T present_key?:T present_value?:T qk?:T", "num_heads!:i unidirectional:i scale:f mask_filter_value:f",
     "T=float,float16,bfloat16 M=int32"},
    {"GroupQueryAttention",
     "query:T key?:T value?:T past_key?:T past_value?:T seqlens_k:M total_sequence_length:M cos_cache?:T sin_cache?:T "
     "position_ids?:int64 attention_bias?:T head_sink?:T",
     "output:T present_key?:T present_value?:T output_qk?:T",
     "num_heads!:i kv_num_heads!:i scale:f softcap:f local_window_size:i do_rotary:i rotary_interleaved:i "
     "smooth_softmax:i qk_output:i causal:i k_quant_type:s v_quant_type:s kv_cache_bit_width:i",
     "T=float,float16,bfloat16 M=int32"},
    {"MatMulNBits", "A:T1 B:uint8 scales:T1 zero_points?:T3 g_idx?:int32 bias?:T1", "Y:T1",
     "K!:i N!:i bits:i block_size!:i accuracy_level:i weight_prepacked:i",
     "T1=float,float16,bfloat16 T3=uint8,float,float16,bfloat16"},
    {"GroupNorm", "X:T gamma:M beta:M", "Y:T", "groups!:i activation!:i channels_last:i epsilon:f",
     "T=float,float16 M=float,float16"},
    {"Trilu", "X:T k?:int64", "Y:T", "upper:i",
     "T=float,float16,double,bfloat16,uint8,uint16,uint32,uint64,int8,int16,int32,int64,bool"},
    {"Pad", "data:T pads:int64 value?:T", "output:T", "mode:s", "T=float,float16,double"},
    {"QAttention",
     "input:T1 weight:T2 bias:T3 input_scale:T3 weight_scale:T3 mask_index?:T4 input_zero_point?:T1 "
     "weight_zero_point?:T2 past?:T3",
     "output:T3 present?:T3",
     "num_heads!:i unidirectional:i scale:f mask_filter_value:f do_rotary:i past_present_share_buffer:i",
     "T1=uint8,int8 T2=uint8,int8 T3=float T4=int32"},
    {"QLinearAdd", kBinaryQuantized, "C:T", "", kBytes},
    {"QLinearMul", kBinaryQuantized, "C:T", "", kBytes},
    {"QLinearSigmoid", kUnaryQuantized, "Y:T", "", kBytes},
    {"QLinearLeakyRelu", kUnaryQuantized, "Y:T", "alpha:f", kBytes},
    {"QLinearSoftmax", kUnaryQuantized, "Y:T", "axis:i opset!:i", kBytes},
    {"QLinearGlobalAveragePool", kUnaryQuantized, "Y:T", "channels_last:i", kBytes},
    {"QLinearAveragePool", kUnaryQuantized, "Y:T",
     "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i kernel_shape!:I pads:I strides:I", kBytes},
    {"QLinearConcat", "Y_scale:float Y_zero_point:T inputs*:V", "Y:T", "axis!:i", "T=uint8,int8 V=uint8,int8,float"},
    {"QGemm", "A:TA a_scale:T a_zero_point:TA B:TB b_scale:T b_zero_point:TB C?:TC y_scale?:T y_zero_point?:TY", "Y:TO",
     "alpha:f transA:i transB:i", "T=float TA=uint8,int8 TB=uint8,int8 TC=int32 TY=uint8,int8 TO=float,uint8,int8"},
    {"MatMulIntegerToFloat", "A:T1 B:T2 a_scale:T3 b_scale:T3 a_zero_point?:T1 b_zero_point?:T2 bias?:T3", "Y:T3", "",
     "T1=uint8,int8 T2=uint8,int8 T3=float,float16"},
    {"DynamicQuantizeMatMul", "A:T1 B:T2 b_scale:T1 b_zero_point?:T2 bias?:T1", "Y:T1", "", "T1=float T2=uint8,int8"},
    {"DynamicQuantizeLSTM",
     "X:T W:T2 R:T2 B?:T sequence_lens?:T1 initial_h?:T initial_c?:T P?:T W_scale:T W_zero_point:T2 R_scale:T "
     "R_zero_point:T2",
     "Y?:T Y_h?:T Y_c?:T",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i input_forget:i",
     "T=float T1=int32 T2=uint8,int8"},
    {"QuantizeLinear", "x:T1 y_scale:T1 y_zero_point?:T2", "y:T2", "axis:i",
     "T1=float,float16 T2=uint8,int8,uint16,int16"},
    {"DequantizeLinear", "x:T1 x_scale:T2 x_zero_point?:T1", "y:T2", "axis:i",
     "T1=uint8,int8,uint16,int16,int32 T2=float,float16"},
};

using TypeNames = llvm::SmallVector<llvm::StringRef>;

TypeNames wordsOf(llvm::StringRef text, char at) {
  TypeNames words;
  text.split(words, at, -1, false);
  return words;
}

onnx::AttributeProto::AttributeType kindOfLetter(char letter) {
  switch (letter) {
  case 'f': return onnx::AttributeProto::FLOAT;
  case 'i': return onnx::AttributeProto::INT;
  case 's': return onnx::AttributeProto::STRING;
  case 'F': return onnx::AttributeProto::FLOATS;
  case 'I': return onnx::AttributeProto::INTS;
  default: return onnx::AttributeProto::STRINGS;
  }
}

/// Calls `add(place, name, type, option)` for each input or output.
template <typename Add> void eachFormal(const char *formals, const char *types, const Add &add) {
  int place = 0;
  for (llvm::StringRef word : wordsOf(formals, ' ')) {
    auto [name, type] = word.split(':');
    auto option = onnx::OpSchema::Single;
    if (name.consume_back("?")) option = onnx::OpSchema::Optional;
    if (name.consume_back("*")) option = onnx::OpSchema::Variadic;
    bool isVariable =
        llvm::any_of(wordsOf(types, ' '), [&](llvm::StringRef row) { return row.split('=').first == type; });
    add(place++, name.str(), isVariable ? type.str() : "tensor(" + type.str() + ")", option);
  }
}

onnx::OpSchema make(const Row &row) {
  onnx::OpSchema schema(row.name, __FILE__, __LINE__);
  schema.SetDomain(row.domain).SinceVersion(1);
  eachFormal(row.inputs, row.types, [&](int place, std::string name, std::string type, auto option) {
    schema.Input(place, name, "", type, option, option != onnx::OpSchema::Variadic);
  });
  eachFormal(row.outputs, row.types, [&](int place, std::string name, std::string type, auto option) {
    schema.Output(place, name, "", type, option);
  });
  for (llvm::StringRef word : wordsOf(row.attributes, ' ')) {
    auto [name, kind] = word.split(':');
    bool required = name.consume_back("!");
    schema.Attr(name.str(), "", kindOfLetter(kind.front()), required);
  }
  for (llvm::StringRef word : wordsOf(row.types, ' ')) {
    auto [variable, names] = word.split('=');
    std::vector<std::string> allowed;
    for (llvm::StringRef name : wordsOf(names, ',')) allowed.push_back("tensor(" + name.str() + ")");
    schema.TypeConstraint(variable.str(), allowed, "");
  }
  schema.Finalize();
  return schema;
}

} // namespace

const onnx::OpSchema *findMicrosoftSchema(const std::string &op, const std::string &domain) {
  static const auto &schemas = *[] {
    auto *made = new std::map<std::pair<std::string, std::string>, onnx::OpSchema>;
    for (const Row &row : kRows) made->emplace(std::pair(std::string(row.domain), std::string(row.name)), make(row));
    return made;
  }();
  auto found = schemas.find({domain, op});
  return found == schemas.end() ? nullptr : &found->second;
}

} // namespace sprig::onnximport
