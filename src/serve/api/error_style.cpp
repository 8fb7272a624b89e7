// Formats of errors:
//   OpenAI          {"error": {"message", "type", "param", "code"}}
//   LibreTranslate  {"error": "..."}
//   DeepL           {"message": "..."}
//   Google          {"error": {"code", "message", "errors": [...], "status"}}, as Google's JSON APIs have in common
//   Microsoft       {"error": {"code", "message"}}, with a code of six digits that begins with the status
#include "serve/api/error_style.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

#include "serve/api/error_answer.h"

namespace tril::serve {
namespace {

struct StyleRules {
  std::string_view name, key;
  bool forms, address;
};

const StyleRules& rules_of(ErrorStyle style) {
  static constexpr std::array<StyleRules, 5> rules{{{"OpenAI", "", false, false},
                                                    {"LibreTranslate", "", true, false},
                                                    {"DeepL", "auth_key", true, false},
                                                    {"Google", "key", true, true},
                                                    {"Microsoft", "Subscription-Key", false, true}}};
  return rules.at(static_cast<std::size_t>(style));
}

// Google's names of a status: the reason of older clients, and the canonical one.
std::pair<std::string, std::string> google_status(int status) {
  switch (status) {
    case 401:
      return {"authError", "UNAUTHENTICATED"};
    case 403:
      return {"forbidden", "PERMISSION_DENIED"};
    case 404:
      return {"notFound", "NOT_FOUND"};
    case 429:
      return {"rateLimitExceeded", "RESOURCE_EXHAUSTED"};
    case 503:
      return {"backendError", "UNAVAILABLE"};
    default:
      if (status >= 500) return {"backendError", "INTERNAL"};
      return {"invalid", "INVALID_ARGUMENT"};
  }
}

int microsoft_code(const ErrorAnswer& a) {
  if (a.status == 400 && (a.parameter == "source" || a.parameter == "from")) return 400'035;
  if (a.status == 400 && (a.parameter == "target" || a.parameter == "to")) return 400'036;
  return a.status * 1000;
}

// The message with the style's own name of the field at its beginning: translations read the fields of POST /translate.
std::string message_for(const ErrorAnswer& a, const std::map<std::string_view, std::string_view>& names) {
  const auto own = names.find(a.parameter);
  if (own == names.end() || !a.message.starts_with(a.parameter)) return a.message;
  return std::string(own->second) + a.message.substr(a.parameter.size());
}

std::string deepl_message(const ErrorAnswer& a) {
  if (a.parameter == "style") return "Target language does not support formality: " + a.message;
  if (a.status == 400 && (a.parameter == "source" || a.parameter == "target") && a.code.empty())
    return fmt::format("Value for '{}_lang' not supported: {}", a.parameter, a.message);
  return message_for(a, {{"q", "text"}, {"source", "source_lang"}, {"target", "target_lang"}});
}

}  // namespace

std::string_view name_of(ErrorStyle style) {
  return rules_of(style).name;
}
std::string_view key_field(ErrorStyle style) {
  return rules_of(style).key;
}
bool takes_forms(ErrorStyle style) {
  return rules_of(style).forms;
}
bool reads_address(ErrorStyle style) {
  return rules_of(style).address;
}

std::string json_type(ErrorStyle style) {
  const bool names_encoding = style == ErrorStyle::google || style == ErrorStyle::microsoft;
  return names_encoding ? "application/json; charset=UTF-8" : "application/json";
}

int error_status(const ErrorAnswer& a, ErrorStyle style) {
  if (style == ErrorStyle::deepl && a.code == "quota_exceeded") return 456;  // DeepL's own
  const bool refused = style == ErrorStyle::deepl            ? a.status == 401
                       : style == ErrorStyle::libretranslate ? a.code == "invalid_api_key"
                                                             : false;
  return refused ? 403 : a.status;
}

Json error_body(const ErrorAnswer& a, ErrorStyle style) {
  switch (style) {
    case ErrorStyle::openai:
      return {{"error", openai_error(a)}};
    case ErrorStyle::libretranslate:
      return {{"error", a.code == "invalid_api_key" ? "Invalid API key" : a.message}};
    case ErrorStyle::deepl:
      return {{"message", deepl_message(a)}};
    case ErrorStyle::google: {
      const auto [reason, canonical] = google_status(a.status);
      const Json one{{"message", a.message}, {"domain", "global"}, {"reason", reason}};
      return {{"error",
               {{"code", a.status}, {"message", a.message}, {"errors", Json::array({one})}, {"status", canonical}}}};
    }
    case ErrorStyle::microsoft:
      return {{"error",
               {{"code", microsoft_code(a)},
                {"message",
                 message_for(
                     a, {{"q", "Text"}, {"source", "from"}, {"target", "to"}, {"word_links", "includeAlignment"}})}}}};
  }
  return {};
}

Json error_schema(ErrorStyle style) {
  const Json text{{"type", "string"}}, number{{"type", "integer"}};
  const auto object = [](const Json& properties) {
    Json required = Json::array();
    for (const auto& [name, schema] : properties.items()) required.push_back(name);
    return Json{{"type", "object"}, {"properties", properties}, {"required", std::move(required)}};
  };
  const Json text_or_null{{"type", "string"}, {"nullable", true}};
  switch (style) {
    case ErrorStyle::openai:
      return object(
          {{"error", object({{"message", text}, {"type", text}, {"param", text_or_null}, {"code", text_or_null}})}});
    case ErrorStyle::libretranslate:
      return object({{"error", text}});
    case ErrorStyle::deepl:
      return object({{"message", text}});
    case ErrorStyle::google: {
      const Json one = object({{"message", text}, {"domain", text}, {"reason", text}});
      return object({{"error", object({{"code", number},
                                       {"message", text},
                                       {"errors", {{"type", "array"}, {"items", one}}},
                                       {"status", text}})}});
    }
    case ErrorStyle::microsoft:
      return object({{"error", object({{"code", number}, {"message", text}})}});
  }
  return {};
}

}  // namespace tril::serve
