#include "serve/engine/model_profile.h"

#include "serve/engine/served_model.h"
#include "tokenizer/files/language_tag.h"

namespace tril::serve {
namespace {

void set_standard_target(ServedLanguages& l, const Loaded& loaded) {
  if (!l.reads_target) return;
  const std::int32_t forced = loaded.search.forced_bos_id;
  if (l.tagged) {
    l.standard = loaded.target_language;
    l.wants_target = l.targets.size() > 1 && l.standard.empty() && forced < 0;
    return;
  }
  if (search::starts_with_language(*loaded.model, *loaded.tokenizer)) return;
  l.wants_target = forced < 0;
  for (const std::string& code : l.targets)
    if (forced >= 0 && loaded.tokenizer->language_id(code) == forced) l.standard = code;
}

// Those of a model with an encoder, as its vocabulary lists them.
ServedLanguages languages_of_vocabulary(const Loaded& loaded) {
  ServedLanguages l{loaded.source_language, loaded.tokenizer->languages()};
  l.from_each = !l.targets.empty();
  if (l.targets.empty()) l.targets = tagged_languages(*loaded.tokenizer);
  l.tagged = !l.from_each && !l.targets.empty();
  l.reads_target = !l.targets.empty();
  if (l.targets.empty() && !loaded.target_language.empty()) l.targets.push_back(loaded.target_language);
  set_standard_target(l, loaded);
  return l;
}

ServedLanguages languages_of(const Loaded& loaded) {
  ServedLanguages l;
  if (loaded.model->has_encoder()) {
    l = languages_of_vocabulary(loaded);
  } else {
    l.targets = loaded.languages;
    l.from_each = l.reads_target = l.wants_target = true;
  }
  l.from = KnownLanguages(l.sources());
  l.into = KnownLanguages(l.targets);
  return l;
}

}  // namespace

ModelProfile profile_of(const Loaded& loaded) {
  const bool encodes = loaded.model->has_encoder();
  ModelProfile profile{.translates = encodes || (loaded.prompt && !loaded.languages.empty()),
                       .continues = !encodes,
                       .languages = {},
                       .adapters = loaded.adapters};
  if (profile.translates) profile.languages = languages_of(loaded);
  if (profile.translates && !encodes) {
    profile.takes_style = loaded.prompt->reads("style");
    profile.takes_context = loaded.prompt->reads("context");
  }
  profile.bytes = loaded.bytes;
  return profile;
}

}  // namespace tril::serve
