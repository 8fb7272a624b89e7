#include "base/lfs_pointer.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/parent_of.h"
#include "base/printable.h"

namespace tril {

std::optional<std::uint64_t> size_behind_lfs_pointer(std::string_view text) {
  constexpr std::string_view version = "version https://git-lfs.github.com/spec/v1\n", oid = "\noid ", size = "\nsize ";
  if (text.size() > most_lfs_pointer_bytes || !text.starts_with(version) || text.find(oid) == text.npos)
    return std::nullopt;
  const std::size_t at = text.find(size);
  if (at == text.npos) return std::nullopt;
  std::uint64_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + at + size.size(), end, bytes);
  const bool is_line = rest == end || *rest == '\n' || *rest == '\r';
  return problem == std::errc() && is_line ? std::optional(bytes) : std::nullopt;
}

void check_fetched(const std::string& path, std::string_view text) {
  const auto size = size_behind_lfs_pointer(text);
  if (!size) return;
  fail(printable(path, 400), fmt::format("is a Git LFS pointer: the file itself ({} bytes) was not fetched", *size),
       fmt::format("run `git lfs pull` in {}", printable(parent_of(path), 400)));
}

}  // namespace tril
