#include "hub/url_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/parent_of.h"
#include "base/printable.h"
#include "format/zip_archive.h"
#include "hub/disk_space.h"
#include "hub/download.h"
#include "hub/file_tasks.h"
#include "hub/model_file.h"
#include "hub/partial_file.h"

namespace tril::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_download = std::uint64_t{1} << 46;
constexpr std::size_t longest_etag = 1024;
constexpr int most_tries_of_url = 5;

// This machine's own servers need no HTTPS.
bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("localhost:") || host == "127.0.0.1" ||
         host.starts_with("127.0.0.1:") || host.starts_with("[::1]");
}

std::string path_of(const HubSettings& settings, const std::string& url) {
  const std::string host = host_of(url), shown = printable(url, 300);
  const std::size_t authority = url.find("://") + 3, slash = std::min(url.find('/', authority), url.size());
  std::string named = url.substr(authority, slash - authority);
  std::transform(named.begin(), named.end(), named.begin(), [](unsigned char c) { return std::tolower(c); });
  check(!host.empty() && named == host, shown, "is not the URL of a host and a file, without a user's name");
  check(url.starts_with("https://") || is_loopback(host), shown,
        "is not HTTPS, so anybody on the network could change it");
  const std::string path = slash == url.size() ? "" : url.substr(slash + 1);
  check(path.find_first_of("?#%") == path.npos && stays_inside(path), shown,
        "expected the plain URL of a file, without a query or escapes");
  check(is_archive_name(path) || is_gguf_name(path), shown, "expected the URL of a .zip, .argosmodel or .gguf file");
  return settings.downloads + "/" + host + "/" + path;
}

// The file that is downloaded, and what the server has sent about it.
class UrlDownload {
 public:
  UrlDownload(const HubSettings& settings, const std::string& url, const std::string& path, Meter& meter)
      : settings_(settings),
        meter_(meter),
        url_(url),
        path_(path),
        etag_path_(path + ".etag"),
        asked_{.where = printable(url, 300), .repo = "", .revision = "", .file = ""},
        partial_(path, {.name = path, .size = largest_download, .sum = "", .kind = SumKind::sha256}) {
    if (is_present(etag_path_)) etag_ = read_text(etag_path_, longest_etag);
    if (etag_.empty()) partial_.clear();
    meter_.done = partial_.size();
  }

  RemoteFile run(HttpClient& client, const std::stop_token& stop) {
    for (int tries = 1; !is_whole(client, stop, tries); ++tries) {
    }
    std::error_code none;
    if (is_archive_name(path_)) check_archive();
    RemoteFile file{.name = fs::path(path_).filename().string(),
                    .size = partial_.size(),
                    .sum = partial_.sum(),
                    .kind = SumKind::sha256};
    partial_.commit();
    fs::remove(etag_path_, none);
    return file;
  }

  std::uint64_t total() const { return total_; }

 private:
  bool is_whole(HttpClient& client, const std::stop_token& stop, int tries) {
    bool begun = false;
    const HttpAnswer answer = client.get(
        {.url = url_, .first = partial_.size(), .if_range = etag_},
        [&](const HttpAnswer& head, std::string_view bytes) {
          if (!begun) begin(head);
          begun = true;
          take(bytes);
        },
        stop);
    if (stop.stop_requested()) throw Stopped();
    const bool success = answer.problem.empty() && answer.is_success();
    // A response without a byte does not confirm the bytes of an earlier try.
    if (success && begun && (total_ == 0 || partial_.size() == total_)) return true;
    if (answer.status == 416) {
      partial_.clear();
      meter_.done = 0;
    } else if (!success && !may_pass(answer)) {
      fail_answer(answer, asked_, settings_);
    }
    if (tries >= most_tries_of_url || !wait_to_retry(answer, tries, settings_, stop)) {
      if (success)
        fail(asked_.where, fmt::format("ends after {} of {} bytes", partial_.size(), total_.load()), "try again");
      fail_answer(answer, asked_, settings_);
    }
    if (etag_.empty()) {
      partial_.clear();
      meter_.done = 0;
    }
    return false;
  }

  void begin(const HttpAnswer& head) {
    if (head.status != 206) {  // the whole file, perhaps another version
      partial_.clear();
      meter_.done = 0;
      etag_ = head.header("etag");
      if (etag_.starts_with("W/") || etag_.size() > longest_etag) etag_.clear();  // a weak ETag does not identify bytes
      write_file_atomic(etag_path_, etag_);
    }
    const std::string length = head.header("content-length");
    std::uint64_t rest = 0;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), rest);
    const bool known = !length.empty() && error == std::errc() && end == length.data() + length.size();
    if (known && rest > largest_download) fail(asked_.where, fmt::format("has {} bytes", rest));
    total_ = known ? partial_.size() + rest : 0;
    if (known) check_disk_space(parent_of(path_), rest);
  }

  void take(std::string_view bytes) {
    if (partial_.size() + bytes.size() > (total_ > 0 ? total_.load() : largest_download))
      fail(asked_.where, "has more bytes than its server says");
    partial_.append(bytes);
    meter_.done += bytes.size();
    meter_.fetched += bytes.size();
  }

  // Removes a damaged archive.
  void check_archive() {
    try {
      static_cast<void>(ZipArchive::open(path_ + ".incomplete"));
    } catch (const Error& e) {
      partial_.clear();
      fail(asked_.where, "is not a complete ZIP archive: " + e.message(), "check the URL, and try again");
    }
  }

  const HubSettings& settings_;
  Meter& meter_;
  std::string url_, path_, etag_path_, etag_;
  Asked asked_;
  PartialFile partial_;
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace

Pulled pull_url(const HubSettings& settings, const std::string& url, const PullOptions& options) {
  const std::string path = path_of(settings, url);
  if (settings.offline)
    fail(printable(url, 300), "cannot be fetched: HF_HUB_OFFLINE is set", "unset it, or pass the path of a file");
  create_directories(parent_of(path));
  const BlobLock lock(path + ".lock");
  Pulled pulled;
  pulled.path = path;
  std::error_code none;
  if (fs::is_regular_file(path, none)) {
    pulled.bytes = fs::file_size(path);
    pulled.files = {
        {{.name = fs::path(path).filename().string(), .size = pulled.bytes, .sum = "", .kind = SumKind::sha256}, true}};
    return pulled;
  }
  Meter meter;
  UrlDownload download(settings, url, path, meter);
  run_file_tasks(
      settings, 1, 1,
      [&](HttpClient& client, std::size_t, const std::stop_token& stop) {
        pulled.files = {{download.run(client, stop), false}};
      },
      [&] {
        if (options.progress)
          options.progress({.done = meter.done, .total = download.total(), .fetched = meter.fetched});
      });
  pulled.bytes = pulled.files.front().file.size;
  pulled.fetched = meter.fetched;
  return pulled;
}

std::optional<std::string> cached_url(const HubSettings& settings, const std::string& url) {
  const std::string path = path_of(settings, url);
  std::error_code none;
  return fs::is_regular_file(path, none) ? std::optional(path) : std::nullopt;
}

}  // namespace tril::hub
