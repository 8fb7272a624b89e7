#include "hub/download.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/progress.h"
#include "hub/partial_file.h"

namespace tril::hub {
namespace {

constexpr int most_tries = 5;         // in a row without data
constexpr double longest_wait = 120;  // seconds

// FIRST of a "Content-Range: bytes FIRST-LAST/SIZE" header.
std::optional<std::uint64_t> first_of_range(const std::string& text) {
  constexpr std::string_view unit = "bytes ";
  std::uint64_t first = 0;
  if (!text.starts_with(unit)) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + unit.size(), text.data() + text.size(), first);
  return error == std::errc() && end != text.data() + text.size() && *end == '-' ? std::optional(first) : std::nullopt;
}

// The download of one file.
class Download {
 public:
  Download(HttpClient& client, const Surroundings& s, const RemoteFile& file, const Asked& asked)
      : client_(client), s_(s), file_(file), asked_(asked), partial_(s.cache.blob(file), file) {}

  void run(const std::string& url) {
    count(partial_.size());
    bool resumed = partial_.size() > 0;
    for (;;) {
      const bool from_the_beginning = fetch(url);
      if (from_the_beginning) resumed = false;
      if (partial_.sum() == file_.sum) break;
      partial_.clear();
      uncount();
      // Bytes of an earlier process may be of another content. A wrong content that came as a whole would be wrong again.
      if (!resumed)
        fail(
            asked_.where, fmt::format("{} does not have the checksum that the hub lists", printable(file_.name, 300)),
            "a proxy may have changed it, or the hub's file is damaged: try again, or try another network or revision");
      logger()->warn("{}: the part of {} from an earlier attempt is damaged; it is downloaded again", asked_.where,
                     printable(file_.name, 300));
      resumed = false;
    }
    partial_.commit();
  }

 private:
  void count(std::uint64_t bytes) {
    s_.meter.done += bytes;
    counted_ += bytes;
  }
  void uncount() {
    s_.meter.done -= counted_;
    counted_ = 0;
  }

  // Transfers until all bytes are there. @return true if the server began with the first byte
  bool fetch(const std::string& url) {
    bool from_the_beginning = false;
    int tries = 0;
    while (partial_.size() < file_.size) {
      const std::uint64_t before = partial_.size();
      bool begun = false, starts_over = false;
      const HttpAnswer answer = client_.get(
          {.url = url, .first = before, .if_range = ""},
          [&](const HttpAnswer& head, std::string_view bytes) {
            if (!begun) starts_over = begin(head, before);
            begun = true;
            take(bytes);
          },
          s_.stop);
      if (s_.stop.stop_requested()) throw Stopped();
      from_the_beginning = from_the_beginning || starts_over;
      if (answer.status == 416 && before > 0) {  // the remote file has fewer bytes than the local one
        partial_.clear();
        uncount();
        if (++tries > most_tries) fail_answer(answer, asked_, s_.settings);
        continue;
      }
      if (partial_.size() == file_.size) break;
      const bool is_short = answer.problem.empty() && answer.is_success();
      if (!is_short && !may_pass(answer)) fail_answer(answer, asked_, s_.settings);
      tries = partial_.size() > before && !starts_over ? 1 : tries + 1;
      if (tries > most_tries || !wait_to_retry(answer, tries, s_.settings, s_.stop)) {
        if (is_short)
          fail(asked_.where,
               fmt::format("{} ends after {} of {} bytes", printable(file_.name, 300),
                           format_count(static_cast<std::int64_t>(partial_.size())),
                           format_count(static_cast<std::int64_t>(file_.size))),
               "try again; the part that has arrived is kept");
        fail_answer(answer, asked_, s_.settings);
      }
    }
    return from_the_beginning;
  }

  // Checks the head of a response before its first byte. @return true if the file begins anew
  bool begin(const HttpAnswer& head, std::uint64_t wanted) {
    if (!head.linked_size.empty() && head.linked_size != fmt::format("{}", file_.size))
      fail(asked_.where,
           fmt::format("{} has {} bytes according to the server, but {} according to the list of files",
                       printable(file_.name, 300), printable(head.linked_size), file_.size),
           "run the command again; if the error persists, do not use this model");
    if (wanted == 0) return true;
    const bool continues = head.status == 206 && first_of_range(head.header("content-range")) == wanted;
    if (continues) return false;
    if (head.status == 206)
      fail(asked_.where,
           fmt::format("{}: bytes from {} were requested, but the response has \"{}\"", printable(file_.name, 300),
                       wanted, printable(head.header("content-range"))),
           "a proxy may be at fault; remove the .incomplete files of the cache and try again");
    partial_.clear();  // the server ignores ranges
    uncount();
    return true;
  }

  void take(std::string_view bytes) {
    if (bytes.size() > file_.size - partial_.size())
      fail(asked_.where,
           fmt::format("{} is longer than the {} bytes that the hub lists", printable(file_.name, 300),
                       format_count(static_cast<std::int64_t>(file_.size))),
           "a proxy may have changed it: try again from another network");
    partial_.append(bytes);
    count(bytes.size());
    s_.meter.fetched += bytes.size();
  }

  HttpClient& client_;
  const Surroundings& s_;
  const RemoteFile& file_;
  const Asked& asked_;
  PartialFile partial_;
  std::uint64_t counted_ = 0;
};

}  // namespace

void download(HttpClient& client, const Surroundings& s, const RemoteFile& file, const std::string& url,
              const Asked& asked) {
  const BlobLock lock(s.cache.lock(file));
  if (s.cache.has(file)) {  // another process has fetched it
    s.meter.done += file.size;
    return;
  }
  Download(client, s, file, asked).run(url);
}

bool wait_to_retry(const HttpAnswer& answer, int tries, const HubSettings& settings, const std::stop_token& stop) {
  const double doubled = settings.first_wait * static_cast<double>(1 << std::min(tries - 1, 10));
  const double seconds = retry_after(answer).value_or(doubled);
  if (seconds > longest_wait) return false;
  if (answer.status == 429 && seconds >= 2)
    logger()->info("{} has received too many requests from this machine; resuming in {}", settings.endpoint,
                   format_duration(seconds));
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock hold(mutex);
  never.wait_for(hold, stop, std::chrono::duration<double>(seconds), [] { return false; });
  if (stop.stop_requested()) throw Stopped();
  return true;
}

}  // namespace tril::hub
