// The families of decoder-only models and the encoder-decoders built of the same layers, one file each. Each function makes
// the model from config.json; weights are neither allocated nor set.
#pragma once

#include <memory>

#include "format/json_file.h"
#include "model/spec/model.h"
#include "model/spec/weight_names.h"

namespace tril::model {

// Built by llama_like.h:
std::unique_ptr<Model> make_afmoe(const JsonObject& config);
std::unique_ptr<Model> make_apertus(const JsonObject& config);
std::unique_ptr<Model> make_arcee(const JsonObject& config);
std::unique_ptr<Model> make_axk1(const JsonObject& config);
std::unique_ptr<Model> make_bamba(const JsonObject& config);
std::unique_ptr<Model> make_bitnet(const JsonObject& config);
std::unique_ptr<Model> make_cohere(const JsonObject& config);
std::unique_ptr<Model> make_cohere2(const JsonObject& config);
std::unique_ptr<Model> make_cohere2_moe(const JsonObject& config);
std::unique_ptr<Model> make_deepseek_v2(const JsonObject& config);
std::unique_ptr<Model> make_deepseek_v3(const JsonObject& config);
std::unique_ptr<Model> make_dots1(const JsonObject& config);
std::unique_ptr<Model> make_ernie4_5(const JsonObject& config);
std::unique_ptr<Model> make_ernie4_5_moe(const JsonObject& config);
std::unique_ptr<Model> make_exaone(const JsonObject& config);
std::unique_ptr<Model> make_exaone4(const JsonObject& config);
std::unique_ptr<Model> make_falcon_h1(const JsonObject& config);
std::unique_ptr<Model> make_flint(const JsonObject& config);
std::unique_ptr<Model> make_gemma(const JsonObject& config);
std::unique_ptr<Model> make_gemma2(const JsonObject& config);
std::unique_ptr<Model> make_cwm(const JsonObject& config);
std::unique_ptr<Model> make_iquestcoder(const JsonObject& config);
std::unique_ptr<Model> make_internlm2(const JsonObject& config);
std::unique_ptr<Model> make_internlm3(const JsonObject& config);
std::unique_ptr<Model> make_flex_olmo(const JsonObject& config);
std::unique_ptr<Model> make_exaone_moe(const JsonObject& config);
std::unique_ptr<Model> make_solar_open(const JsonObject& config);
std::unique_ptr<Model> make_mellum(const JsonObject& config);
std::unique_ptr<Model> make_granitemoehybrid(const JsonObject& config);
std::unique_ptr<Model> make_mamba2(const JsonObject& config);
std::unique_ptr<Model> make_nemotron_h(const JsonObject& config);
std::unique_ptr<Model> make_hyperclovax(const JsonObject& config);
std::unique_ptr<Model> make_gemma3_text(const JsonObject& config);
std::unique_ptr<Model> make_gemma4_text(const JsonObject& config);
std::unique_ptr<Model> make_glm(const JsonObject& config);
std::unique_ptr<Model> make_glm4(const JsonObject& config);
std::unique_ptr<Model> make_glm4_moe(const JsonObject& config);
std::unique_ptr<Model> make_glm4_moe_lite(const JsonObject& config);
std::unique_ptr<Model> make_gpt_oss(const JsonObject& config);
std::unique_ptr<Model> make_granite(const JsonObject& config);
std::unique_ptr<Model> make_granite_swa(const JsonObject& config);
std::unique_ptr<Model> make_granitemoe(const JsonObject& config);
std::unique_ptr<Model> make_granitemoe_swa(const JsonObject& config);
std::unique_ptr<Model> make_granitemoeshared(const JsonObject& config);
std::unique_ptr<Model> make_helium(const JsonObject& config);
std::unique_ptr<Model> make_hunyuan_v1_dense(const JsonObject& config);
std::unique_ptr<Model> make_hunyuan_v1_moe(const JsonObject& config);
std::unique_ptr<Model> make_hy_v3(const JsonObject& config);
std::unique_ptr<Model> make_jais2(const JsonObject& config);
std::unique_ptr<Model> make_kolibri1(const JsonObject& config);
std::unique_ptr<Model> make_laguna(const JsonObject& config);
std::unique_ptr<Model> make_lfm2(const JsonObject& config);
std::unique_ptr<Model> make_lfm2_moe(const JsonObject& config);
std::unique_ptr<Model> make_lfm3(const JsonObject& config);
std::unique_ptr<Model> make_llama(const JsonObject& config);
std::unique_ptr<Model> make_minicpm3(const JsonObject& config);
std::unique_ptr<Model> make_minimax_m2(const JsonObject& config);
std::unique_ptr<Model> make_ministral(const JsonObject& config);
std::unique_ptr<Model> make_ministral3(const JsonObject& config);
std::unique_ptr<Model> make_mistral(const JsonObject& config);
std::unique_ptr<Model> make_mixtral(const JsonObject& config);
std::unique_ptr<Model> make_nanochat(const JsonObject& config);
std::unique_ptr<Model> make_nemotron(const JsonObject& config);
std::unique_ptr<Model> make_olmo(const JsonObject& config);
std::unique_ptr<Model> make_olmo2(const JsonObject& config);
std::unique_ptr<Model> make_olmo3(const JsonObject& config);
std::unique_ptr<Model> make_olmoe(const JsonObject& config);
std::unique_ptr<Model> make_persimmon(const JsonObject& config);
std::unique_ptr<Model> make_phi3(const JsonObject& config);
std::unique_ptr<Model> make_phimoe(const JsonObject& config);
std::unique_ptr<Model> make_qwen2(const JsonObject& config);
std::unique_ptr<Model> make_qwen2_moe(const JsonObject& config);
std::unique_ptr<Model> make_qwen3(const JsonObject& config);
std::unique_ptr<Model> make_qwen3_5_moe_text(const JsonObject& config, const WeightNames& weight_names);
std::unique_ptr<Model> make_qwen3_5_text(const JsonObject& config);
std::unique_ptr<Model> make_qwen3_moe(const JsonObject& config);
std::unique_ptr<Model> make_qwen3_next(const JsonObject& config);
std::unique_ptr<Model> make_sarvam_mla(const JsonObject& config);
std::unique_ptr<Model> make_sarvam_moe(const JsonObject& config);
std::unique_ptr<Model> make_seed_oss(const JsonObject& config);
std::unique_ptr<Model> make_smollm3(const JsonObject& config);
std::unique_ptr<Model> make_stablelm(const JsonObject& config);
std::unique_ptr<Model> make_starcoder2(const JsonObject& config);
std::unique_ptr<Model> make_step3p5(const JsonObject& config);
std::unique_ptr<Model> make_vaultgemma(const JsonObject& config);
std::unique_ptr<Model> make_youtu(const JsonObject& config);
// By gpt_like.h:
std::unique_ptr<Model> make_biogpt(const JsonObject& config);
std::unique_ptr<Model> make_bloom(const JsonObject& config);
std::unique_ptr<Model> make_codegen(const JsonObject& config);
std::unique_ptr<Model> make_falcon(const JsonObject& config);
std::unique_ptr<Model> make_gpt_bigcode(const JsonObject& config);
std::unique_ptr<Model> make_gpt_neo(const JsonObject& config);
std::unique_ptr<Model> make_gpt_neox(const JsonObject& config);
std::unique_ptr<Model> make_gptj(const JsonObject& config);
std::unique_ptr<Model> make_mpt(const JsonObject& config);
std::unique_ptr<Model> make_phi(const JsonObject& config);
std::unique_ptr<Model> make_xglm(const JsonObject& config);
// By opt.h:
std::unique_ptr<Model> make_opt(const JsonObject& config);

// An encoder and a decoder of such layers, by t5gemma.cpp:
std::unique_ptr<Model> make_t5gemma(const JsonObject& config);

}  // namespace tril::model
