#include "decode/models/shortlist_file.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <filesystem>

#include "align/binary_shortlist.h"
#include "base/error.h"
#include "base/progress.h"

namespace tril {

std::shared_ptr<const search::Shortlist> read_shortlist(const std::vector<std::string>& option,
                                                        const Tokenizer& tokenizer, const search::SearchPlan& s) {
  if (std::filesystem::is_regular_file(option[0]) && begins_as_binary_shortlist(option[0])) {
    check(option.size() == 1, "shortlist", "{} is a binary shortlist, which has its own numbers; got {} values",
          option[0], option.size());
    const BinaryShortlist list = read_binary_shortlist(option[0], {.source = tokenizer.size(Side::source),
                                                                   .target = tokenizer.size(Side::target),
                                                                   .shared = tokenizer.shared_vocabulary()});
    return std::make_shared<search::Shortlist>(list.table,
                                               search::ShortlistOptions{.first = list.first, .best = list.best}, s);
  }
  check(option.size() <= 4, "shortlist", "expected FILE [FIRST [BEST [P]]], got {} values", option.size());
  search::ShortlistOptions options;
  const auto number = [&](std::size_t i, auto& value) {
    if (i >= option.size()) return;
    const std::string& text = option[i];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      fail_usage("shortlist", fmt::format("expected a number of at least 0 after the file, got \"{}\"", text));
  };
  number(1, options.first), number(2, options.best), number(3, options.threshold);
  check(options.threshold >= 0 && options.threshold <= 1, "shortlist", "expected a probability from 0 to 1, got {}",
        options.threshold);
  std::int64_t unknown = 0;
  const LexicalTable table = read_lexical_table(option[0], tokenizer, unknown);
  if (unknown > 0)
    spdlog::warn("{}: lines with pieces that are not in the vocabulary: {}", option[0], format_count(unknown));
  return std::make_shared<search::Shortlist>(table, options, s);
}

std::string published_shortlist(const model::ModelSource& source) {
  namespace fs = std::filesystem;
  const fs::path& directory = source.path();
  if (!fs::is_directory(directory) || fs::exists(directory / "config.json")) return "";  // others than Marian have one
  std::vector<std::string> found;
  std::error_code problem;
  for (fs::directory_iterator at(directory, problem), end; !problem && at != end; at.increment(problem)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("lex.") && name.ends_with(".bin") && at->is_regular_file(problem) &&
        begins_as_binary_shortlist(at->path().string()))
      found.push_back(at->path().string());
  }
  return found.size() == 1 ? found[0] : "";
}

std::shared_ptr<const search::Shortlist> shortlist_of(const std::vector<std::string>& option,
                                                      const model::ModelSource& source, const Tokenizer& tokenizer,
                                                      const search::SearchPlan& plan, bool allowed) {
  if (option == std::vector<std::string>{"none"}) return nullptr;
  if (!option.empty()) return read_shortlist(option, tokenizer, plan);
  const std::string own = allowed && !plan.constraint ? published_shortlist(source) : "";
  if (own.empty()) return nullptr;
  try {
    std::shared_ptr<const search::Shortlist> list = read_shortlist({own}, tokenizer, plan);
    spdlog::info("the model comes with a shortlist, which is used: {}", own);
    return list;
  } catch (const Error& error) {
    spdlog::warn("the model comes with a shortlist, which is not used: {}", error.what());
    return nullptr;
  }
}

}  // namespace tril
