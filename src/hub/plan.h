// Decides which files of a repository its model needs: config.json and the files that belong to it, the tokenizer's files,
// and the weights in one form, safetensors before PyTorch's. By the same rules a directory on disk is complete or not.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tril::hub {

/// The content of a small file of the repository.
using TextOf = std::function<std::string(const std::string& name)>;

/// @param names   all files of the repository
/// @param file    the requested file: a GGUF file (with the other parts of its model) or an archive; empty: the model of
///   the whole repository
/// @param text_of reads an index of shards
/// @param where   the repository, in errors
/// @return names, each once. The last one marks the model as complete. Its path is the model's path, except that for
///   config.json it is the directory's
/// @throws Error if the repository has no model that tril reads, or several
std::vector<std::string> files_of_model(const std::vector<std::string>& names, const std::string& file,
                                        const TextOf& text_of, const std::string& where);

/// The path of the model in a directory with these files: the directory itself, or the last file.
std::string model_path(const std::string& directory, const std::vector<std::string>& files);

/// The most bytes that an index of shards may have.
inline constexpr std::uint64_t largest_index = std::uint64_t{64} << 20;

}  // namespace tril::hub
