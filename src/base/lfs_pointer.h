// Git LFS stores large files elsewhere: until they are fetched, a repository holds a few lines of text in place of
// each. Source: the specification of Git LFS (docs/spec.md there).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// The longest pointer in bytes.
inline constexpr std::uint64_t most_lfs_pointer_bytes = 1024;

/// The size in bytes of the real file if `text` is a Git LFS pointer; else nothing. @param text  the content of a
/// whole file
std::optional<std::uint64_t> size_behind_lfs_pointer(std::string_view text);

/// @param text  the whole of the file at `path`
/// @throws Error with what to do if it is such a pointer
void check_fetched(const std::string& path, std::string_view text);

}  // namespace tril
