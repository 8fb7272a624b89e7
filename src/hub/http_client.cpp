#include "hub/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <exception>

#include "base/clock.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/version.h"

namespace tril::hub {
namespace {

constexpr int most_redirects = 10;
constexpr std::size_t most_header_bytes = 256 << 10, most_error_bytes = 64 << 10;

// Initialises libcurl before any thread uses it.
void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) fail("libcurl", fmt::format("does not start: {}", curl_easy_strerror(started)));
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

Url parsed(const std::string& text) {
  Url url(curl_url());
  if (url && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) url.reset();
  return url;
}

// A part of a URL in lower case, "" if it has none.
std::string part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (!url || curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  std::transform(copy.begin(), copy.end(), copy.begin(), [](unsigned char c) { return std::tolower(c); });
  return copy;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderLines = std::unique_ptr<curl_slist, FreeList>;

void append(HeaderLines& lines, const std::string& line) {
  curl_slist* const longer = curl_slist_append(lines.get(), line.c_str());
  if (!longer) throw std::bad_alloc();
  static_cast<void>(lines.release());
  lines.reset(longer);
}

// The state of libcurl's callbacks. They must not throw: the exception is stored, and the transfer ends.
struct Receiver {
  HttpAnswer answer;
  const TakeBytes* take = nullptr;
  std::stop_token stop;
  std::size_t header_bytes = 0;
  std::exception_ptr thrown;
  double stall_seconds = 0;
  curl_off_t seen = -1;  // bytes so far, and the time of the last
  double seen_at = 0;
  bool stalled = false;
};

void take_header(Receiver& r, std::string_view line) {
  if (line.starts_with("HTTP/")) {  // the head of a further response, after a proxy's or "100 Continue"
    r.answer.headers.clear();
    r.answer.status = 0;
    const std::size_t space = line.find(' ');
    if (space != line.npos) std::from_chars(line.data() + space + 1, line.data() + line.size(), r.answer.status);
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && is_space(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
  if (name == "x-linked-etag") r.answer.linked_etag = value;
  if (name == "x-linked-size") r.answer.linked_size = value;
  r.answer.headers[std::move(name)] = value;
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* to) {
  Receiver& r = *static_cast<Receiver*>(to);
  try {
    r.header_bytes += size * count;
    if (r.header_bytes > most_header_bytes) return 0;
    take_header(r, {bytes, size * count});
    return size * count;
  } catch (...) {
    r.thrown = std::current_exception();
    return 0;
  }
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  Receiver& r = *static_cast<Receiver*>(to);
  const std::string_view text(bytes, size * count);
  try {
    if (r.answer.is_success()) {
      (*r.take)(r.answer, text);
      return text.size();
    }
    r.answer.error_body += text.substr(0, most_error_bytes - r.answer.error_body.size());
    return r.answer.error_body.size() < most_error_bytes ? text.size() : 0;
  } catch (...) {
    r.thrown = std::current_exception();
    return 0;
  }
}

// Called about once a second while no data comes. (libcurl's own speed limit averages over five seconds.)
int on_progress(void* to, curl_off_t, curl_off_t received, curl_off_t, curl_off_t) {
  Receiver& r = *static_cast<Receiver*>(to);
  const double now = seconds_now();
  if (received != r.seen) {
    r.seen = received;
    r.seen_at = now;
  }
  r.stalled = now - r.seen_at > r.stall_seconds;
  return r.stalled || r.stop.stop_requested() ? 1 : 0;
}

// True for problems that another try does not solve.
bool is_lasting(CURLcode code) {
  constexpr std::array codes{CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT,     CURLE_PEER_FAILED_VERIFICATION,
                             CURLE_SSL_CACERT_BADFILE,   CURLE_SSL_CONNECT_ERROR, CURLE_COULDNT_RESOLVE_PROXY,
                             CURLE_ABORTED_BY_CALLBACK,  CURLE_LOGIN_DENIED,      CURLE_SSL_ENGINE_INITFAILED};
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

std::string HttpAnswer::header(const std::string& name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? "" : at->second;
}

struct HttpClient::State {
  HubSettings settings;
  CURL* curl = nullptr;
  std::array<char, CURL_ERROR_SIZE> words{};

  explicit State(const HubSettings& s) : settings(s), curl(curl_easy_init()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { curl_easy_cleanup(curl); }

  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    if (code != CURLE_OK) fail("libcurl", fmt::format("refuses a setting: {}", curl_easy_strerror(code)));
  }

  void set_up(Receiver& receiver, const std::string& url, const HeaderLines& lines) {
    curl_easy_reset(curl);  // keeps connections
    words = {};
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_HTTPHEADER, lines.get());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_USERAGENT, fmt::format("tril/{}", version).c_str());
    set(CURLOPT_ERRORBUFFER, words.data());
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(settings.stall_seconds * 1000));
    if (!settings.certificates.empty()) set(CURLOPT_CAINFO, settings.certificates.c_str());
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, &receiver);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &receiver);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, &receiver);
  }

  HeaderLines lines_of(const HttpRequest& request, const std::string& url) const {
    HeaderLines lines;
    append(lines, "Accept-Encoding: identity");
    if (request.first > 0) {
      append(lines, fmt::format("Range: bytes={}-", request.first));
      if (!request.if_range.empty()) append(lines, "If-Range: " + request.if_range);
    }
    if (!settings.token.empty() && same_origin(url, settings.endpoint))
      append(lines, "Authorization: Bearer " + settings.token);
    return lines;
  }

  // One request and its response; no redirect is followed.
  void exchange(const HttpRequest& request, const std::string& url, Receiver& receiver) {
    const HeaderLines lines = lines_of(request, url);
    receiver.stall_seconds = settings.stall_seconds;
    receiver.seen = -1;
    set_up(receiver, url, lines);
    const CURLcode code = curl_easy_perform(curl);
    if (receiver.thrown) std::rethrow_exception(receiver.thrown);
    if (code == CURLE_OK) return;
    if (code == CURLE_WRITE_ERROR && !receiver.answer.is_success() && receiver.answer.status >= 300) return;
    if (receiver.stalled) {
      receiver.answer.problem = fmt::format("no data has arrived for {} s", settings.stall_seconds);
      receiver.answer.can_retry = true;
      return;
    }
    receiver.answer.problem = words[0] != 0 ? words.data() : curl_easy_strerror(code);
    receiver.answer.can_retry = !is_lasting(code);
  }

  // The target of a redirect; nothing for other responses.
  std::optional<std::string> next_url(const HttpAnswer& answer, const std::string& url) {
    constexpr std::array redirects{301, 302, 303, 307, 308};
    if (std::find(redirects.begin(), redirects.end(), answer.status) == redirects.end()) return std::nullopt;
    char* to = nullptr;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &to);
    if (!to) fail(printable(url, 300), "redirects, but does not say where to");
    const std::string scheme = part_of(parsed(to), CURLUPART_SCHEME);
    if (scheme != "https" && (scheme != "http" || url.starts_with("https:")))
      fail(printable(url, 300), fmt::format("redirects to {}, which is not followed", printable(to, 300)),
           "only HTTPS, or HTTP from HTTP, is followed");
    return to;
  }
};

