// Documents for DeepL's clients, which send a file, ask how far it is, and fetch the translation:
//   POST /v2/document   POST /v2/document/{document_id}   POST /v2/document/{document_id}/result
#include <algorithm>
#include <cmath>

#include "document/formats/formats.h"
#include "serve/api/body_reading.h"
#include "serve/api/form_body.h"
#include "serve/api/model_choice.h"
#include "serve/api/request_terms.h"
#include "serve/dialects/deepl_glossary.h"
#include "serve/dialects/deepl_style.h"
#include "serve/dialects/dialects.h"

namespace tril::serve {
namespace {

struct UploadRequest {
  std::string source_lang, target_lang, formality = "default", filename, output_format, glossary_id;
  std::vector<std::string> glossary_ids;
};
Fields fields_of(UploadRequest& r) {
  Fields f;
  f.add("target-lang", &r.target_lang, "target language: DE, EN-GB, ZH-HANS, or a code in any other form").required();
  f.add("source-lang", &r.source_lang,
        "source language, in the same forms; unset: the only possible one, or else the detected one");
  f.add("formality", &r.formality, "as for POST /v2/translate").choices(formalities());
  f.add("glossary-id", &r.glossary_id, "as for POST /v2/translate");
  f.add("glossary-ids", &r.glossary_ids, "likewise, with commas between the ids");
  f.add("filename", &r.filename, "name of the file, whose extension gives its format; unset: the name in the form");
  f.add("output-format", &r.output_format, "the extension of the file; no other format can be written");
  return f;
}

Json upload_schema() {
  Json schema = schema_of_request<UploadRequest>();
  schema["properties"]["file"] = {
      {"type", "string"},
      {"format", "binary"},
      {"description", "the file; its name ends in one of: " + document::known_extensions()}};
  schema["required"].push_back("file");
  return schema;
}

struct KeyRequest {
  std::string document_key;
};
Fields fields_of(KeyRequest& r) {
  Fields f;
  f.add("document-key", &r.document_key, "the key that the upload has returned").required();
  return f;
}

std::string extension_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : lower(name.substr(dot + 1));
}

// Refuses at once what no document can have; DeepL's clients expect such errors from the upload.
// @return the name of the model, for the log; "" if the language of the document decides
std::string check_languages(const Service& service, const UploadRequest& d) {
  const TranslationWish wish = checked_wish(service, {"", d.source_lang, d.target_lang});
  std::string model;
  if (!wish.source.empty())
    model = choose_model(service, wish).model.name;
  else if (const std::vector<Models::Offer> possible = possible_models(service, wish); possible.size() == 1)
    model = possible[0].name;
  if (style_of(d.formality).empty() || may_be_left_out(d.formality)) return model;
  const std::vector<Models::Offer> models = service.models().offers();
  const bool has_style = std::any_of(models.begin(), models.end(), [&](const Models::Offer& offer) {
    return offer.profile->takes_style && offer.profile->languages.into.find(wish.target);
  });
  if (!has_style) throw HttpError(400, "no model here has a place for a style").of_field("style");
  return model;
}

void take_document(Service& service, const CallPtr& call) {
  static const Json properties = upload_schema()["properties"];
  FileForm form = read_file_form(call->request);
  Json fields = json_of_form(form.fields, properties);
  fields.erase(std::string(key_field(ErrorStyle::deepl)));
  const auto d = read_request<UploadRequest>(fields, call->warnings);
  const std::string name = d.filename.empty() ? form.name : d.filename;
  if (!d.output_format.empty() && lower(d.output_format) != extension_of(name))
    throw field_error("output_format", fmt::format("the translation of {} is a file of the same format", name));
  call->caller->model = check_languages(service, d);
  DocumentTask task{.name = name,
                    .bytes = std::string(form.bytes),
                    .request = {},
                    .body = Json::object(),
                    .field_bytes = form.field_bytes};
  task.request.source = d.source_lang;
  task.request.target = d.target_lang;
  task.request.glossary =
      chosen_glossaries(service, *call, {d.glossary_id, d.glossary_ids, d.source_lang, d.target_lang});
  task.request.term_sources = term_sources(service, *call);
  task.request.style = style_of(d.formality);
  task.request.style_may_be_left_out = may_be_left_out(d.formality);
  call->request.body = {};
  const Documents::Ticket ticket = service.documents().begin(call, std::move(task), Documents::Lifetime::document);
  call->send({{"document_id", ticket.id}, {"document_key", ticket.key}});
}

// The document that a request names by its address and its key.
DocumentPtr document_of(Service& service, const CallPtr& call) {
  static const Json properties = schema_of_request<KeyRequest>()["properties"];
  const Json body = fields_of_request(call->request, ErrorStyle::deepl, properties, false);
  const auto r = read_request<KeyRequest>(body, call->warnings);
  const std::string rest = call->request.path.substr(std::string_view("/v2/document/").size());
  const std::string id = rest.substr(0, rest.find('/'));
  DocumentPtr document = service.documents().find(*call, id);
  if (!document || !service.documents().has_key(id, r.document_key))
    throw HttpError(404,
                    "there is no document with this document_id and document_key; it was downloaded or has expired");
  call->caller->model = document->path().model;
  return document;
}

// Why a document has failed, by DeepL's names of the fields.
Json error_of(const DocumentTranslation& document) {
  DocumentFailure failure = document.failure();
  return error_body({.status = failure.status,
                     .message = std::move(failure.message),
                     .type = {},
                     .parameter = std::move(failure.parameter),
                     .code = std::move(failure.code),
                     .headers = {}},
                    ErrorStyle::deepl);
}

Json status_of(const DocumentTranslation& document) {
  using State = DocumentTranslation::State;
  const State state = document.state();
  Json answer{{"document_id", document.id()},
              {"status", state == State::waiting       ? "queued"
                         : state == State::translating ? "translating"
                         : state == State::done        ? "done"
                                                       : "error"}};
  if (state == State::failed) answer["error_message"] = error_of(document)["message"];
  if (state == State::done) answer["billed_characters"] = document.path().characters;
  if (state == State::translating)
    if (const auto seconds = document.progress().seconds_left)
      answer["seconds_remaining"] = std::llround(std::ceil(*seconds));
  return answer;
}

void send_document(Service& service, const CallPtr& call) {
  const DocumentPtr document = document_of(service, call);
  if (document->state() == DocumentTranslation::State::failed)
    throw HttpError(document->failure().status, error_of(*document)["message"].get<std::string>());
  if (document->state() != DocumentTranslation::State::done) {
    HttpError waiting(503, "the document is not translated yet", "server_error");
    waiting.retry_after = 1;
    throw waiting;
  }
  call->out->send({.content_type = "application/octet-stream", .body = service.documents().take(document->id()).bytes});
}

}  // namespace

