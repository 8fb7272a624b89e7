// The languages of the multilingual translation models, by the codes of their vocabularies' language tokens: facts of
// the published models (mBART: Liu et al. 2020; mBART-50: Tang et al. 2020; M2M100: Fan et al. 2020; NLLB: 2022).
#pragma once

#include <span>
#include <string_view>

namespace tril {

std::span<const std::string_view> mbart_languages();    ///< "en_XX"
std::span<const std::string_view> mbart50_languages();  ///< mBART's, then more
std::span<const std::string_view> m2m100_languages();   ///< "en"; the token is "__en__"
std::span<const std::string_view> wmt21_languages();    ///< the eight of WMT 2021's models, which are M2M100 models
std::span<const std::string_view> nllb_languages();     ///< "eng_Latn"

}  // namespace tril
