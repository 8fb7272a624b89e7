// libFuzzer: any bytes as an adapter_config.json. An Error is fine; what is accepted answers for any module.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "model_io/adapters/adapter_config.h"
#include "must.h"
#include "support/json_mutator.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto config = tril::model::read_adapter_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const char* module : {"model.layers.0.self_attn.q_proj", "transformer.h.11.attn.c_attn", "lm_head", "1.2.3"}) {
      config.changes(module);
      tril::fuzz::must(config.rank_of(module) >= 1, "ranks are positive");
      tril::fuzz::must(std::isfinite(config.scale_of(module)), "scales are numbers");
    }
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> texts{
      "peft_type",         "LORA",       "r",           "lora_alpha",    "use_rslora",          "use_dora",
      "target_modules",    "all-linear", "bias",        "lora_only",     "modules_to_save",     "rank_pattern",
      "alpha_pattern",     "q_proj",     ".*\\.q_proj", "(a+)+$",        "layers_to_transform", "exclude_modules",
      "init_lora_weights", "gaussian",   "none",        "fan_in_fan_out"};
  return tril::test::JsonMutator(seed, texts, LLVMFuzzerMutate)(data, size, most);
}
