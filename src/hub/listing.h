// What a hub says of a repository at a revision: its commit, and the name, size and sum of each file.
//
// Source: GET /api/models/REPO/revision/REVISION?blobs=true, as huggingface_hub's ModelInfo reads it (hf_api.py).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hub/checksum.h"

namespace tril::hub {

struct RemoteFile {
  std::string name;  ///< a relative path that stays in its directory
  std::uint64_t size = 0;
  std::string sum;  ///< hexadecimal digits, which name the content in the cache
  SumKind kind = SumKind::git;
};

struct Listing {
  std::string commit;  ///< 40 hexadecimal digits
  std::vector<RemoteFile> files;

  const RemoteFile* find(std::string_view name) const;  ///< null if it is not there
  std::vector<std::string> names() const;
};

/// The most bytes that a hub's answer may have.
inline constexpr std::uint64_t largest_listing = std::uint64_t{64} << 20;

/// @param where  names the answer in errors
/// @throws Error for an answer of another form, more than 100,000 files, a name that leads out of the directory, a
/// sum or a size that is none
Listing read_listing(std::string_view json, const std::string& where);

}  // namespace tril::hub
