// Translates files for LibreTranslate's clients:
//   POST /translate_file   GET /download_file/{name}
#include <algorithm>
#include <cmath>

#include "document/formats/formats.h"
#include "serve/api/form_body.h"
#include "serve/api/request_terms.h"
#include "serve/api/search_fields.h"
#include "serve/api/service.h"

namespace tril::serve {
namespace {

constexpr Clock::duration between_events = std::chrono::milliseconds(100);
constexpr std::size_t id_digits = 32;

// The fields of /translate that apply to files.
struct FileRequest {
  TranslateRequest all;
};
Fields fields_of(FileRequest& request) {
  TranslateRequest& r = request.all;
  Fields f;
  add_common_fields(f, r);
  f.add("stream", &r.stream, "report progress by server-sent events; so does the header Accept: text/event-stream");
  return f;
}

Json file_schema() {
  Json schema = schema_of_request<FileRequest>();
  Json properties{{"file",
                   {{"type", "string"},
                    {"format", "binary"},
                    {"description", "the file; its name ends in one of: " + document::known_extensions()}}}};
  properties.update(schema["properties"]);
  properties["terminology"] = {{"type", "object"},
                               {"description", "source phrases and the translations they must have"}};
  schema["properties"] = std::move(properties);
  schema["required"] = Json::array({"file"});
  return schema;
}

// The address under which the client has reached the server, "" if it does not say. It appears only in the client's own response.
std::string own_address(const HttpRequest& request) {
  const std::string host = request.header("host").value_or("");
  const auto is_odd = [](unsigned char c) {
    return c >= 0x80 || !(std::isalnum(c) || c == '.' || c == ':' || c == '-' || c == '_' || c == '[' || c == ']');
  };
  if (host.empty() || std::any_of(host.begin(), host.end(), is_odd)) return "";
  const bool secure = request.secure || request.header("x-forwarded-proto") == "https";
  return (secure ? "https://" : "http://") + host;
}

// The response to one file, possibly with its progress before.
class FileAnswer {
 public:
  FileAnswer(CallPtr call, bool streams) : call_(std::move(call)), streams_(streams) {}

  void tell(const DocumentProgress& now) {
    if (!streams_) return;
    const std::lock_guard lock(mutex_);
    if (now.done < told_ || (now.done < now.total && begun_ && Clock::now() < next_)) return;
    told_ = now.done, next_ = Clock::now() + between_events;
    if (!std::exchange(begun_, true)) call_->out->begin({.content_type = "text/event-stream", .body = {}});
    Json progress{{"sentences", now.done}, {"of", now.total}};
    if (now.seconds_left) progress["secondsLeft"] = std::llround(std::ceil(*now.seconds_left));
    event({{"progress", std::move(progress)}});
  }

  void end(const DocumentTranslation& document) {
    const std::lock_guard lock(mutex_);
    call_->caller->model = document.path().model;  // for the log
    if (document.state() == DocumentTranslation::State::failed) {
      DocumentFailure failure = document.failure();
      Json body{{"error", failure.message}};
      if (!begun_)
        return call_->out->send(
            {.status = failure.status, .body = json_text(body) + "\n", .headers = std::move(failure.headers)});
      event(body);
      return call_->out->finish();
    }
    Json body = answer(document);
    document.terms().put_into(body, call_->warnings);
    call_->warnings.add(document.warnings());
    if (!begun_) return call_->send(std::move(body));
    call_->warnings.put_into(body);
    event(body);
    call_->out->write("data: [DONE]\n\n");
    call_->out->finish();
  }

 private:
  void event(const Json& json) { call_->out->write("data: " + json_text(json) + "\n\n"); }

  Json answer(const DocumentTranslation& document) const {
    const std::string name = document.id() + "." + document.result_name();
    Json body{{"translatedFileUrl", own_address(call_->request) + "/download_file/" + url_encoded(name)}};
    const DocumentPath path = document.path();
    if (!path.pivots.empty()) body["pivot"] = path.pivots;
    if (!path.detected.empty())
      body["detectedLanguage"] = {{"confidence", std::round(path.confidence)}, {"language", path.detected}};
    if (!path.assumed.empty()) {
      body["detectedLanguage"] = {{"confidence", 0}, {"language", path.assumed}};
      body["sourceAssumed"] = path.assumed;
    }
    return body;
  }

