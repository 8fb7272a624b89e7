#include "model/spec/generation_keys.h"

namespace tril::model {

std::span<const std::string_view> generation_keys() {
  static constexpr std::string_view keys[] = {"num_beams",
                                              "num_beam_groups",
                                              "diversity_penalty",
                                              "length_penalty",
                                              "early_stopping",
                                              "max_length",
                                              "max_new_tokens",
                                              "min_length",
                                              "min_new_tokens",
                                              "decoder_start_token_id",
                                              "forced_bos_token_id",
                                              "forced_eos_token_id",
                                              "bad_words_ids",
                                              "suppress_tokens",
                                              "begin_suppress_tokens",
                                              "no_repeat_ngram_size",
                                              "encoder_no_repeat_ngram_size",
                                              "repetition_penalty",
                                              "do_sample",
                                              "temperature",
                                              "top_k",
                                              "top_p",
                                              "min_p",
                                              "typical_p",
                                              "renormalize_logits",
                                              "num_return_sequences",
                                              "exponential_decay_length_penalty"};
  return keys;
}

}  // namespace tril::model
