// Explains an HTTP error of the hub: its meaning, and what to do.
//
// Source: the X-Error-Code and X-Error-Message headers as huggingface_hub reads them (utils/_http.py), and RFC 9110
// for Retry-After.
#pragma once

#include <optional>
#include <string>

#include "hub/http_client.h"
#include "hub/settings.h"

namespace tril::hub {

/// The request, for messages.
struct Asked {
  std::string where;  ///< "Helsinki-NLP/opus-mt-en-de", a URL
  std::string repo;   ///< empty: a URL, not a repository
  std::string revision;
  std::string file;  ///< empty: the listing
};

/// True if a later try may succeed: 408, 429, 5xx, a broken connection.
bool may_pass(const HttpAnswer& answer);

/// The seconds of a Retry-After header, if it has a number.
std::optional<double> retry_after(const HttpAnswer& answer);

/// @throws Error that explains an unsuccessful response
[[noreturn]] void fail_answer(const HttpAnswer& answer, const Asked& asked, const HubSettings& settings);

}  // namespace tril::hub
