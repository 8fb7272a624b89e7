// The name of a model on a hub: REPO, REPO@REVISION, REPO:FILE, REPO@REVISION:FILE.
//
// A repository is OWNER/NAME, or only NAME for the oldest ones. Rules: huggingface_hub, utils/_validators.py;
// a revision is a branch, a tag or a commit of Git (git-check-ref-format), so it has no colon.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tril::hub {

struct RepoName {
  std::string repo;               ///< "Helsinki-NLP/opus-mt-en-de", "gpt2"
  std::string revision = "main";  ///< a branch, a tag, a commit of 40 digits, "refs/pr/3"
  std::string file;               ///< "model-q4.gguf"; empty: the files that the repository's model consists of

  /// The shortest text that repo_name_of() reads as this name.
  std::string text() const;
};

/// Nothing if the text is not such a name: an absolute path, "../x", "a/b/c", a URL.
std::optional<RepoName> repo_name_of(std::string_view text);

/// True if a text is a URL of HTTP or HTTPS.
bool is_url(std::string_view text);

/// True if a relative path of a listing stays in its directory and is plain text: no "..", no empty part, no backslash, no
/// control characters, at most 1024 bytes.
bool stays_inside(std::string_view path);

/// True if a text consists of exactly this many lower-case hexadecimal digits.
bool is_hex(std::string_view text, std::size_t digits);

}  // namespace tril::hub
