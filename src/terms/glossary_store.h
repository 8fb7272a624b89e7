// The glossaries that clients of a server upload: named, of one language pair each, owned by a key, and kept in a directory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/lock_file.h"
#include "terms/glossary.h"

namespace tril::terms {

/// The client for whom glossaries are listed, used and removed.
struct Viewer {
  std::string owner;   ///< owner_of_key(); "" without a key
  bool admin = false;  ///< sees and removes all
};

/// A key's name in files: the first 32 hexadecimal digits of its SHA-256. It does not reveal the key. "" for "".
std::string owner_of_key(std::string_view key);

struct StoredGlossary {
  std::string id;              ///< random, as a UUID: "0b0f3f5e-…"
  std::string owner;           ///< Viewer::owner
  std::int64_t created = 0;    ///< seconds since 1970, UTC
  std::uint64_t revision = 0;  ///< different for each change of a running server
  Glossary glossary;           ///< its name is chosen by the client and need not be unique
  /// The id of the first of several glossaries that belong together, which may have been removed; "": there is no other
  /// one.
  std::string group = {};

  const std::string& group_id() const { return group.empty() ? id : group; }
};
using StoredGlossaryPtr = std::shared_ptr<const StoredGlossary>;

struct StoreLimits {
  std::size_t most_glossaries = 1000;               ///< of all owners
  std::size_t most_entries = 100'000;               ///< of one glossary
  std::size_t most_bytes = std::size_t{256} << 20;  ///< phrases of all glossaries
};

struct StoredFile;  // stored_glossary_json.h

/// Thread-safe. Changes are on disk when a call returns. Each glossary is a file ID.json, and so are all glossaries of a group together,
/// under the group's id. Files are written under a temporary name and renamed, so a kill leaves each change done or not begun.
class GlossaryStore {
 public:
  /// @param directory  created if it does not exist; "": glossaries are kept in memory only
  /// @throws Error if it cannot be used, or (usage) another process uses it
  explicit GlossaryStore(std::string directory = {}, const StoreLimits& limits = {});
  ~GlossaryStore();

  /// Adds a glossary, which gets an id. @param replaces  takes the place of the owner's glossary with this name and pair, if there is
  /// one, at the same moment; in a group: of the group's glossary with this pair
  /// @param group  StoredGlossary::group
  /// @throws Error(usage) at `name`, `source`, `target` or `entries` if these are empty, invalid or exceed a limit
  StoredGlossaryPtr add(Glossary glossary, const Viewer& viewer, bool replaces, const std::string& group = {});
  /// Changes the glossary with this id, which keeps its id and its owner. @param edit  no other change happens meanwhile
  /// @return null if the viewer does not see it @throws Error(usage) as add()
  StoredGlossaryPtr change(const std::string& id, const Viewer& viewer, const std::function<void(Glossary&)>& edit);
  /// Removes the glossary with this id. @return false if the viewer does not see it
  bool remove(const std::string& id, const Viewer& viewer);

  using Group = std::vector<StoredGlossaryPtr>;
  /// Adds a new group, at the same moment. @return its members in the order of the list; the group's id is that of the first
  Group add_group(std::vector<Glossary> dictionaries, const Viewer& viewer);
  /// Changes the glossaries of a group, in any order, at the same moment. @param edit  may change them and append others; no other
  /// change happens meanwhile. @return the members in the same order; none if the viewer does not see the group
  Group change_group(const std::string& group, const Viewer& viewer,
                     const std::function<void(std::vector<Glossary>& dictionaries)>& edit);
  /// Removes all glossaries of a group at the same moment. @return false if the viewer does not see it
  bool remove_group(const std::string& group, const Viewer& viewer);

  /// By id; null if the viewer does not see it.
  StoredGlossaryPtr find(const std::string& id, const Viewer& viewer) const;
  /// All that the viewer sees, the oldest first.
  std::vector<StoredGlossaryPtr> list(const Viewer& viewer) const;

  bool is_lasting() const { return !directory_.empty(); }
  /// Files of the directory that could not be read, with the reason; they are left as they are.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  static bool sees(const Viewer& viewer, const StoredGlossary& one) {
    return viewer.admin || viewer.owner == one.owner;
  }
  std::string path_of(const std::string& id) const { return directory_ + "/" + id + ".json"; }
  void load();
  StoredFile read_checked(const std::string& path, const std::string& id) const;
  Group members(const std::string& group) const;
  std::shared_ptr<StoredGlossary> made(Glossary glossary, const std::string& owner, const std::string& group);
  void keep(const std::string& group, const Group& before, const Group& after);
  void write(const std::string& group, const Group& before, const Group& after) const;
  void check_limits(const Group& before, const Group& after) const;

  std::string directory_;
  StoreLimits limits_;
  std::vector<std::string> notes_;
  std::unique_ptr<LockFile> file_;
  std::optional<LockFile::Lock> lock_;
  std::mutex changing_;                                  ///< held while a file changes; taken before mutex_
  mutable std::mutex mutex_;                             ///< guards what follows
  std::map<std::string, StoredGlossaryPtr> glossaries_;  ///< by id
  std::size_t bytes_ = 0;                                ///< of all phrases
  std::uint64_t revisions_ = 0;
};

}  // namespace tril::terms
