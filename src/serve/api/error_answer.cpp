#include "serve/api/error_answer.h"

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "serve/http/http_error.h"

namespace tril::serve {
namespace {

// The field at the beginning of an error's place; "" if it begins with none.
std::string field_at(std::string_view place, const Json& fields) {
  const std::size_t end = place.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
  const std::string name(place.substr(0, end));
  return fields.is_object() && fields.contains(name) ? name : "";
}

}  // namespace

ErrorAnswer error_answer(const std::exception_ptr& error, const std::string& path, const Json& fields) {
  ErrorAnswer a{.message = "internal error", .type = "server_error", .parameter = {}, .code = {}, .headers = {}};
  try {
    std::rethrow_exception(error);
  } catch (const HttpError& e) {
    a.status = e.status(), a.message = e.what(), a.type = e.type(), a.parameter = e.parameter(), a.code = e.code;
    if (!e.allow.empty()) a.headers.emplace_back("Allow", e.allow);
    if (e.retry_after) a.headers.emplace_back("Retry-After", std::to_string(*e.retry_after));
    if (a.status == 401) a.headers.emplace_back("WWW-Authenticate", "Bearer");
    if (!e.accept_encoding.empty()) a.headers.emplace_back("Accept-Encoding", e.accept_encoding);
  } catch (const Error& e) {
    a.message = e.what();
    if (e.kind() == ErrorKind::usage)
      a.status = 400, a.type = invalid_request, a.parameter = field_at(e.where(), fields);
    else
      spdlog::error("{}: {}", path, e.what());
  } catch (const std::bad_alloc&) {
    a.status = 503, a.message = "out of memory";
    spdlog::error("{}: out of memory", path);
  } catch (const std::exception& e) {
    spdlog::error("{}: internal error: {}", path, e.what());
  }
  return a;
}

Json openai_error(const ErrorAnswer& a) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {
      {"message", a.message}, {"type", a.type}, {"param", text_or_null(a.parameter)}, {"code", text_or_null(a.code)}};
}

}  // namespace tril::serve
