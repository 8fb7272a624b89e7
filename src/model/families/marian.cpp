#include "model/families/marian.h"

namespace tril::model {
namespace {

constexpr BartFamily marian{.name = "marian", .architecture = "MarianMTModel", .two_vocabularies = true};

}  // namespace

MarianConfig marian_config(const JsonObject& config) {
  MarianConfig otherwise = bart_defaults();
  otherwise.vocab_size = 58101;
  otherwise.bos_token_id = -1;
  otherwise.eos_token_id = otherwise.forced_eos_token_id = 0;
  otherwise.pad_token_id = otherwise.decoder_start_token_id = 58100;
  return read_bart_config(config, marian, otherwise);
}

Marian::Marian(const MarianConfig& config) : BartLike(marian, config) {}

std::unique_ptr<Model> make_marian(const JsonObject& config) {
  return std::make_unique<Marian>(marian_config(config));
}

}  // namespace tril::model
