#include "model_io/families/family_list.h"

#include <vector>

#include "model_io/families/family_lists.h"

namespace tril::model {

std::span<const Family> family_list() {
  static const std::vector<Family> list = [] {
    std::vector<Family> all;
    for (const std::span<const Family> part : {encoder_decoder_families(), gpt_like_families(), llama_like_families(),
                                               mixture_families(), recurrent_families(), own_families()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return list;
}

}  // namespace tril::model
