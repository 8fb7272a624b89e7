#include "serve/api/translate_request.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/http/http_error.h"

namespace tril::serve {

void add_term_fields(Fields& f, TranslateRequest& r) {
  f.add("glossary", &r.glossary,
        "name or id of a glossary, or a list of them, the most important first: their phrases get their translations");
  f.add("glossary-match", &r.glossary_match,
        "how phrases are compared: exact, case (upper and lower case are equal) or stem (endings may differ)",
        terms::match_names());
  f.add("memory", &r.memory, "name of a translation memory; the response lists similar sentences");
  f.add("memory-use", &r.memory_use,
        "exact: a sentence that is in the memory gets its translation from there; tell: the model "
        "translates every sentence, and the response shows what the memory has",
        terms::memory_use_names());
}

void add_common_fields(Fields& f, TranslateRequest& r) {
  f.add("source", &r.source,
        "language of the text, by its code in any form; auto: the detected one of each text; unset: the only possible "
        "one, or else as for auto");
  f.add("target", &r.target,
        "target language, in the same forms; unset: the only possible one, or as the model's directory says");
  f.add("api-key", &r.api_key, "the key, which may also be sent in the header");
  f.add("model", &r.model, "name of the model; unset: one for these languages");
  f.add("context", &r.context,
        "for a language model: the number of sentences before each sentence that its prompt shows")
      .at_least(0)
      .at_most(100);
  f.add("style", &r.style, "for a language model: the style that its prompt asks for, such as formal");
  add_term_fields(f, r);
  f.add("replace-unknowns", &r.replace_unknowns, "replace an unknown token with the source word it attends to most");
  add_search_fields(f, r.search, true);
}

Fields fields_of(TranslateRequest& r) {
  Fields f;
  f.add("q", &r.q, "a text or a list of texts to translate").required();
  f.add("format", &r.format, "text, or html or xml, whose markup is kept").choices({"text", "html", "xml"});
  f.add("ignore-tags", &r.xml.ignored, "for xml: elements whose text is not translated");
  f.add("splitting-tags", &r.xml.splitting, "for xml: elements that divide the text");
  f.add("non-splitting-tags", &r.xml.non_splitting, "for xml: elements that stand within a sentence");
  f.add("outline-detection", &r.xml.outline,
        "for xml: elements between elements divide the text too; elements beside words do not");
  f.add("alternatives", &r.alternatives, "number of alternative translations of each text").at_least(0).at_most(31);
  f.add("split", &r.split,
        "how a text is split before it is translated; nonewlines: into sentences, which may continue in the next line")
      .choices({"sentences", "nonewlines", "lines", "none"});
  f.add("prefix", &r.prefix, "beginning of the translation; needs split none");
  f.add("scores", &r.scores, "also return scores, log-probabilities and tokens");
  f.add("alignment", &r.alignment, "also return the source tokens of each output token, by cross-attention");
  f.add("stream", &r.stream, "report progress by server-sent events");
  add_schedule_fields(f, r.schedule, "the best translation so far is returned; 503 if a sentence has none");
  add_common_fields(f, r);
  return f;
}

TranslateRequest read_translate_request(const Json& body, Warnings& warnings) {
  // LibreTranslate's own page sends "secret".
  // A pointer, as in completion_request.cpp.
  thread_local const auto form = std::make_unique<RequestForm<TranslateRequest>>(
      [](TranslateRequest& r) { return fields_of(r); }, std::vector<std::string>{"terminology", "secret"});
  TranslateRequest r = form->read(body, warnings);
  if (!form->given("q")) throw HttpError(400, "Invalid request: missing q parameter").of_field("q");
  return r;
}

Json translate_schema() {
  Json schema = schema_of_request<TranslateRequest>();
  schema["properties"]["terminology"] = {{"type", "object"},
                                         {"description", "source phrases and the translations they must have"}};
  return schema;
}

std::shared_ptr<const terms::TermMatcher> inline_terminology(const Json& body) {
  const auto given = body.find("terminology");
  if (given == body.end() || given->is_null()) return nullptr;
  const HttpError wrong =
      field_error("terminology", "expected {\"phrase\": \"translation\", ...} or [[phrase, translation], ...]");
  std::vector<terms::Entry> entries;
  if (given->is_object()) {
    for (const auto& [source, target] : given->items()) {
      if (!target.is_string()) throw wrong;
      entries.push_back({source, target.get<std::string>()});
    }
  } else if (given->is_array()) {
    for (const Json& pair : *given) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string()) throw wrong;
      entries.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
    }
  } else {
    throw wrong;
  }
  if (entries.size() > 1000) throw field_error("terminology", "at most 1000 phrases are allowed");
  if (entries.empty()) return nullptr;
  return std::make_shared<const terms::TermMatcher>(std::move(entries), terms::MatchOptions{});
}

void check_over_pivots(const TranslateRequest& r, const Json& body, const std::vector<std::string>& pivots) {
  const auto given = [&](const char* name) { return body.contains(name) && !body[name].is_null(); };
  const char* const field = r.alignment            ? "alignment"
                            : r.word_links         ? "word_links"
                            : r.replace_unknowns   ? "replace_unknowns"
                            : given("terminology") ? "terminology"
                            : !r.glossary.empty()  ? "glossary"
                            : !r.memory.empty()    ? "memory"
                                                   : nullptr;
  if (field)
    throw field_error(field, fmt::format("is not possible for a translation through {}, because no model both reads "
                                         "the source and writes the target; leave it out",
                                         fmt::join(pivots, ", ")));
}

}  // namespace tril::serve
