// Selects the files of a repository that its model needs: config.json and companion files, the tokenizer's files, and the
// weights in one format, safetensors rather than PyTorch's. The same rules tell whether a directory on disk is complete.
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
/// @return names, each once. The last name marks the model as complete. If it is config.json, the model's path is the
///   directory, else it is this file
/// @throws Error if the repository has no model that tril reads, or several
std::vector<std::string> files_of_model(const std::vector<std::string>& names, const std::string& file,
                                        const TextOf& text_of, const std::string& where);

/// The path of the model in a directory with these files: the directory itself, or the last file.
std::string model_path(const std::string& directory, const std::vector<std::string>& files);

/// The most bytes that an index of shards may have.
inline constexpr std::uint64_t largest_index = std::uint64_t{64} << 20;

}  // namespace tril::hub
