#include "tokenizer/files/tokenizer_settings.h"

#include "base/error.h"
#include "base/printable.h"
#include "tokenizer/files/languages.h"

namespace tril {
namespace {

using IdOf = std::function<std::optional<std::int32_t>(std::string_view)>;

// A model family's languages, and the place of their token, follow from the tokenizer's class.
void set_languages(TokenizerSettings& settings, const TokenizerConfig& config, const IdOf& id_of) {
  const auto take = [&](std::span<const std::string_view> codes, LanguageFrame frame, std::string_view usual,
                        std::string_view around = "") {
    const auto id_of_code = [&](std::string_view code) { return id_of(fmt::format("{0}{1}{0}", around, code)); };
    for (std::string_view code : codes)
      if (const auto id = id_of_code(code)) settings.languages.emplace_back(code, *id);
    if (settings.languages.empty()) return;
    settings.language_frame = frame;
    settings.source_language = config.source_language.empty() ? usual : config.source_language;
    settings.target_language = config.target_language.empty() ? settings.source_language : config.target_language;
    for (const std::string& code : {settings.source_language, settings.target_language})
      if (!id_of_code(code))
        fail(settings.where, fmt::format("its language \"{}\" is not in the vocabulary", printable(code)));
  };
  const std::string& name = config.tokenizer_class;
  if (name.starts_with("MBart50Tokenizer"))
    take(mbart50_languages(), LanguageFrame::prefix, "en_XX");
  else if (name.starts_with("MBartTokenizer"))
    take(mbart_languages(), LanguageFrame::suffix, "en_XX");
  else if (name.starts_with("M2M100Tokenizer"))
    take(m2m100_languages(), LanguageFrame::prefix, "en", "__");
  else if (name.starts_with("NllbTokenizer"))
    take(nllb_languages(), config.legacy_behaviour ? LanguageFrame::suffix : LanguageFrame::prefix, "eng_Latn");
}

}  // namespace

TokenizerSettings settings_of(const TokenizerConfig& config, const std::string& where, const IdOf& id_of) {
  TokenizerSettings settings;
  settings.where = where;
  const auto id = [&](std::string_view name) { return id_of(config.special(name)).value_or(-1); };
  settings.special = {.pad = id("pad_token"), .bos = id("bos_token"), .eos = id("eos_token"), .unk = id("unk_token")};
  settings.special_tokens = config.special_tokens;
  settings.chat_templates = config.chat_templates;
  settings.model_max_length = config.model_max_length.value_or(settings.model_max_length);
  settings.clean_up_spaces = config.clean_up_spaces;
  settings.stated_languages = config.stated_languages;
  settings.files = config.files;
  set_languages(settings, config, id_of);
  return settings;
}

}  // namespace tril