HttpClient::HttpClient(const HubSettings& settings) {
  start_curl();
  state_ = std::make_unique<State>(settings);
  if (!state_->curl) throw std::bad_alloc();
}

HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::get(const HttpRequest& request, const TakeBytes& take, const std::stop_token& stop) {
  Receiver receiver;
  receiver.take = &take;
  receiver.stop = stop;
  std::string url = request.url;
  for (int redirects = 0;; ++redirects) {
    state_->exchange(request, url, receiver);
    if (!receiver.answer.problem.empty()) return receiver.answer;
    const auto next = state_->next_url(receiver.answer, url);
    if (!next) return receiver.answer;
    if (redirects == most_redirects)
      fail(printable(request.url, 300), fmt::format("redirects more than {} times", most_redirects));
    url = *next;
    HttpAnswer fresh;
    fresh.linked_etag = receiver.answer.linked_etag;
    fresh.linked_size = receiver.answer.linked_size;
    receiver.answer = std::move(fresh);
    receiver.header_bytes = 0;
  }
}

bool same_origin(const std::string& a, const std::string& b) {
  const Url x = parsed(a), y = parsed(b);
  if (!x || !y) return false;
  const auto same = [&](CURLUPart part, unsigned flags = 0) {
    return part_of(x, part, flags) == part_of(y, part, flags);
  };
  return same(CURLUPART_SCHEME) && same(CURLUPART_HOST) && same(CURLUPART_PORT, CURLU_DEFAULT_PORT);
}

std::string host_of(const std::string& url) {
  const Url u = parsed(url);
  const std::string port = part_of(u, CURLUPART_PORT);
  return part_of(u, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

std::string url_escaped(std::string_view text, std::string_view kept) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        byte < 0x80 && (std::isalnum(byte) || std::string_view("-._~").find(c) != std::string_view::npos);
    if (plain || kept.find(c) != kept.npos)
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace tril::hub
