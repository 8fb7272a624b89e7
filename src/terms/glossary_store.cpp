#include "terms/glossary_store.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "language/code.h"
#include "language/match.h"
#include "terms/stored_glossary_json.h"
#include "terms/units.h"
#include "unicode/trim.h"

namespace tril::terms {
namespace {

constexpr std::size_t longest_name = 200;  // bytes

std::string random_id() {
  std::random_device device;
  std::array<std::uint32_t, 4> r{};
  for (std::uint32_t& part : r) part = device();
  r[1] = (r[1] & 0xffff0fff) | 0x4000;  // version 4 of RFC 9562
  r[2] = (r[2] & 0x3fffffff) | 0x80000000;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", r[0], r[1] >> 16, r[1] & 0xffff, r[2] >> 16,
                     r[2] & 0xffff, r[3]);
}

bool is_id(std::string_view text) {
  return text.size() == 36 && text.find_first_not_of("0123456789abcdef-") == text.npos;
}

std::size_t bytes_of(const Glossary& glossary) {
  std::size_t bytes = 0;
  for (const Entry& entry : glossary.entries) bytes += entry.source.size() + entry.target.size();
  return bytes;
}

void check_name(const std::string& name) {
  const bool sound =
      !name.empty() && name.size() <= longest_name && is_utf8(name) && name == trim(name) &&
      std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  check(sound, "name", "expected a name of at most {} bytes on one line, got \"{}\"", longest_name,
        printable(name, longest_name));
}

void check_head(const Glossary& glossary) {
  check_name(glossary.name);
  language_of(glossary.languages.source, "source");
  language_of(glossary.languages.target, "target");
}

bool is_same_pair(const Glossary& a, const Glossary& b) {
  return find_language(a.languages.source) == find_language(b.languages.source) &&
         find_language(a.languages.target) == find_language(b.languages.target);
}

void check_entries(const Glossary& glossary, std::size_t most) {
  check(!glossary.entries.empty(), "entries", "there are none");
  check(glossary.entries.size() <= most, "entries", "{} are more than the {} that are allowed", glossary.entries.size(),
        most);
  for (const Entry& entry : glossary.entries)
    for (const std::string* phrase : {&entry.source, &entry.target})
      check(!trim(*phrase).empty() && phrase->size() <= longest_phrase && is_utf8(*phrase), "entries",
            "\"{}\": a phrase has 1 to {} bytes", printable(*phrase), longest_phrase);
  // DeepL's clients read glossaries as TSV, in which a tab or a line end ends a phrase.
  for (const Entry& entry : glossary.entries)
    for (const std::string* phrase : {&entry.source, &entry.target})
      check(std::none_of(phrase->begin(), phrase->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }),
            "entries", "\"{}\" has a control character, a tab or a line end; remove it", printable(*phrase));
}

}  // namespace

bool is_same(const Glossary& a, const Glossary& b) {
  return a.name == b.name && is_same_pair(a, b);
}

std::string owner_of_key(std::string_view key) {
  if (key.empty()) return "";
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  if (EVP_Digest(key.data(), key.size(), sum.data(), &size, EVP_sha256(), nullptr) != 1 || size < 16)
    fail("OpenSSL", "cannot compute SHA-256", "check the installation of OpenSSL");
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) text += fmt::format("{:02x}", sum[i]);
  return text;
}

GlossaryStore::GlossaryStore(std::string directory, const StoreLimits& limits)
    : directory_(std::move(directory)), limits_(limits) {
  if (directory_.empty()) return;
  create_directories(directory_);
  file_ = std::make_unique<LockFile>(directory_ + "/lock");
  std::optional<LockFile::Lock> lock = file_->try_lock(0);
  if (!lock) fail_usage(directory_, "another server uses this directory", "give each server its own directory");
  lock_.emplace(std::move(*lock));
  load();
}

GlossaryStore::~GlossaryStore() = default;

