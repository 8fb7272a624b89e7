#include "terms/glossary_store.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <random>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "terms/glossary_checks.h"
#include "terms/stored_glossary_json.h"

namespace tril::terms {
namespace {

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

std::size_t bytes_of(const std::vector<StoredGlossaryPtr>& list) {
  std::size_t bytes = 0;
  for (const StoredGlossaryPtr& one : list) bytes += bytes_of(one->glossary);
  return bytes;
}

void remove_file(const std::string& path) {
  std::error_code error;
  std::filesystem::remove(path, error);  // no error if it does not exist
  if (error) fail(path, error.message(), "check the directory's permissions");
}

}  // namespace

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
  std::vector<StoredFile> files;
  std::set<std::string> groups;  // that have a file of their own
  for (const auto& file : std::filesystem::directory_iterator(directory_, error)) {
    const std::filesystem::path& path = file.path();
    if (path.extension() != ".json") continue;
    try {
      files.push_back(read_checked(path.string(), path.stem().string()));
      if (files.back().is_group) groups.insert(files.back().id);
    } catch (const Error& e) {
      notes_.push_back(fmt::format("{}: is not used: {}", path.string(), e.what()));
    }
  }
  if (error) fail(directory_, error.message(), "check the directory's permissions");
  for (StoredFile& file : files) {
    // A kill has left it between the writing of the group's file and its removal.
    if (!file.is_group && groups.contains(file.glossaries[0].group_id())) {
      remove_file(path_of(file.id));
      continue;
    }
    for (StoredGlossary& one : file.glossaries) {
      one.revision = ++revisions_;
      bytes_ += bytes_of(one.glossary);
      const std::string id = one.id;
      glossaries_.emplace(id, std::make_shared<const StoredGlossary>(std::move(one)));
    }
  }
}

StoredFile GlossaryStore::read_checked(const std::string& path, const std::string& id) const {
  StoredFile file = read_stored_json(read_text(path, std::uint64_t{512} << 20), path);
  if (file.id != id || !is_id(file.id)) fail(path, "the file name differs from the id in the file", "restore the name");
  for (const StoredGlossary& one : file.glossaries) {
    if (!is_id(one.id)) fail(path, "a glossary has no id", "restore the file");
    check_name(one.glossary.name);
    check_entries(one.glossary, limits_.most_entries);
  }
  return file;
}

void GlossaryStore::check_limits(const Group& before, const Group& after) const {
  for (const StoredGlossaryPtr& one : after)
    if (std::find(before.begin(), before.end(), one) == before.end())
      check_entries(one->glossary, limits_.most_entries);
  check(after.size() <= before.size() || glossaries_.size() - before.size() + after.size() <= limits_.most_glossaries,
        "name", "there are {} glossaries, and no more are allowed; delete one", limits_.most_glossaries);
  const std::size_t others = bytes_ - bytes_of(before);
  check(after.size() < before.size() || others + bytes_of(after) <= limits_.most_bytes, "entries",
        "all glossaries together may have {} bytes, of which {} are used; delete one", limits_.most_bytes, others);
}

// Puts these glossaries in the place of the group's. One file is written or removed, so a kill leaves all of the change or none.
void GlossaryStore::keep(const std::string& group, const Group& before, const Group& after) {
  {
    const std::lock_guard lock(mutex_);
    check_limits(before, after);
  }
  if (is_lasting()) write(group, before, after);
  const std::lock_guard lock(mutex_);
  for (const StoredGlossaryPtr& one : before) glossaries_.erase(one->id);
  for (const StoredGlossaryPtr& one : after) glossaries_[one->id] = one;
  bytes_ += bytes_of(after) - bytes_of(before);
}

// A single glossary has a file as it has always had; several have one together.
void GlossaryStore::write(const std::string& group, const Group& before, const Group& after) const {
  if (after.empty())
    remove_file(path_of(group));
  else if (before.size() <= 1 && after.size() == 1 && after[0]->group.empty())
    write_file_atomic(path_of(group), stored_json(*after[0]));
  else
    write_file_atomic(path_of(group), group_json(group, after));
  // Files of the time when each dictionary had its own.
  for (const StoredGlossaryPtr& one : before)
    if (one->id != group) remove_file(path_of(one->id));
  sync_directory(directory_);
}

