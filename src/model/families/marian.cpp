#include "model/families/marian.h"

namespace tril::model {
namespace {

constexpr BartFamily marian{.name = "marian", .architecture = "MarianMTModel", .two_vocabularies = true};

}  // namespace

MarianConfig marian_defaults() {
  MarianConfig k = bart_defaults();
  k.vocab_size = 58101;
  k.bos_token_id = -1;
  k.eos_token_id = k.forced_eos_token_id = 0;
  k.pad_token_id = k.decoder_start_token_id = 58100;
  return k;
}

MarianConfig marian_config(const JsonObject& config) {
  return read_bart_config(config, marian, marian_defaults());
}

Marian::Marian(const MarianConfig& config) : BartLike(marian, config) {}

std::unique_ptr<Model> make_marian(const JsonObject& config) {
  return std::make_unique<Marian>(marian_config(config));
}

}  // namespace tril::model