void GlossaryStore::load() {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(directory_, error)) {
    const std::filesystem::path path = file.path();
    if (path.extension() != ".json") continue;
    try {
      auto stored = std::make_shared<StoredGlossary>(
          read_stored_json(read_text(path.string(), std::uint64_t{512} << 20), path.string()));
      if (stored->id != path.stem().string() || !is_id(stored->id))
        fail(path.string(), "the file name differs from the id in the file", "restore the name");
      check_name(stored->glossary.name);
      check_entries(stored->glossary, limits_.most_entries);
      stored->revision = ++revisions_;
      bytes_ += bytes_of(stored->glossary);
      glossaries_.emplace(stored->id, std::move(stored));
    } catch (const Error& e) {
      notes_.push_back(fmt::format("{}: is not used: {}", path.string(), e.what()));
    }
  }
  if (error) fail(directory_, error.message(), "check the directory's permissions");
}

void GlossaryStore::check_limits(const Glossary& glossary, const StoredGlossary* replaced) const {
  check_entries(glossary, limits_.most_entries);
  const std::size_t before = replaced ? bytes_of(replaced->glossary) : 0;
  check(replaced || glossaries_.size() < limits_.most_glossaries, "name",
        "there are {} glossaries, and no more are allowed; delete one", limits_.most_glossaries);
  check(bytes_ - before + bytes_of(glossary) <= limits_.most_bytes, "entries",
        "all glossaries together may have {} bytes, of which {} are used; delete one", limits_.most_bytes,
        bytes_ - before);
}

// Puts it in the place of the other one, if there is one, whose id it has. `changing_` is held.
StoredGlossaryPtr GlossaryStore::keep(std::shared_ptr<StoredGlossary> stored, const StoredGlossary* replaced) {
  {
    const std::lock_guard lock(mutex_);
    check_limits(stored->glossary, replaced);
  }
  if (is_lasting()) write_file_atomic(path_of(stored->id), stored_json(*stored));
  const std::lock_guard lock(mutex_);
  stored->revision = ++revisions_;
  bytes_ += bytes_of(stored->glossary) - (replaced ? bytes_of(replaced->glossary) : 0);
  glossaries_[stored->id] = stored;
  return stored;
}

StoredGlossaryPtr GlossaryStore::add(Glossary glossary, const Viewer& viewer, bool replaces, const std::string& group) {
  check_head(glossary);
  auto stored = std::make_shared<StoredGlossary>();
  stored->id = random_id();
  stored->owner = viewer.owner;
  stored->created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  stored->glossary = std::move(glossary);
  stored->group = group;
  const std::lock_guard change(changing_);
  StoredGlossaryPtr replaced;
  if (replaces) {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, one] : glossaries_)
      if (one->owner == viewer.owner &&
          (group.empty() ? is_same(one->glossary, stored->glossary)
                         : one->group_id() == group && is_same_pair(one->glossary, stored->glossary)))
        replaced = one;
  }
  if (replaced) stored->id = replaced->id, stored->group = replaced->group;  // its file is replaced
  if (replaced && !group.empty()) stored->created = replaced->created;
  return keep(std::move(stored), replaced.get());
}

StoredGlossaryPtr GlossaryStore::change(const std::string& id, const Viewer& viewer,
                                        const std::function<void(Glossary&)>& edit) {
  const std::lock_guard change(changing_);
  const StoredGlossaryPtr before = find(id, viewer);
  if (!before) return nullptr;
  auto stored = std::make_shared<StoredGlossary>(*before);
  edit(stored->glossary);
  check_head(stored->glossary);
  return keep(std::move(stored), before.get());
}

bool GlossaryStore::remove(const std::string& id, const Viewer& viewer) {
  const std::lock_guard change(changing_);
  const StoredGlossaryPtr one = find(id, viewer);
  if (!one) return false;
  if (is_lasting()) {
    std::error_code error;
    std::filesystem::remove(path_of(id), error);
    if (error) fail(path_of(id), error.message(), "check the directory's permissions");
    sync_directory(directory_);
  }
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes_of(one->glossary);
  glossaries_.erase(id);
  return true;
}

StoredGlossaryPtr GlossaryStore::find(const std::string& id, const Viewer& viewer) const {
  const std::lock_guard lock(mutex_);
  const auto found = glossaries_.find(id);
  return found != glossaries_.end() && sees(viewer, *found->second) ? found->second : nullptr;
}

std::vector<StoredGlossaryPtr> GlossaryStore::list(const Viewer& viewer) const {
  std::vector<StoredGlossaryPtr> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, one] : glossaries_)
      if (sees(viewer, *one)) all.push_back(one);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->created < b->created; });
  return all;
}

}  // namespace tril::terms
