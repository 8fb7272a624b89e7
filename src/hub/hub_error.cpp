#include "hub/hub_error.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/printable.h"
#include "base/progress.h"

namespace tril::hub {
namespace {

// The hub's own message, if there is one: " (Access to model x/y is restricted ...)".
std::string words_of(const HttpAnswer& answer) {
  const std::string words = answer.header("x-error-message");
  return words.empty() ? "" : fmt::format(" ({})", printable(words, 200));
}

std::string page_of(const Asked& asked, const HubSettings& s) {
  return s.endpoint + "/" + asked.repo;
}

std::string how_to_give_a_token(const HubSettings& s) {
  return fmt::format("make a read token at {}/settings/tokens and set HF_TOKEN to it, or run `hf auth login`",
                     s.endpoint);
}

[[noreturn]] void fail_gated(const HttpAnswer& answer, const Asked& asked, const HubSettings& s) {
  const std::string accept = fmt::format("accept its conditions at {}", page_of(asked, s));
  if (s.token.empty())
    fail(asked.where, fmt::format("is a gated model, and no token was sent{}", words_of(answer)),
         fmt::format("{}, then {}", accept, how_to_give_a_token(s)));
  fail(asked.where,
       fmt::format("is a gated model, and the account of the token in {} has no access to it{}",
                   printable(s.token_origin, 300), words_of(answer)),
       fmt::format("{}; some publishers approve requests by hand, which takes a while", accept));
}

[[noreturn]] void fail_unknown(const HttpAnswer& answer, const Asked& asked, const HubSettings& s) {
  const std::string page = page_of(asked, s);
  if (s.token.empty())
    fail(asked.where,
         fmt::format("{} has no such model, or a private one ({}){}", s.endpoint, answer.status, words_of(answer)),
         fmt::format("check the name at {}; for a private model, {}", page, how_to_give_a_token(s)));
  fail(asked.where,
       fmt::format("{} has no such model, or one that the token in {} may not read ({}){}", s.endpoint,
                   printable(s.token_origin, 300), answer.status, words_of(answer)),
       fmt::format("check the name at {}, and the rights of the token at {}/settings/tokens", page, s.endpoint));
}

[[noreturn]] void fail_refused(const HttpAnswer& answer, const Asked& asked, const HubSettings& s) {
  if (s.token.empty())
    fail(asked.where, fmt::format("cannot be read without a token ({}){}", answer.status, words_of(answer)),
         how_to_give_a_token(s));
  fail(asked.where,
       fmt::format("cannot be read with the token in {} ({}){}", printable(s.token_origin, 300), answer.status,
                   words_of(answer)),
       fmt::format("the token may have expired or lack the right to read this model: {}", how_to_give_a_token(s)));
}

}  // namespace

bool may_pass(const HttpAnswer& answer) {
  if (!answer.problem.empty()) return answer.can_retry;
  return answer.status == 408 || answer.status == 429 || answer.status >= 500;
}

std::optional<double> retry_after(const HttpAnswer& answer) {
  const std::string text = answer.header("retry-after");
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds < 1e7))
    return std::nullopt;
  return seconds;
}

void fail_answer(const HttpAnswer& answer, const Asked& asked, const HubSettings& s) {
  const std::string what = asked.file.empty() ? "" : printable(asked.file, 300) + " ";
  if (!answer.problem.empty())
    fail(
        asked.where, fmt::format("{}cannot be fetched: {}", what, printable(answer.problem, 300)),
        "check the connection, the proxy (https_proxy) and HF_ENDPOINT; what has arrived is kept, and the same command "
        "resumes from there");
  const int status = answer.status;
  const std::string code = answer.header("x-error-code");
  if (asked.repo.empty() || (status != 401 && status != 403 && status != 404 && status != 429 && status < 500)) {
    fail(asked.where, fmt::format("{}gets an answer with status {}{}", what, status, words_of(answer)),
         status == 404 ? "check the address" : "try again later");
  }
  if (code == "GatedRepo") fail_gated(answer, asked, s);
  if (status == 404 && code == "RevisionNotFound")
    fail(asked.where, fmt::format("has no revision \"{}\"", printable(asked.revision, 300)),
         fmt::format("its branches and tags are at {}/tree/main", page_of(asked, s)));
  if (status == 404 && !asked.file.empty())
    fail(asked.where, fmt::format("has no file {} any more", printable(asked.file, 300)), "run the command again");
  if (status == 404 || code == "RepoNotFound") fail_unknown(answer, asked, s);
  if (status == 401 && asked.file.empty() && s.token.empty()) fail_unknown(answer, asked, s);
  if (status == 401 || status == 403) fail_refused(answer, asked, s);
  if (status == 429) {
    const auto wait = retry_after(answer);
    fail(asked.where, fmt::format("{} has received too many requests from this machine (429)", s.endpoint),
         fmt::format("try again {}{}; what has arrived is kept", wait ? "in " + format_duration(*wait) : "later",
                     s.token.empty() ? ", or set HF_TOKEN: with a token, more requests are allowed" : ""));
  }
  fail(asked.where, fmt::format("{} reports a server error ({}){}", s.endpoint, status, words_of(answer)),
       "try again later; what has arrived is kept");
}

}  // namespace tril::hub
