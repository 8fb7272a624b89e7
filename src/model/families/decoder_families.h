// The families of decoder-only models, one file each: config.json -> the model, weights neither allocated nor set.
#pragma once

#include <memory>

#include "format/json_file.h"
#include "model/spec/model.h"

namespace tril::model {

// Built by llama_like.h:
std::unique_ptr<Model> make_gemma(const JsonObject& config);
std::unique_ptr<Model> make_gemma2(const JsonObject& config);
std::unique_ptr<Model> make_granite(const JsonObject& config);
std::unique_ptr<Model> make_llama(const JsonObject& config);
std::unique_ptr<Model> make_mistral(const JsonObject& config);
std::unique_ptr<Model> make_mixtral(const JsonObject& config);
std::unique_ptr<Model> make_olmo2(const JsonObject& config);
std::unique_ptr<Model> make_phi3(const JsonObject& config);
std::unique_ptr<Model> make_qwen2(const JsonObject& config);
std::unique_ptr<Model> make_qwen3(const JsonObject& config);
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

}  // namespace tril::model