void add_deepl_document_routes(Service& service) {
  const Json key = schema_of_request<KeyRequest>();
  service.add_routes(
      {{.method = "POST",
        .path = "/v2/document",
        .summary = "Begins to translate a file, as DeepL does",
        .request_schema = upload_schema(),
        .response = "document_id and document_key, with which its translation can be fetched",
        .handle = [&service](const CallPtr& call) { take_document(service, call); },
        .errors = ErrorStyle::deepl,
        .takes_file = true},
       {.method = "POST",
        .path = "/v2/document/{document_id}/result",
        .summary = "A translated file, once; 503 if it is not translated yet",
        .request_schema = key,
        .response = "the file",
        .handle = [&service](const CallPtr& call) { send_document(service, call); },
        .errors = ErrorStyle::deepl,
        .response_type = "application/octet-stream"},
       {.method = "POST",
        .path = "/v2/document/{document_id}",
        .summary = "How far the translation of a file is",
        .request_schema = key,
        .response = "status: queued, translating, done or error; seconds_remaining, billed_characters or "
                    "error_message",
        .handle =
            [&service](const CallPtr& call) {
              const DocumentPtr document = document_of(service, call);
              call->warnings.add(document->warnings());
              call->send(status_of(*document));
            },
        .errors = ErrorStyle::deepl}});
}

}  // namespace tril::serve
