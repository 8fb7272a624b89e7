// internlm2: InternLM 2 and 2.5. Llama with names of its own; files hold the queries of a key head, its key and its value side by side
// in one matrix [Cai et al. 2024, "InternLM2 technical report", section 2.2].
#include <nlohmann/json.hpp>

#include "model/families/decoder_families.h"
#include "model/spec/llama_like.h"

namespace tril::model {
namespace {

constexpr const char* kOutput = "output.weight";  // what files call lm_head

class InternLm2 : public LlamaLike {
 public:
  using LlamaLike::LlamaLike;
  StoredAs stored_as(const nn::Parameter& p) const override {
    StoredAs stored = LlamaLike::stored_as(p);
    if (p.name == "lm_head.weight") stored.names = {kOutput};
    return stored;
  }
  Redundant redundant(std::string_view name) const override {
    return LlamaLike::redundant(name == kOutput ? "lm_head.weight" : name);
  }
};

}  // namespace

std::unique_ptr<Model> make_internlm2(const JsonObject& config) {
  ConfigReader reader(config, "internlm2");
  LlamaLikeConfig k = read_llama_like(
      reader,
      {.family = "internlm2",
       .architecture = "InternLM2ForCausalLM",
       .vocab_size = 103168,
       .hidden_size = 4096,
       .intermediate_size = 11008,
       .num_hidden_layers = 32,
       .num_attention_heads = 32,
       .reads_head_dim = false,
       .max_position_embeddings = 2048,
       .pad_token_id = 0,
       .fused = LlamaLikeConfig::Fused::by_key_head,
       .attention_name = "attention",
       .qkv_name = "wqkv",
       .out_name = "wo",
       .embedding_name = "model.tok_embeddings",
       .feed_forward_name = "feed_forward",
       .gate_name = "w1",
       .up_name = "w3",
       .down_name = "w2",
       .norm_names = {.before_attention = "attention_norm", .before_feed_forward = "ffn_norm", .last = "model.norm"}});
  k.attention_bias = k.attention_out_bias = read_own_bool(reader, k, "bias", true);
  reader.ignore({"pretraining_tp"});
  reader.finish();
  return std::make_unique<InternLm2>(std::move(k));
}

}  // namespace tril::model
