// Texts for DeepL's clients [developers.deepl.com/docs]:
//   POST /v2/translate
#include <algorithm>

#include "serve/api/body_reading.h"
#include "serve/api/translate_api.h"
#include "serve/dialects/deepl_glossary.h"
#include "serve/dialects/deepl_lists.h"
#include "serve/dialects/deepl_style.h"
#include "serve/dialects/dialects.h"
#include "serve/dialects/language_codes.h"

namespace tril::serve {
namespace {

struct DeeplRequest {
  std::vector<std::string> text, ignore_tags, splitting_tags, non_splitting_tags, glossary_ids;
  std::string source_lang, target_lang, context, split_sentences, formality = "default", model_type;
  std::string tag_handling, tag_handling_version, glossary_id;
  bool preserve_formatting = false, outline_detection = true, show_billed_characters = false;
};

Fields fields_of(DeeplRequest& r) {
  Fields f;
  f.add("text", &r.text, "a text or a list of texts to translate").required();
  f.add("target-lang", &r.target_lang, "target language: DE, EN-GB, ZH-HANS, or a code in any other form").required();
  f.add("source-lang", &r.source_lang,
        "source language, in the same forms; unset: the only possible one, or else the detected one of each text");
  f.add("context", &r.context, "text before the texts, for the prompt of a language model; other models ignore it");
  f.add("split-sentences", &r.split_sentences,
        "1: at line ends and at ends of sentences; nonewlines: sentences may continue in the next line; 0: not at all. "
        "Unset: 1, and nonewlines for html")
      .choices({"0", "1", "nonewlines"});
  f.add("preserve-formatting", &r.preserve_formatting, "has no effect: punctuation and case are never corrected");
  f.add("formality", &r.formality,
        "formal or informal style, from a language model whose prompt has a place for it; other models refuse more and "
        "less, and ignore prefer_more and prefer_less")
      .choices(formalities());
  f.add("model-type", &r.model_type, "has no effect; returned as model_type_used")
      .choices({"quality_optimized", "prefer_quality_optimized", "latency_optimized"});
  f.add("tag-handling", &r.tag_handling, "how tags in texts are read").choices({"xml", "html"});
  f.add("tag-handling-version", &r.tag_handling_version, "has no effect: there is one version").choices({"v1", "v2"});
  f.add("outline-detection", &r.outline_detection, "for xml: elements between elements divide the text");
  f.add("splitting-tags", &r.splitting_tags, "for xml: elements that divide the text");
  f.add("non-splitting-tags", &r.non_splitting_tags, "for xml: elements that never divide the text");
  f.add("ignore-tags", &r.ignore_tags, "for xml: elements whose text is not translated");
  f.add("glossary-id", &r.glossary_id, "glossary whose phrases get their translations; needs source_lang");
  f.add("glossary-ids", &r.glossary_ids, "up to five glossaries, the most important first, in place of glossary_id");
  f.add("show-billed-characters", &r.show_billed_characters, "return the number of characters of each text too");
  return f;
}

// A form has 0 and 1 for no and yes, and a list of tags separated by commas.
void read_as_forms_do(Json& body) {
  for (const char* name : {"preserve_formatting", "outline_detection", "show_billed_characters"}) {
    const auto field = body.find(name);
    if (field == body.end()) continue;
    if (*field == "0" || *field == 0) *field = false;
    if (*field == "1" || *field == 1) *field = true;
  }
  for (const char* name : {"ignore_tags", "splitting_tags", "non_splitting_tags"}) {
    const auto field = body.find(name);
    if (field == body.end()) continue;
    Json list = Json::array();
    for (const Json& one : field->is_array() ? *field : Json::array({*field})) {
      if (!one.is_string()) {
        list.push_back(one);  // its own error says what is expected
        continue;
      }
      for (std::string& tag : names_between_commas(one.get<std::string>())) list.push_back(std::move(tag));
    }
    *field = std::move(list);
  }
  if (const auto formality = body.find("formality"); formality != body.end() && formality->is_string())
    *formality = lower(formality->get<std::string>());
  for (const char* name : {"style_id", "translation_memory_id", "custom_instructions"})
    if (const auto field = body.find(name); field != body.end() && !field->is_null())
      throw field_error(name, "is not supported");
}

DeeplRequest read_deepl_request(Json& body, Warnings& warnings) {
  read_as_forms_do(body);
  return read_request<DeeplRequest>(body, warnings);
}

// The same request as one of POST /translate.
Json as_translate_body(const DeeplRequest& r) {
  const bool marks = !r.tag_handling.empty();
  Json body{{"q", r.text},
            {"source", r.source_lang},
            {"target", r.target_lang},
            {"format", marks ? r.tag_handling : "text"},
            {"split", r.split_sentences == "0"            ? "none"
                      : r.split_sentences == "nonewlines" ? "nonewlines"
                                                          : "sentences"}};
  if (r.tag_handling == "xml") {
    body["ignore_tags"] = r.ignore_tags;
    body["splitting_tags"] = r.splitting_tags;
    body["non_splitting_tags"] = r.non_splitting_tags;
    body["outline_detection"] = r.outline_detection;
  }
  if (const std::string style = style_of(r.formality); !style.empty()) body["style"] = style;
  return body;
}

// Turns the response of POST /translate into DeepL's.
std::function<Json(Json)> deepl_shape(const DeeplRequest& r) {
  std::vector<std::int64_t> sizes;
  if (r.show_billed_characters)
    for (const std::string& text : r.text) sizes.push_back(characters_in(text));
  const std::string model_type = r.model_type == "prefer_quality_optimized" ? "quality_optimized" : r.model_type;
  return [sizes, model_type, source = deepl_source_code(r.source_lang)](const Json& body) {
    Json list = Json::array();
    const auto detected = body.find("detectedLanguage");
    for (std::size_t i = 0; i < body["translatedText"].size(); ++i) {
      Json one{{"detected_source_language",
                detected == body.end() ? source : deepl_source_code((*detected)[i]["language"].get<std::string>())},
               {"text", body["translatedText"][i]}};
      if (!sizes.empty()) one["billed_characters"] = sizes[i];
      if (!model_type.empty()) one["model_type_used"] = model_type;
      list.push_back(std::move(one));
    }
    return Json{{"translations", std::move(list)}};
  };
}

}  // namespace

void add_deepl_text_routes(Service& service) {
  service.add_routes(
      {{.method = "POST",
        .path = "/v2/translate",
        .summary = "Translates texts, as DeepL does",
        .request_schema = schema_of_request<DeeplRequest>(),
        .response = "translations: for each text its detected_source_language and text, in the order of the request",
        .handle =
            [&service](const CallPtr& call) {
              service.check_room(call, true);
              static const Json properties = schema_of_request<DeeplRequest>()["properties"];
              Json asked = fields_of_request(call->request, ErrorStyle::deepl, properties, false);
              const DeeplRequest d = read_deepl_request(asked, call->warnings);
              service.check_texts(d.text, "text");
              service.check_texts({d.context}, "context");
              if (!d.ignore_tags.empty() && d.tag_handling != "xml")
                call->warnings.tell("ignore_tags: only has an effect if tag_handling is xml");
              Json body = as_translate_body(d);
              const std::vector<std::string> glossaries =
                  chosen_glossaries(service, *call, {d.glossary_id, d.glossary_ids, d.source_lang, d.target_lang});
              if (!glossaries.empty()) body["glossary"] = glossaries;
              TranslateRequest r = read_translate_request(body, call->warnings);
              r.style_may_be_left_out = may_be_left_out(d.formality);
              r.context_text = d.context;
              call->shape = deepl_shape(d);
              translate(service, call, std::move(r), std::move(body));
            },
        .errors = ErrorStyle::deepl}});
}

}  // namespace tril::serve
