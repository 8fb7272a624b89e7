// Each prompt is that of the publisher's model card, which the comment before it names.
#include "decode/prompts/known_prompts.h"

#include <algorithm>
#include <map>
#include <set>

#include "chat/chat_template.h"
#include "language/match.h"

namespace tril::search {
namespace {

// "Translate this from A to B" [ALMA: github.com/fe1ixxu/ALMA, README].
constexpr const char* alma_text =
    "Translate this from {{ source_language }} to {{ target_language }}:\n"
    "{{ source_language }}: {{ text }}\n"
    "{{ target_language }}:";

// [Unbabel/Tower-Plus-9B and utter-project/EuroLLM-1.7B-Instruct, model cards]. The space at the end is theirs.
constexpr const char* source_text =
    "Translate the following {{ source_language }} source text to {{ target_language }}:\n"
    "{{ source_language }}: {{ text }}\n"
    "{{ target_language }}: ";

// Some publishers' names of languages differ from CLDR's, and their models expect exactly these names. The codes are those of
// code_of(): "fil" for "tl".
constexpr const char* given_names =
    "{%- set source_language = names.get(source_code, source_language) -%}"
    "{%- set target_language = names.get(target_code, target_language) -%}";
constexpr const char* gemmax2_names = "{%- set names = {'zh-Hans': 'Chinese', 'fil': 'Tagalog'} -%}";
constexpr const char* milmmt_names =
    "{%- set names = {'zh': 'Chinese (Simplified)', 'zh-Hans': 'Chinese (Simplified)', "
    "'zh-Hant': 'Chinese (Traditional)', 'fil': 'Tagalog'} -%}";

// The target languages' names in Chinese prompts [github.com/Tencent-Hunyuan/HY-MT, README].
constexpr const char* chinese_names =
    "{%- set names = {'zh': '中文', 'zh-Hans': '中文', 'en': '英语', 'fr': '法语', 'pt': '葡萄牙语', 'es': '西班牙语', "
    "'ja': '日语', "
    "'tr': '土耳其语', 'ru': '俄语', 'ar': '阿拉伯语', 'ko': '韩语', 'th': '泰语', 'it': '意大利语', 'de': '德语', "
    "'vi': '越南语', 'ms': '马来语', 'id': '印尼语', 'fil': '菲律宾语', 'hi': '印地语', 'zh-Hant': '繁体中文', "
    "'pl': '波兰语', 'cs': '捷克语', 'nl': '荷兰语', 'km': '高棉语', 'my': '缅甸语', 'fa': '波斯语', 'gu': "
    "'古吉拉特语', "
    "'ur': '乌尔都语', 'te': '泰卢固语', 'mr': '马拉地语', 'he': '希伯来语', 'bn': '孟加拉语', 'ta': '泰米尔语', "
    "'uk': '乌克兰语', 'bo': '藏语', 'kk': '哈萨克语', 'mn': '蒙古语', 'ug': '维吾尔语', 'yue': '粤语'} -%}"
    "{%- set chinese_name = names.get(target_code, target_language) -%}"
    "{%- set is_chinese = target_code.split('-')[0] == 'zh' or (source_code or '').split('-')[0] == 'zh' -%}";

const std::vector<std::string> hunyuan_languages{"zh", "en", "fr", "pt", "es", "ja", "tr", "ru", "ar",      "ko",
                                                 "th", "it", "de", "vi", "ms", "id", "tl", "hi", "zh-Hant", "pl",
                                                 "cs", "nl", "km", "my", "fa", "gu", "ur", "te", "mr",      "he",
                                                 "bn", "ta", "uk", "bo", "kk", "mn", "ug", "yue"};
const std::vector<std::string> tower_languages{"en", "de", "fr", "zh", "pt", "nl", "ru", "ko", "it", "es"};
const std::vector<std::string> gemmax2_languages{"ar", "bn", "cs", "de", "en", "es", "fa", "fr", "he", "hi",
                                                 "id", "it", "ja", "km", "ko", "lo", "ms", "my", "nl", "pl",
                                                 "pt", "ru", "th", "tl", "tr", "ur", "vi", "zh"};
const std::vector<std::string> eurollm_languages{"bg", "hr", "cs", "da", "nl", "en", "et", "fi", "fr", "de", "el", "hu",
                                                 "ga", "it", "lv", "lt", "mt", "pl", "pt", "ro", "sk", "sl", "es", "sv",
                                                 "ar", "ca", "zh", "gl", "hi", "ja", "ko", "no", "ru", "tr", "uk"};
const std::vector<std::string> seed_x_languages{"ar", "cs", "da", "de", "en", "es", "fi", "fr", "hr", "hu",
                                                "id", "it", "ja", "ko", "ms", "nb", "nl", "no", "pl", "pt",
                                                "ro", "ru", "sv", "th", "tr", "uk", "vi", "zh"};
// [github.com/xiaomi-research/gemmax, README]
const std::vector<std::string> milmmt_languages{
    "ar", "az", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "fa",  "fi", "fr",     "he", "hi",
    "hr", "hu", "id", "it", "ja", "kk", "km", "ko", "lo", "ms", "my", "no",  "nl", "pl",     "pt", "ro",
    "ru", "sk", "sl", "sv", "ta", "th", "tl", "tr", "ur", "uz", "vi", "yue", "zh", "zh-Hant"};
// [sarvam.ai/blogs/sarvam-translate]: English and the 22 languages of India's constitution
const std::vector<std::string> sarvam_languages{"en", "hi", "bn",  "mr",  "te",  "ta",  "gu",  "ur",
                                                "kn", "or", "ml",  "pa",  "as",  "mai", "sat", "ks",
                                                "ne", "sd", "doi", "kok", "mni", "brx", "sa"};
// Of each merged model [haoranxu/X-ALMA-13B-Group1 to Group8, model cards].
const std::vector<NamedLanguages> x_alma_groups{
    {"group1", {"en", "da", "nl", "de", "is", "no", "sv", "af"}},
    {"group2", {"en", "ca", "ro", "gl", "it", "pt", "es"}},
    {"group3", {"en", "bg", "mk", "sr", "uk", "ru"}},
    {"group4", {"en", "id", "ms", "th", "vi", "mg", "fr"}},
    {"group5", {"en", "hu", "el", "cs", "pl", "lt", "lv"}},
    {"group6", {"en", "ka", "zh", "ja", "ko", "fi", "et"}},
    {"group7", {"en", "gu", "hi", "mr", "ne", "ur"}},
    {"group8", {"en", "az", "kk", "ky", "tr", "uz", "ar", "he", "fa"}},
};

const std::vector<KnownPrompt>& table() {
  static const std::vector<KnownPrompt> all{
      // github.com/Tencent-Hunyuan/Hy-MT2, README: default, terminology, style and background prompts
      {.key = "hy-mt2",
       .names = {"hy-mt2"},
       .without = {},
       .types = {"hunyuan_v1_dense", "hunyuan_v1_moe", "hy_v3"},
       .prompt = {.name = "Hy-MT2",
                  .user =
                      "{%- if context -%}[Background Information]\n{{ context | join('\\n') }}\n\n{% endif -%}"
                      "{%- if terms -%}Reference the following translations:\n"
                      "{% for term in terms %}{{ term.source }} translates to {{ term.target }}\n{% endfor %}\n\n"
                      "{% endif -%}"
                      "{%- if context -%}Please translate the following text into {{ target_language }}, taking the "
                      "provided background information into consideration"
                      "{%- else -%}Translate the following text into {{ target_language }}{% endif -%}."
                      "{%- if style %} Note that the translation style must strictly conform to [{{ style }}]."
                      "{%- endif %} Note that you should only output the translated result without any additional "
                      "explanation:\n\n{{ text }}",
                  .languages = hunyuan_languages}},
      // github.com/Tencent-Hunyuan/HY-MT, README: prompts for Chinese, for other languages, terminology, context
      {.key = "hy-mt1.5",
       .names = {"hy-mt1.5", "hy-mt-1.5"},
       .without = {},
       .types = {"hunyuan_v1_dense", "hunyuan_v1_moe"},
       .prompt =
           {.name = "HY-MT1.5",
            .user =
                std::string(chinese_names) +
                "{%- if terms -%}参考下面的翻译：\n"
                "{% for term in terms %}{{ term.source }} 翻译成 {{ term.target }}\n{% endfor %}\n\n"
                "{% endif -%}"
                "{%- if context -%}{{ context | join('\\n') }}\n参考上面的信息，把下面的文本翻译成"
                "{{ chinese_name }}，注意不需要翻译上文，也不要额外解释：\n{{ text }}"
                "{%- elif terms -%}将以下文本翻译为{{ chinese_name }}，注意只需要输出翻译后的结果，不要额外解释：\n"
                "{{ text }}"
                "{%- elif is_chinese -%}将以下文本翻译为{{ chinese_name }}，注意只需要输出翻译后的结果，不要额外解释："
                "\n\n{{ text }}"
                "{%- else -%}Translate the following segment into {{ target_language }}, without additional "
                "explanation.\n\n{{ text }}{% endif -%}",
            .languages = hunyuan_languages}},
      // github.com/Tencent-Hunyuan/Hunyuan-MT, README. Chimera, which merges translations, is not of this kind.
      {.key = "hunyuan-mt",
       .names = {"hunyuan-mt"},
       .without = {"chimera"},
       .types = {"hunyuan_v1_dense"},
       .prompt = {.name = "Hunyuan-MT",
                  .user = std::string(chinese_names) +
                          "{%- if is_chinese -%}把下面的文本翻译成{{ chinese_name }}，不要额外解释。\n\n{{ text }}"
                          "{%- else -%}Translate the following segment into {{ target_language }}, without additional "
                          "explanation.\n\n{{ text }}{% endif -%}",
                  .languages = hunyuan_languages}},
      // Unbabel/Tower-Plus-2B and 9B, model cards
      {.key = "tower-plus",
       .names = {"tower-plus", "tower+"},
       .without = {},
       .types = {"gemma2", "qwen2"},
       .prompt = {.name = "Tower+",
                  .user = source_text,
                  .needs_source = true,
                  .languages = {"de", "nl", "is", "es", "fr", "pt", "uk", "hi", "zh", "ru", "cs",
                                "ko", "ja", "it", "en", "da", "pl", "hu", "sv", "no", "ro", "fi"}}},
      // Unbabel/TowerInstruct-7B-v0.2, model card
      {.key = "tower-instruct",
       .names = {"towerinstruct"},
       .without = {},
       .types = {"llama", "mistral"},
       .prompt = {.name = "TowerInstruct",
                  .user = "Translate the following text from {{ source_language }} into {{ target_language }}.\n"
                          "{{ source_language }}: {{ text }}\n{{ target_language }}:",
                  .needs_source = true,
                  .languages = tower_languages}},
      // haoranxu/X-ALMA, model card: ALMA's text as a message
      {.key = "x-alma",
       .names = {"x-alma"},
       .without = {"pretrain"},
       .types = {"llama"},
       .prompt = {.name = "X-ALMA", .user = alma_text, .needs_source = true},
       .languages_of = x_alma_groups},
      // github.com/fe1ixxu/ALMA, README; also ALMA-R
      {.key = "alma",
       .names = {"alma-7b", "alma-13b"},
       .without = {"x-alma"},
       .types = {"llama"},
       .prompt = {.name = "ALMA",
                  .form = PromptForm::text,
                  .user = alma_text,
                  .needs_source = true,
                  .languages = {"en", "de", "cs", "is", "zh", "ru"}}},
      // xiaomi-research/GemmaX2-28-2B-v0.2, model card
      {.key = "gemmax2",
       .names = {"gemmax2-28"},
       .without = {"pretrain"},
       .types = {"gemma2"},
       .prompt = {.name = "GemmaX2",
                  .form = PromptForm::text,
                  .user = std::string(gemmax2_names) + given_names + alma_text,
                  .needs_source = true,
                  .languages = gemmax2_languages}},
      // the same card: GemmaX2's v0.2 takes the instructions of MiLMMT-46
      {.key = "milmmt",
       .names = {"milmmt-46"},
       .without = {"pretrain"},
       .types = {"gemma3", "gemma3_text"},
       .prompt = {.name = "MiLMMT",
                  .form = PromptForm::text,
                  .user = std::string(milmmt_names) + given_names + alma_text,
                  .needs_source = true,
                  .languages = milmmt_languages}},
      // utter-project/EuroLLM-1.7B-Instruct, model card: an empty system message
      {.key = "eurollm",
       .names = {"eurollm-*-instruct"},
       .without = {},
       .types = {"llama"},
       .prompt = {.name = "EuroLLM",
                  .system = "",
                  .user = source_text,
                  .needs_source = true,
                  .languages = eurollm_languages}},
      // github.com/ByteDance-Seed/Seed-X-7B, README: without reasoning, and the code of the target in angle brackets
      {.key = "seed-x",
       .names = {"seed-x-ppo", "seed-x-instruct"},
       .without = {},
       .types = {"mistral"},
       .prompt = {.name = "Seed-X",
                  .form = PromptForm::text,
                  .user = "Translate the following {{ source_language }} sentence into {{ target_language }}:\n"
                          "{{ text }} <{{ target_code }}>",
                  .needs_source = true,
                  .languages = seed_x_languages}},
      // sarvamai/sarvam-translate, model card
      {.key = "sarvam-translate",
       .names = {"sarvam-translate"},
       .without = {},
       .types = {"gemma3", "gemma3_text"},
       .prompt = {.name = "Sarvam-Translate",
                  .system = "Translate the text below to {{ target_language }}.",
                  .user = "{{ text }}",
                  .languages = sarvam_languages}},
  };
  return all;
}

}  // namespace

const std::vector<KnownPrompt>& known_prompts() {
  return table();
}

const KnownPrompt* find_prompt(std::string_view key) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const KnownPrompt& p) { return p.key == key; });
  return found == table().end() ? nullptr : &*found;
}

