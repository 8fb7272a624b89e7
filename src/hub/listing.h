// A hub's listing of a revision of a repository: its commit, and the name, size and checksum of each file.
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
  std::string sum;  ///< the checksum in hexadecimal digits, which names the content in the cache
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

/// @param where  names the response in errors
/// @throws Error for a response of another form, more than 100,000 files, a name that leads out of the directory, or an
/// invalid checksum or size
Listing read_listing(std::string_view json, const std::string& where);

}  // namespace tril::hub