  CallPtr call_;
  bool streams_;
  std::mutex mutex_;
  bool begun_ = false;
  std::size_t told_ = 0;
  Clock::time_point next_ = {};
};

void translate_file(Service& service, const CallPtr& call) {
  if (service.documents().limits().most_bytes == 0)
    throw HttpError(403, "Files translation are disabled on this server.");
  static const Json properties = file_schema()["properties"];
  FileForm form = read_file_form(call->request);
  Json body = json_of_form(form.fields, properties);
  FileRequest request = read_request<FileRequest>(body, call->warnings, {"terminology", "secret"});
  DocumentTask task{.name = form.name,
                    .bytes = std::string(form.bytes),
                    .request = std::move(request.all),
                    .body = std::move(body),
                    .field_bytes = form.field_bytes};
  task.request.term_sources = term_sources(service, *call);
  call->request.body = {};
  const bool streams =
      task.request.stream || call->request.header("accept").value_or("").find("text/event-stream") != std::string::npos;
  const auto answer = std::make_shared<FileAnswer>(call, streams);
  task.on_progress = [answer](const DocumentProgress& now) { answer->tell(now); };
  task.on_end = [answer](const DocumentTranslation& document) { answer->end(document); };
  const Documents::Ticket ticket = service.documents().begin(call, std::move(task), Documents::Lifetime::request);
  call->out->on_gone([weak = std::weak_ptr(ticket.document)] {
    if (const auto document = weak.lock()) document->cancel();
  });
}

// The name of a downloaded file in a header [RFC 6266].
std::string attachment(const std::string& name) {
  std::string plain = name;
  const auto is_odd = [](unsigned char c) { return c < 0x20 || c >= 0x7f || c == '"' || c == '\\'; };
  std::replace_if(plain.begin(), plain.end(), is_odd, '_');
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, url_encoded(name));
}

void download_file(Service& service, const CallPtr& call) {
  const std::string name = call->request.path.substr(std::string_view("/download_file/").size());
  const std::string id = name.substr(0, id_digits);
  const DocumentPtr document = service.documents().find(*call, id);
  if (!document || document->state() != DocumentTranslation::State::done || name != id + "." + document->result_name())
    throw HttpError(404, "there is no such file; it was downloaded or deleted, or it belongs to another API key");
  HttpResponse response{.content_type = "application/octet-stream",
                        .body = {},
                        .headers = {{"Content-Disposition", attachment(document->result_name())}}};
  // A HEAD request gets the length of the file, which stays.
  response.body = call->request.method == "HEAD" ? document->result().bytes : service.documents().take(id).bytes;
  call->out->send(std::move(response));
}

}  // namespace

void Service::add_document_routes() {
  routes_.push_back({.method = "POST",
                     .path = "/translate_file",
                     .summary = "Translates a file, as LibreTranslate does, and keeps its layout",
                     .request_schema = file_schema(),
                     .response = "translatedFileUrl, the address of the translation; detectedLanguage, sourceAssumed, "
                                 "pivot, terms (with the count of each), memory and warnings as for /translate. With "
                                 "stream, events before it: {\"progress\": "
                                 "{\"sentences\": 12, \"of\": 40, \"secondsLeft\": 3}}",
                     .handle = [this](const CallPtr& call) { translate_file(*this, call); },
                     .errors = ErrorStyle::libretranslate,
                     .takes_file = true});
  routes_.push_back({.method = "GET",
                     .path = "/download_file/{name}",
                     .summary = "A translated file, once, for the API key that sent it",
                     .request_schema = nullptr,
                     .response = "the file",
                     .handle = [this](const CallPtr& call) { download_file(*this, call); },
                     .errors = ErrorStyle::libretranslate,
                     .response_type = "application/octet-stream"});
}

}  // namespace tril::serve
