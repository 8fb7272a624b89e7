// The parts of family_list(), one for each kind of family.
#pragma once

#include "model_io/families/family_list.h"

namespace tril::model {

std::span<const Family> encoder_decoder_families();
std::span<const Family> gpt_like_families();
std::span<const Family> llama_like_families();
std::span<const Family> mixture_families();
std::span<const Family> recurrent_families();
std::span<const Family> own_families();

}  // namespace tril::model
