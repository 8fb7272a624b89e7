#include "corpus/vocabulary_lines.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/number_text.h"
#include "base/progress.h"
#include "base/rng.h"
#include "corpus/columns.h"
#include "corpus/reader.h"
#include "unicode/trim.h"

namespace tril {

namespace {

constexpr std::uint64_t lines_stream = 0x766f636162;  // distinct from every other use of the seed

// A uniform sample of at most `limit` lines out of any number [reservoir sampling: Vitter 1985, algorithm R]. Sampled
// lines stay in the order of the files.
class Sample {
 public:
  explicit Sample(const VocabularyOptions& options) : limit_(options.max_lines), random_(options.seed, lines_stream) {}

  void add(std::string_view line) {
    if (trim(line).empty()) return;
    const std::int64_t index = seen_++;
    if (index < limit_) {
      kept_.emplace_back(index, line);
      return;
    }
    const auto slot = random_.below(static_cast<std::uint64_t>(index) + 1);
    if (slot < static_cast<std::uint64_t>(limit_)) kept_[slot] = {index, std::string(line)};
  }

  /// Counts an invalid line. @param where  "a.txt: line 3"
  void add_invalid(const std::string& where) {
    if (++invalid_ == 1) first_invalid_ = where;
  }

  std::vector<std::string> take() {
    if (invalid_ > 0)
      logger()->warn("vocabulary: {} left out, the first one is {}",
                     counted(format_count(invalid_), "line is not UTF-8 and is", "lines are not UTF-8 and are"),
                     first_invalid_);
    if (seen_ > limit_)
      logger()->info("vocabulary: learning from {}, an even sample of {}", counted(format_count(limit_), "line"),
                     format_count(seen_));
    std::sort(kept_.begin(), kept_.end());
    std::vector<std::string> lines;
    lines.reserve(kept_.size());
    for (auto& [index, line] : kept_) lines.push_back(std::move(line));
    return lines;
  }

 private:
  std::int64_t limit_, seen_ = 0, invalid_ = 0;
  std::string first_invalid_;
  RandomSequence random_;
  std::vector<std::pair<std::int64_t, std::string>> kept_;
};

// The end of the first part of an overlong line.
std::size_t end_of_part(std::string_view line) {
  // A run of blanks stays together: the line is cut before its first blank.
  for (std::size_t at = longest_learnable_line; at > 0; --at)
    if (line[at] == ' ' && line[at - 1] != ' ') return at;
  std::size_t at = longest_learnable_line;
  while (at > 1 && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) --at;
  return at;
}

void append_parts(std::string_view line, std::vector<std::string>& lines) {
  for (; line.size() > longest_learnable_line; line.remove_prefix(lines.back().size()))
    lines.emplace_back(line.substr(0, end_of_part(line)));
  if (!line.empty()) lines.emplace_back(line);
}

}  // namespace

LearnableLines learnable_lines(std::vector<std::string> text) {
  LearnableLines learnable;
  for (std::string& line : text) {
    const bool too_long = line.size() > longest_learnable_line;
    const bool reserved = line.find(reserved_character) != std::string::npos;
    learnable.cut += too_long;
    learnable.reserved += reserved;
    if (!too_long && !reserved) {
      learnable.lines.push_back(std::move(line));
      continue;
    }
    for (std::string_view rest = line; !rest.empty();) {
      const std::size_t end = std::min(rest.find(reserved_character), rest.size());
      append_parts(rest.substr(0, end), learnable.lines);
      rest.remove_prefix(std::min(end + reserved_character.size(), rest.size()));
    }
    line = {};  // frees its memory
  }
  return learnable;
}

std::vector<std::string> sample_lines(const std::vector<TextSource>& files, const VocabularyOptions& options) {
  check(!files.empty(), "vocabulary", "no files to learn from");
  Sample sample(options);
  std::string line;
  for (const TextSource& file : files) {
    LineReader reader(file.path, {.skip_invalid = options.skip_invalid, .refuse_empty = true});
    const auto place = [&] { return fmt::format("{}: line {}", reader.name(), reader.line_number()); };
    for (Line kind = reader.next(line); kind != Line::end; kind = reader.next(line)) {
      if (kind == Line::invalid) {
        sample.add_invalid(place());
        continue;
      }
      if (file.column < 0) {
        sample.add(line);
        continue;
      }
      const auto field = column(line, file.column);
      if (!field)
        fail(place(),
             fmt::format("has {} tab-separated columns, expected column {} too", count_columns(line), file.column + 1));
      sample.add(*field);
    }
  }
  return sample.take();
}

std::vector<std::string> sample_lines(const std::vector<std::string>& lines, const VocabularyOptions& options) {
  Sample sample(options);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string place = fmt::format("line {}", i + 1);
    const std::size_t nul = lines[i].find('\0');
    const auto fault = find_utf8_fault(std::string_view(lines[i]).substr(0, nul));
    if (!fault && nul == std::string::npos) {
      sample.add(lines[i]);
    } else if (options.skip_invalid) {
      sample.add_invalid(place);
    } else {
      if (fault)
        fail(place, fmt::format("is not valid UTF-8 (byte 0x{:02X} at column {})", fault->byte, fault->column));
      fail(place, fmt::format("contains a NUL byte (byte {} of the line)", nul + 1));
    }
  }
  return sample.take();
}

}  // namespace tril