GlossaryStore::Group GlossaryStore::members(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  Group list;
  for (const auto& [id, one] : glossaries_)
    if (one->group_id() == group) list.push_back(one);
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a->created < b->created; });
  return list;
}

std::shared_ptr<StoredGlossary> GlossaryStore::made(Glossary glossary, const std::string& owner,
                                                    const std::string& group) {
  check_head(glossary);
  auto stored = std::make_shared<StoredGlossary>();
  stored->id = random_id();
  stored->owner = owner;
  stored->created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  stored->glossary = std::move(glossary);
  stored->group = group;
  const std::lock_guard lock(mutex_);
  stored->revision = ++revisions_;
  return stored;
}

StoredGlossaryPtr GlossaryStore::add(Glossary glossary, const Viewer& viewer, bool replaces, const std::string& group) {
  const std::shared_ptr<StoredGlossary> stored = made(std::move(glossary), viewer.owner, group);
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
  if (replaced) stored->id = replaced->id, stored->group = replaced->group;
  if (replaced && !group.empty()) stored->created = replaced->created;
  const Group before = members(stored->group_id());
  Group after = before;
  if (replaced)
    std::replace(after.begin(), after.end(), replaced, StoredGlossaryPtr(stored));
  else
    after.push_back(stored);
  keep(stored->group_id(), before, after);
  return stored;
}

GlossaryStore::Group GlossaryStore::add_group(std::vector<Glossary> dictionaries, const Viewer& viewer) {
  Group all;
  for (Glossary& one : dictionaries)
    all.push_back(made(std::move(one), viewer.owner, all.empty() ? "" : all.front()->id));
  if (all.empty()) return all;
  const std::lock_guard change(changing_);
  keep(all.front()->id, {}, all);
  return all;
}

GlossaryStore::Group GlossaryStore::change_group(const std::string& group, const Viewer& viewer,
                                                 const std::function<void(std::vector<Glossary>&)>& edit) {
  const std::lock_guard change(changing_);
  const Group before = members(group);
  if (before.empty() || !sees(viewer, *before.front())) return {};
  std::vector<Glossary> dictionaries;
  for (const StoredGlossaryPtr& one : before) dictionaries.push_back(one->glossary);
  edit(dictionaries);
  Group after;
  for (Glossary& one : dictionaries) {
    const std::shared_ptr<StoredGlossary> stored = made(std::move(one), before.front()->owner, group);
    if (after.size() < before.size()) {
      const StoredGlossary& old = *before[after.size()];
      stored->id = old.id, stored->group = old.group, stored->created = old.created;
    }
    after.push_back(stored);
  }
  keep(group, before, after);
  return after;
}

StoredGlossaryPtr GlossaryStore::change(const std::string& id, const Viewer& viewer,
                                        const std::function<void(Glossary&)>& edit) {
  const std::lock_guard change(changing_);
  const StoredGlossaryPtr old = find(id, viewer);
  if (!old) return nullptr;
  Glossary glossary = old->glossary;
  edit(glossary);
  const std::shared_ptr<StoredGlossary> stored = made(std::move(glossary), old->owner, old->group);
  stored->id = old->id, stored->created = old->created;
  const Group before = members(old->group_id());
  Group after = before;
  std::replace(after.begin(), after.end(), old, StoredGlossaryPtr(stored));
  keep(old->group_id(), before, after);
  return stored;
}

bool GlossaryStore::remove(const std::string& id, const Viewer& viewer) {
  const std::lock_guard change(changing_);
  const StoredGlossaryPtr one = find(id, viewer);
  if (!one) return false;
  const Group before = members(one->group_id());
  Group after = before;
  std::erase(after, one);
  keep(one->group_id(), before, after);
  return true;
}

bool GlossaryStore::remove_group(const std::string& group, const Viewer& viewer) {
  const std::lock_guard change(changing_);
  const Group before = members(group);
  if (before.empty() || !sees(viewer, *before.front())) return false;
  keep(group, before, {});
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
