#include "hub/pull.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/progress.h"
#include "hub/cache.h"
#include "hub/disk_space.h"
#include "hub/download.h"
#include "hub/file_tasks.h"
#include "hub/plan.h"

namespace tril::hub {
namespace {

std::string listing_url(const HubSettings& s, const RepoName& name) {
  return fmt::format("{}/api/models/{}/revision/{}?blobs=true", s.endpoint, url_escaped(name.repo, "/"),
                     url_escaped(name.revision));
}

std::string file_url(const HubSettings& s, const std::string& repo, const std::string& commit,
                     const std::string& file) {
  return fmt::format("{}/{}/resolve/{}/{}", s.endpoint, url_escaped(repo, "/"), commit, url_escaped(file, "/"));
}

class Pull {
 public:
  Pull(const HubSettings& settings, const RepoName& name, const PullOptions& options)
      : settings_(settings), name_(name), options_(options), cache_(settings.cache, name.repo), client_(settings) {}

  Pulled run() {
    listing_ = fetch_listing();
    const auto text_of = [this](const std::string& file) { return index_text(file); };
    const std::vector<std::string> names = files_of_model(listing_.names(), name_.file, text_of, name_.text());
    Pulled pulled;
    std::set<std::string> sums;
    for (const std::string& file : names) {
      const RemoteFile& remote = *listing_.find(file);
      pulled.files.push_back({remote, cache_.has(remote)});
      if (sums.insert(remote.sum).second) pulled.bytes += remote.size;
    }
    const std::vector<RemoteFile> missing = missing_files(pulled);
    fetch(missing);
    for (const PulledFile& one : pulled.files) cache_.link(listing_.commit, one.file);
    cache_.set_commit(name_.revision, listing_.commit);
    pulled.fetched = meter_.fetched;
    pulled.commit = listing_.commit;
    pulled.path = model_path(cache_.snapshot(listing_.commit), names);
    return pulled;
  }

 private:
  Asked asked(const std::string& file = {}) const {
    return {.where = name_.text(), .repo = name_.repo, .revision = name_.revision, .file = file};
  }

  Listing fetch_listing() {
    const std::string url = listing_url(settings_, name_);
    for (int tries = 1;; ++tries) {
      std::string text;
      const HttpAnswer answer =
          client_.get({.url = url, .first = 0, .if_range = ""}, [&](const HttpAnswer&, std::string_view bytes) {
            text += bytes;
            if (text.size() > largest_listing) fail(name_.text(), "the hub's list of its files is too long");
          });
      if (answer.problem.empty() && answer.is_success()) return read_listing(text, url);
      if (tries == 3 || !may_pass(answer) || !wait_to_retry(answer, tries, settings_, {}))
        fail_answer(answer, asked(), settings_);
    }
  }

  // The other files are known only with the index of shards.
  std::string index_text(const std::string& file) {
    const RemoteFile& remote = *listing_.find(file);
    if (remote.size > largest_index)
      fail(name_.text(),
           fmt::format("{} has {} bytes, at most {} are read", printable(file), remote.size, largest_index));
    cache_.make_directories();
    Meter unseen;
    const Surroundings around{settings_, cache_, unseen, {}};
    download(client_, around, remote, file_url(settings_, name_.repo, listing_.commit, file), asked(file));
    return read_text(cache_.blob(remote), largest_index);
  }

  // The files that are not in the cache, each content once, the largest first.
  std::vector<RemoteFile> missing_files(const Pulled& pulled) const {
    std::vector<RemoteFile> missing;
    std::set<std::string> sums;
    for (const PulledFile& one : pulled.files)
      if (!one.was_there && sums.insert(one.file.sum).second) missing.push_back(one.file);
    std::stable_sort(missing.begin(), missing.end(),
                     [](const RemoteFile& a, const RemoteFile& b) { return a.size > b.size; });
    return missing;
  }

  static std::uint64_t bytes_of(const std::vector<RemoteFile>& files) {
    std::uint64_t bytes = 0;
    for (const RemoteFile& file : files) bytes += file.size;
    return bytes;
  }

  // The number of bytes still to download.
  std::uint64_t bytes_to_come(const std::vector<RemoteFile>& files) const {
    std::uint64_t bytes = bytes_of(files);
    for (const RemoteFile& file : files) {
      std::error_code none;
      const std::uint64_t here = std::filesystem::file_size(cache_.blob(file) + ".incomplete", none);
      if (!none) bytes -= std::min(here, file.size);
    }
    return bytes;
  }

  void fetch(const std::vector<RemoteFile>& missing) {
    cache_.make_directories();
    check_disk_space(cache_.directory(), bytes_to_come(missing));
    const std::uint64_t total = bytes_of(missing);
    run_file_tasks(
        settings_, missing.size(), static_cast<std::size_t>(options_.connections),
        [&](HttpClient& client, std::size_t number, const std::stop_token& stop) {
          const RemoteFile& file = missing[number];
          const Surroundings around{settings_, cache_, meter_, stop};
          download(client, around, file, file_url(settings_, name_.repo, listing_.commit, file.name), asked(file.name));
        },
        [&] {
          if (options_.progress) options_.progress({.done = meter_.done, .total = total, .fetched = meter_.fetched});
        });
  }

  const HubSettings& settings_;
  const RepoName& name_;
  const PullOptions& options_;
  RepoCache cache_;
  HttpClient client_;
  Listing listing_;
  Meter meter_;
};

}  // namespace

Pulled pull(const HubSettings& settings, const RepoName& name, const PullOptions& options) {
  if (settings.offline)
    fail(name.text(), "cannot be fetched: HF_HUB_OFFLINE is set", "unset it, or copy the model into the cache");
  return Pull(settings, name, options).run();
}

std::optional<std::string> cached_model(const HubSettings& settings, const RepoName& name) {
  const RepoCache cache(settings.cache, name.repo);
  const auto commit = cache.commit_of(name.revision);
  if (!commit) return std::nullopt;
  const std::string snapshot = cache.snapshot(*commit);
  try {
    const auto text_of = [&](const std::string& file) { return read_text(snapshot + "/" + file, largest_index); };
    return model_path(snapshot, files_of_model(names_in(snapshot), name.file, text_of, name.text()));
  } catch (const Error&) {
    return std::nullopt;  // incomplete: downloaded by Python, or by a pull that was killed
  }
}

}  // namespace tril::hub
