#include "cli/commands/shortlist_option.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <filesystem>

#include "align/binary_shortlist.h"
#include "base/error.h"
#include "base/progress.h"

namespace tril::cli {

std::shared_ptr<const search::Shortlist> shortlist_of(const std::vector<std::string>& option,
                                                      const Tokenizer& tokenizer, const search::SearchPlan& s) {
  if (option.empty()) return nullptr;
  if (std::filesystem::is_regular_file(option[0]) && begins_as_binary_shortlist(option[0])) {
    check(option.size() == 1, "--shortlist", "{} is a binary shortlist, which has its own numbers; got {} values",
          option[0], option.size());
    const BinaryShortlist list = read_binary_shortlist(option[0], {.source = tokenizer.size(Side::source),
                                                                   .target = tokenizer.size(Side::target),
                                                                   .shared = tokenizer.shared_vocabulary()});
    return std::make_shared<search::Shortlist>(list.table,
                                               search::ShortlistOptions{.first = list.first, .best = list.best}, s);
  }
  check(option.size() <= 4, "--shortlist", "expected FILE [FIRST [BEST [P]]], got {} values", option.size());
  search::ShortlistOptions options;
  const auto number = [&](std::size_t i, auto& value) {
    if (i >= option.size()) return;
    const std::string& text = option[i];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
      fail_usage("--shortlist", fmt::format("expected a number of at least 0 after the file, got \"{}\"", text));
  };
  number(1, options.first), number(2, options.best), number(3, options.threshold);
  check(options.threshold >= 0 && options.threshold <= 1, "--shortlist", "expected a probability from 0 to 1, got {}",
        options.threshold);
  std::int64_t unknown = 0;
  const LexicalTable table = read_lexical_table(option[0], tokenizer, unknown);
  if (unknown > 0)
    spdlog::warn("{}: lines with pieces that are not in the vocabulary: {}", option[0], format_count(unknown));
  return std::make_shared<search::Shortlist>(table, options, s);
}

}  // namespace tril::cli
