// Microsoft's Translator API, version 3.0 [learn.microsoft.com/azure/ai-services/translator/text-translation/reference/v3/reference]:
//   POST /translate, /detect, /breaksentence   GET /languages
// with api-version in the address, or under /translator/text/v3.0 as at Azure's own addresses of a customer; and
//   POST /sts/v1.0/issueToken
#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "format/json_file.h"
#include "language/name.h"
#include "serve/api/joined_answer.h"
#include "serve/api/translate_api.h"
#include "serve/dialects/dialects.h"
#include "serve/dialects/language_codes.h"
#include "serve/dialects/microsoft_dictionary.h"
#include "serve/dialects/microsoft_places.h"
#include "unicode/segments.h"

namespace tril::serve {
namespace {

// The fields of a translation's address.
struct MicrosoftRequest {
  std::string from, text_type = "plain", category = "general";
  std::vector<std::string> to;
  bool alignment = false, sentence_lengths = false;
};

Json text_schema(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

Json translate_query() {
  return {
      {"type", "object"},
      {"properties",
       {{"api-version", text_schema("3.0")},
        {"to",
         {{"type", "array"},
          {"items", {{"type", "string"}}},
          {"description", "target language, by its code in any form; may be repeated"}}},
        {"from",
         text_schema("source language, likewise; unset: the only possible one, or else it is detected, for each text")},
        {"textType", text_schema("plain, or html, whose markup is kept")},
        {"category", text_schema("name of the model; unset or general: one for these languages")},
        {"includeAlignment",
         text_schema("true: the words of both texts that correspond, of a model with alignment heads")},
        {"includeSentenceLength", text_schema("true: the lengths of the sentences of both texts")},
        {"suggestedFrom", text_schema("has no effect: a text of uncertain language is refused")},
        {"allowFallback", text_schema("has no effect")}}},
      {"required", Json::array({"to"})}};
}

Json texts_schema() {
  return {{"type", "array"},
          {"items",
           {{"type", "object"},
            {"properties", {{"Text", {{"type", "string"}, {"description", "a text"}}}}},
            {"required", Json::array({"Text"})}}}};
}

Json query_with(const std::string& name, const char* description) {
  return {{"type", "object"}, {"properties", {{"api-version", text_schema("3.0")}, {name, text_schema(description)}}}};
}

void check_version(const std::string& version) {
  if (version != "3.0")
    throw field_error("api-version", fmt::format("expected 3.0, got \"{}\"", printable(version, 20)));
}

// The fields in an address by name, without those that only identify the client. A route under /translator/text/v3.0 states the
// version by its path.
std::vector<std::pair<std::string, std::string>> fields_in_address(const HttpRequest& request) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (auto& field : url_encoded_fields(request.query_text)) {
    const std::string name = lower(field.first);
    if (name == "api-version") check_version(field.second);
    if (name != "api-version" && name != "subscription-key" && name != "api_key" && name != "clienttraceid")
      fields.push_back(std::move(field));
  }
  return fields;
}

bool says_yes(const std::string& name, const std::string& value) {
  if (lower(value) != "true" && lower(value) != "false")
    throw field_error(name, fmt::format("expected true or false, got \"{}\"", printable(value, 20)));
  return lower(value) == "true";
}

void pass_over_unknown(const CallPtr& call, const std::string& name) {
  call->warnings.pass_over(printable(name, 64), printable(name, 64) + ": there is no such field");
}

MicrosoftRequest read_translate_fields(const CallPtr& call) {
  MicrosoftRequest r;
  for (const auto& [name, value] : fields_in_address(call->request)) {
    const std::string key = lower(name);
    if (key == "to") {
      r.to.push_back(value);
    } else if (key == "from") {
      r.from = value;
    } else if (key == "texttype") {
      r.text_type = lower(value);
    } else if (key == "category") {
      r.category = value;
    } else if (key == "profanityaction") {
      if (lower(value) != "noaction") throw field_error(name, "only NoAction is supported");
    } else if (key == "includealignment") {
      r.alignment = says_yes(name, value);
    } else if (key == "includesentencelength") {
      r.sentence_lengths = says_yes(name, value);
    } else if (key == "fromscript" || key == "toscript") {
      throw field_error(name, "is not supported; give the script with the language, as in zh-Hant");
    } else if (key != "suggestedfrom" && key != "allowfallback" && key != "profanitymarker") {
      pass_over_unknown(call, name);
    }
  }
  if (r.to.empty()) throw field_error("to", "is missing");
  if (r.to.size() > 16) throw field_error("to", fmt::format("{} languages, expected at most 16", r.to.size()));
  if (r.text_type != "plain" && r.text_type != "html")
    throw field_error("textType", fmt::format("expected plain or html, got \"{}\"", printable(r.text_type, 20)));
  if (r.text_type == "html" && (r.alignment || r.sentence_lengths))
    throw field_error(r.alignment ? "includeAlignment" : "includeSentenceLength", "is only possible for plain texts");
  return r;
}

// The one field of a route's address, or "".
std::string only_field(const CallPtr& call, const std::string& wanted) {
  std::string found;
  for (const auto& [name, value] : fields_in_address(call->request))
    if (lower(name) == wanted)
      found = value;
    else
      pass_over_unknown(call, name);
  return found;
}

// The texts of a body: [{"Text": "..."}, ...].
std::vector<std::string> texts_of(Service& service, const CallPtr& call) {
  Json body;
  try {
    body = parse_ordered_json(call->request.body, "the body", {.bytes = std::uint64_t{64} << 20, .depth = 8});
  } catch (const Error& error) {
    throw HttpError(400, error.what());
  }
  const HttpError wrong(400, "the body is not a list of the form [{\"Text\": \"...\"}, ...]");
  if (!body.is_array() || body.empty()) throw wrong;
  std::vector<std::string> texts;
  for (const Json& one : body) {
    if (!one.is_object()) throw wrong;
    const auto text = one.contains("Text") ? one.find("Text") : one.find("text");
    if (text == one.end() || !text->is_string()) throw wrong;
    texts.push_back(text->get<std::string>());
    for (const auto& [name, value] : one.items())
      if (name != "Text" && name != "text") pass_over_unknown(call, name);
  }
  service.check_texts(texts, "Text");
  return texts;
}

// Turns the response of POST /translate into Microsoft's. Its texts are all translations into the first language, then all into the next.
Json microsoft_translations(const Json& body, const MicrosoftRequest& m, const std::vector<std::string>& texts) {
  const std::vector<std::string>& to = m.to;
  const Json& all = body["translatedText"];
  const std::size_t count = all.size() / to.size();
  const auto detected = body.find("detectedLanguage");
  Json list = Json::array();
  for (std::size_t i = 0; i < count; ++i) {
    Json one = Json::object();
    const bool html = m.text_type == "html";
    if (m.from.empty() && detected != body.end())
      one["detectedLanguage"] = {{"language", (*detected)[i]["language"]},
                                 {"score", (*detected)[i]["confidence"].get<double>() / 100}};
    for (std::size_t t = 0; t < to.size(); ++t) {
      const Json& written = all[t * count + i];
      const Json text = html ? Json(without_dictionary_marks(written.get<std::string>())) : written;
      Json translation{{"text", text}, {"to", to[t]}};
      if (m.alignment)
        translation["alignment"] = word_alignment(body["sentences"][t * count + i], texts[i], text.get<std::string>());
      if (m.sentence_lengths)
        translation["sentLen"] = sentence_lengths(body["sentences"][t * count + i], texts[i], text.get<std::string>());
      one["translations"].push_back(std::move(translation));
    }
    list.push_back(std::move(one));
  }
  return list;
}

void translate_for_microsoft(Service& service, const CallPtr& call) {
  service.check_room(call, true);
  const MicrosoftRequest m = read_translate_fields(call);
  const std::vector<std::string> texts = texts_of(service, call);
  if (texts.size() * m.to.size() > service.options().most_texts)
    throw field_error("to", fmt::format("{} texts into {} languages are more than {} translations", texts.size(),
                                        m.to.size(), service.options().most_texts));
  std::size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  if (bytes * m.to.size() > service.options().most_characters)
    throw HttpError(413, fmt::format("Text: {} bytes into {} languages are more than {} bytes in a request", bytes,
                                     m.to.size(), service.options().most_characters))
        .of_field("Text");
  std::int64_t characters = 0;
  for (const std::string& text : texts) characters += characters_in(text);
  count_characters(service, call, characters * std::ssize(m.to));
  std::vector<std::string> asked = texts;
  for (std::string& text : asked) {
    if (m.text_type == "html")
      text = with_dictionary_words(text);
    else if (has_dictionary_words(text))
      throw field_error("Text", "elements <mstrans:dictionary> are supported only in HTML: set textType=html");
  }
  call->shape = [m, texts](const Json& body) { return microsoft_translations(body, m, texts); };
  const auto joined = m.to.size() > 1 ? std::make_shared<JoinedAnswer>(call, m.to.size()) : nullptr;
  if (joined) service.count_texts(*call, texts.size() * m.to.size());  // else translate() does
  std::vector<CallPtr> parts;
  for (std::size_t t = 0; t < m.to.size(); ++t) {
    std::vector<std::size_t> places(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) places[i] = t * texts.size() + i;
    parts.push_back(joined ? joined->part(std::move(places)) : call);
  }
  for (std::size_t t = 0; t < m.to.size(); ++t) {
    Json body{{"q", asked},
              {"source", m.from},
              {"target", m.to[t]},
              {"format", m.text_type == "html" ? "html" : "text"},
              {"model", lower(m.category) == "general" ? "" : m.category}};
    TranslateRequest r = read_translate_request(body, call->warnings);
    r.sentence_places = m.alignment || m.sentence_lengths;
    r.word_links = m.alignment;
    if (!joined) return translate(service, call, std::move(r), std::move(body));
    parts[t]->waited = call->waited || t > 0;  // the others are admitted with the first
    try {
      translate(service, parts[t], std::move(r), std::move(body));
    } catch (...) {
      return Service::fail(parts[t], std::current_exception());  // answers once, and cancels the others
    }
  }
}

bool is_written_leftwards(const Language& language) {
  static const std::vector<std::string> scripts{"Arab", "Hebr", "Thaa", "Syrc", "Nkoo", "Adlm", "Aran"};
  return std::find(scripts.begin(), scripts.end(), script_of(language)) != scripts.end();
}

void list_languages_for_microsoft(Service& service, const CallPtr& call) {
  const std::string scope = lower(only_field(call, "scope"));
  Json answer = Json::object();
  const auto wants = [&](const char* name) { return scope.empty() || scope.find(name) != std::string::npos; };
  if (wants("translation")) {
    const std::string locale = preferred_locale(call->request.header("accept-language").value_or("en"));
    Json& all = answer["translation"] = Json::object();
    for (const std::string& code : all_codes(service)) {
      const std::optional<Language> language = find_language(code);
      all[code] = {{"name", language ? language_name(*language, locale) : code},
                   {"nativeName", language ? own_name(*language) : code},
                   {"dir", language && is_written_leftwards(*language) ? "rtl" : "ltr"}};
    }
  }
  for (const char* other : {"transliteration", "dictionary"})  // there are none
    if (wants(other)) answer[other] = Json::object();
  call->send(std::move(answer));
}

Json guess_as_json(const std::vector<CodeGuess>& guesses, std::size_t i) {
  return {{"language", guesses[i].code},
          {"score", std::round(guesses[i].confidence) / 100},
          {"isTranslationSupported", guesses[i].is_read},
          {"isTransliterationSupported", false}};
}

void detect_for_microsoft(Service& service, const CallPtr& call) {
  (void)only_field(call, "");
  Json list = Json::array();
  for (const std::string& text : texts_of(service, call)) {
    std::vector<CodeGuess> guesses = guesses_for(service, text);
    if (guesses.empty()) guesses.push_back({unknown_language, 0, false});
    list.push_back(guess_as_json(guesses, 0));
    for (std::size_t i = 1; i < guesses.size(); ++i) list.back()["alternatives"].push_back(guess_as_json(guesses, i));
  }
  call->send(std::move(list));
}

// The lengths of the sentences of a text, each with the white space after it; white space before the first counts to it.
std::vector<std::size_t> lengths_of_sentences(std::string_view text, const std::string& language) {
  std::vector<std::size_t> lengths;
  std::size_t before = 0;
  for (const Segment& segment : segments_of(text, {.split = Split::sentences, .language = language})) {
    const std::size_t size = utf16_units(segment.text);
    if (segment.translated)
      lengths.push_back(size + std::exchange(before, 0));
    else
      (lengths.empty() ? before : lengths.back()) += size;
  }
  if (before > 0) lengths.push_back(before);
  return lengths;
}

void break_sentences_for_microsoft(Service& service, const CallPtr& call) {
  const std::string asked = only_field(call, "language");
  if (!asked.empty() && !find_language(asked))
    throw field_error("language", fmt::format("expected a language code, got \"{}\"", printable(asked, 20)));
  Json list = Json::array();
  for (const std::string& text : texts_of(service, call)) {
    Json one = Json::object();
    std::string language = asked;
    if (const std::vector<CodeGuess> guesses = asked.empty() ? guesses_for(service, text) : std::vector<CodeGuess>{};
        !guesses.empty()) {
      language = guesses[0].code;
      one["detectedLanguage"] = {{"language", language}, {"score", std::round(guesses[0].confidence) / 100}};
    }
    one["sentLen"] = lengths_of_sentences(text, language);
    list.push_back(std::move(one));
  }
  call->send(std::move(list));
}

// Clients such as Weblate exchange their key for a token that they send as Authorization: Bearer. The key itself is the token.
void issue_token(const CallPtr& call) {
  const std::string token = call->key.empty() ? "none" : call->key;  // a server without keys takes any
  call->out->send({.content_type = "application/jwt; charset=us-ascii", .body = token});
}

}  // namespace

void add_microsoft_routes(Service& service) {
  const auto route = [&service](const char* method, const std::string& name, void (*handle)(Service&, const CallPtr&)) {
    return Route{.method = method,
                 .path = "/translator/text/v3.0/" + name,
                 .summary = {},
                 .request_schema = method == std::string_view("GET") ? Json(nullptr) : texts_schema(),
                 .response = {},
                 .handle = [&service, handle](const CallPtr& call) { handle(service, call); },
                 .errors = ErrorStyle::microsoft,
                 .alias = "/" + name,
                 .alias_field = "api-version"};
  };
  Route one = route("POST", "translate", translate_for_microsoft);
  one.summary = "Translates texts into one or several languages, as Microsoft does";
  one.response = "for each text its translations, and detectedLanguage if there was no from";
  one.query_schema = translate_query();
  Route two = route("POST", "detect", detect_for_microsoft);
  two.summary = "Detects the languages of texts, as Microsoft does";
  two.response = "for each text its likeliest language with a score from 0 to 1, and alternatives";
  two.query_schema = query_with("api-version", "3.0");
  Route three = route("GET", "languages", list_languages_for_microsoft);
  three.summary = "Lists the languages, as Microsoft does";
  three.response = "translation: for each language its name, its name in itself, and the direction of its script";
  three.query_schema = query_with("scope", "translation, transliteration, dictionary; unset: all");
  Route four = route("POST", "breaksentence", break_sentences_for_microsoft);
  four.summary = "Returns the lengths of the sentences of texts, as Microsoft does";
  four.response = "for each text sentLen, in units of UTF-16";
  four.query_schema = query_with("language", "language of the texts; unset: the detected one");
  Route token{
      .method = "POST",
      .path = "/sts/v1.0/issueToken",
      .summary = "Returns the token for Authorization: Bearer that belongs to a key, as Microsoft does: the key itself",
      .request_schema = nullptr,
      .response = "the token",
      .handle = issue_token,
      .errors = ErrorStyle::microsoft,
      .response_type = "application/jwt",
      .query_schema = query_with("Subscription-Key", "the key, unless it is in the header")};
  service.add_routes({std::move(one), std::move(two), std::move(three), std::move(four), std::move(token)});
}

}  // namespace tril::serve
