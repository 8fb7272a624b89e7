#include "model_io/families/left_out.h"

#include <algorithm>
#include <iterator>

namespace tril::model {
namespace {

constexpr LeftOut kLeftOut[] = {
    {"the selective state space of the first Mamba", "mamba falcon_mamba jamba zamba"},
    {"layers that share one attention, with adapters of their own", "zamba2"},
    {"other recurrent states: RWKV, xLSTM, RG-LRU", "rwkv xlstm recurrent_gemma"},
    {"lightning attention, Kimi's delta attention, or a gated delta rule in another form",
     "minimax kimi_linear bailing_hybrid olmo_hybrid"},
    {"an indexer that selects the tokens to attend to; some have several residual streams too",
     "deepseek_v32 deepseek_v4 glm_moe_dsa axk2 hy_v4 dots3_note dots3_note_text minimax_m3_vl_text qwen4_exp "
     "qwen4_exp_text"},
    {"several residual streams, and gates of sparse activations; the assistants read another model's states",
     "gemma3n gemma3n_text gemma4_assistant gemma4_unified_assistant"},
    {"relative logits, convolutions of queries and keys", "inkling_text inkling2_text inkling2_loop_text zaya"},
    {"layers that run several times", "dory hrm_text"},
    {"chunked attention", "llama4 llama4_text"},
    {"differential attention, masks computed from values, a mixture of attention heads", "diffllama doge jetmoe"},
    {"a scale of values, and values with a width other than that of keys", "mimo_v2_flash"},
    {"experts that return their input, and two attentions in a layer", "longcat_flash"},
    {"routers of their own", "beam aria_text"},
    {"weights stored under other names or in other layouts", "gpt_neox_japanese dbrx"},
    {"the text models of multimodal families", "apertus1p5_text cohere_compass_text"},
    {"other layouts of layers, relative or sparse attention, byte patches, several streams",
     "openai-gpt ctrl cpmant xlm xlnet reformer blt modernbert-decoder prophetnet bigbird_pegasus"},
    {"encoders with a decoder's mask, token types and a head of their own",
     "bert bert-generation big_bird camembert data2vec-text electra ernie megatron-bert rembert roberta "
     "roberta-prelayernorm roc_bert roformer xlm-roberta xlm-roberta-xl xmod"},
    {"inputs or outputs other than text",
     "emu3 fuyu git mllama phi4_multimodal moshi musicgen musicgen_melody trocr whisper"},
    {"local, sparse or chunked attention in the encoder", "led longt5 pegasus_x bigbird_pegasus"},
    {"two experts for each token in an encoder-decoder", "nllb-moe"},
    {"a tokenizer by Moses' rules", "fsmt"},
    {"self-attention and cross-attention in one softmax", "t5gemma2"},
    {"several streams of predictions", "prophetnet"},
    {"any encoder with any decoder", "encoder-decoder"},
    {"speech as input", "audioflamingo3 musicflamingo nemo_speechlm seamless_m4t seamless_m4t_v2 voxtral_realtime"},
};

// Whether a list separated by spaces has this name.
bool names(std::string_view list, std::string_view name) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(' ', begin), list.size());
    if (list.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::span<const LeftOut> left_out() {
  return kLeftOut;
}

std::string_view missing_for(std::string_view model_type) {
  const auto found =
      std::ranges::find_if(kLeftOut, [&](const LeftOut& row) { return names(row.families, model_type); });
  return found == std::end(kLeftOut) ? std::string_view() : found->missing;
}

}  // namespace tril::model
