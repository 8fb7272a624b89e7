#include "serve/api/documents.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "document/formats/formats.h"
#include "serve/api/service.h"
#include "terms/glossary_store.h"

namespace tril::serve {
namespace {

constexpr std::size_t most_documents = 64;  // that wait or are translated
constexpr std::size_t most_translated = 4;  // that are translated at the same time
constexpr std::size_t most_of_client = 3;   // of these: a large file of one client must not delay all others
constexpr std::size_t most_entries = 256;   // of one client, with those that have ended
constexpr std::int64_t entry_bytes = 4096;  // of a document beside its contents
constexpr std::int64_t most_jobs = 1024;    // of the worker: more than the documents can have

// 128 random bits.
std::string secret_name() {
  std::random_device random;  // the system's own source, which cannot be predicted
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

HttpError too_many() {
  return no_room("too many files are being translated, or wait for their download; try again later", 5);
}

}  // namespace

Documents::Documents(Service& service, const DocumentLimits& limits)
    : service_(service), limits_(limits), worker_({.most_waiting = most_jobs}), keeper_([this] { forget_expired(); }) {}

Documents::~Documents() {
  std::vector<DocumentPtr> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = ending_ = true;
    for (const auto& [id, entry] : entries_) all.push_back(entry.document);
  }
  changed_.notify_all();
  keeper_.join();
  for (const DocumentPtr& document : all) document->cancel();
}

std::int64_t Documents::bytes_of(std::size_t file, std::size_t fields) {
  return entry_bytes + 2 * static_cast<std::int64_t>(file) + static_cast<std::int64_t>(fields);
}

// With mutex_ held.
void Documents::check(const Call& call, std::int64_t bytes) const {
  std::size_t running = 0, own = 0, own_running = 0;
  std::int64_t used = 0, own_used = 0;
  for (const auto& [id, entry] : entries_) {
    const bool runs = entry.expires == Clock::time_point::max();
    used += entry.bytes, running += runs ? 1 : 0;
    if (entry.client == call.client()) own_used += entry.bytes, ++own, own_running += runs ? 1 : 0;
  }
  const bool holds_contents = own_used > static_cast<std::int64_t>(own) * entry_bytes;
  if (running >= most_documents || own_running >= most_documents / 2 || own >= most_entries ||
      used + bytes > limits_.memory || (holds_contents && own_used + bytes > limits_.memory / 2))
    throw too_many();
}

Documents::Ticket Documents::begin(const CallPtr& call, DocumentTask task, Lifetime lifetime) {
  if (limits_.most_bytes == 0) throw HttpError(403, "Files translation are disabled on this server.");
  if (task.name.empty() || task.bytes.empty()) throw HttpError(400, "Invalid request: empty file").of_field("file");
  if (task.bytes.size() > limits_.most_bytes)
    throw HttpError(
        413, fmt::format("the file has {} bytes, but at most {} are allowed", task.bytes.size(), limits_.most_bytes))
        .of_field("file");
  try {
    document::format_of(task.name);
  } catch (const Error&) {
    throw HttpError(400, "Invalid request: file format not supported; expected one of: " + document::known_extensions())
        .of_field("file");
  }
  service_.check_room(call, true);
  service_.usage().check(call->account(), call->most_characters, 1);  // the file's characters are not known yet
  const std::size_t most = service_.options().most_characters;
  service_.count_texts(*call, (task.bytes.size() + most - 1) / most);
  Ticket ticket{.id = secret_name(), .key = secret_name(), .document = {}};
  const std::int64_t bytes = bytes_of(task.bytes.size(), task.field_bytes);
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw shutting_down();
    check(*call, bytes);
    task.on_end = [this, then = std::move(task.on_end)](const DocumentTranslation& document) {
      ended(document);
      if (then) then(document);
    };
    ticket.document = std::make_shared<DocumentTranslation>(ticket.id, service_, worker_, *call, std::move(task),
                                                            Clock::now() + duration_of(limits_.timeout_seconds));
    entries_[ticket.id] = {.document = ticket.document,
                           .owner = call->key,
                           .key = ticket.key,
                           .client = call->client(),
                           .lifetime = lifetime,
                           .bytes = bytes,
                           .expires = Clock::time_point::max(),
                           .number = ++begun_};
  }
  for (const DocumentPtr& document : next_ones()) document->start();
  return ticket;
}

// The documents to start now: the first of the client that has the fewest in translation, as long as there is room.
std::vector<DocumentPtr> Documents::next_ones() {
  std::vector<DocumentPtr> list;
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::size_t> running;
  std::size_t all = 0;
  for (const auto& [id, entry] : entries_)
    if (entry.started && entry.expires == Clock::time_point::max()) ++running[entry.client], ++all;
  for (; all < most_translated && !stopped_; ++all) {
    Entry* next = nullptr;
    for (auto& [id, entry] : entries_) {
      if (entry.started || entry.expires != Clock::time_point::max()) continue;
      if (running[entry.client] >= most_of_client) continue;
      const auto rank = [&](const Entry& e) { return std::pair(running[e.client], e.number); };
      if (!next || rank(entry) < rank(*next)) next = &entry;
    }
    if (!next) break;
    next->started = true;
    ++running[next->client];
    list.push_back(next->document);
  }
  return list;
}

void Documents::ended(const DocumentTranslation& document) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(document.id());
    if (found != entries_.end()) {
      if (document.state() == DocumentTranslation::State::done)
        service_.usage().add(terms::owner_of_key(found->second.owner),
                             static_cast<std::int64_t>(document.path().characters));
      found->second.bytes = entry_bytes + static_cast<std::int64_t>(document.result_bytes());
      found->second.expires = Clock::now() + duration_of(limits_.keep_seconds);
      if (found->second.lifetime == Lifetime::request && document.state() != DocumentTranslation::State::done)
        entries_.erase(found);
    }
  }
  for (const DocumentPtr& next : next_ones()) next->start();
  changed_.notify_all();
}

DocumentPtr Documents::find(const Call& call, std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.expires <= Clock::now() ||
      !equal_in_constant_time(found->second.owner, call.key))
    return nullptr;
  return found->second.document;
}

bool Documents::has_key(std::string_view id, std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  return found != entries_.end() && equal_in_constant_time(found->second.key, key);
}

DocumentResult Documents::take(std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(id);
  if (found == entries_.end() || found->second.document->state() != DocumentTranslation::State::done)
    throw HttpError(404, "there is no such file; it was downloaded or deleted, or it belongs to another API key");
  DocumentResult result = found->second.document->take_result();
  entries_.erase(found);
  return result;
}

void Documents::stop() {
  std::vector<DocumentPtr> all;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [id, entry] : entries_) all.push_back(entry.document);
  }
  const HttpError why = shutting_down();
  for (const DocumentPtr& document : all)
    document->cancel({why.status(), why.what(), {{"Retry-After", std::to_string(*why.retry_after)}}});
}

std::size_t Documents::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void Documents::forget_expired() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    Clock::time_point next = Clock::time_point::max();
    std::erase_if(entries_, [now = Clock::now()](const auto& one) { return one.second.expires <= now; });
    for (const auto& [id, entry] : entries_) next = std::min(next, entry.expires);
    if (next == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, next);
  }
}

}  // namespace tril::serve