PromptDescription general_prompt() {
  return {.name = "the general",
          .user =
              "{%- if context -%}These sentences come before the text. Do not translate them:\n"
              "{{ context | join('\\n') }}\n\n{% endif -%}"
              "{%- if terms -%}Use these translations of terms:\n"
              "{% for term in terms %}{{ term.source }} = {{ term.target }}\n{% endfor %}\n\n{% endif -%}"
              "Translate the following text{% if source_language %} from {{ source_language }}{% endif %} into "
              "{{ target_language }}.{% if style %} The style of the translation is: {{ style }}.{% endif %} "
              "Answer with the translation alone, without explanations.\n\n{{ text }}"};
}

PromptDescription structured_prompt(const std::string& chat_template) {
  const KnownLanguages table(ChatTemplate(chat_template).table_keys(languages_table));
  // The first code of each language and script, one without a region if there is one: "de" and not "de-AT".
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < table.names().size(); ++i) {
    const std::optional<Language>& language = table.language(i);
    if (!language) continue;
    const auto [at, is_new] = places.try_emplace({language->language, script_of(*language)}, i);
    if (!is_new && language->region.empty() && !table.language(at->second)->region.empty()) at->second = i;
  }
  std::set<std::size_t> chosen;
  for (const auto& [language, place] : places) chosen.insert(place);
  PromptDescription prompt{.name = "TranslateGemma", .form = PromptForm::structured, .needs_source = true};
  for (const std::size_t place : chosen) prompt.languages.push_back(table.names()[place]);
  return prompt;
}

}  // namespace tril::search
