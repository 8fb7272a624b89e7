#include "cli/options/corpus_options.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>

#include "base/number_text.h"
#include "base/streams.h"
#include "corpus/reader.h"

namespace tril::cli {
namespace {

constexpr std::int64_t most_shards = 1'000'000;

struct Shard {
  std::int64_t number = 1, of = 1;
};

Shard read_shard(const std::string& text) {
  Shard s;
  const char *const begin = text.data(), *const end = begin + text.size();
  const auto [slash, no_number] = std::from_chars(begin, end, s.number);
  bool ok = no_number == std::errc() && slash != end && *slash == '/';
  if (ok) {
    const auto [rest, error] = std::from_chars(slash + 1, end, s.of);
    ok = error == std::errc() && rest == end;
  }
  if (!ok || s.number < 1 || s.of < s.number || s.of > most_shards)
    fail_usage("--shard", fmt::format("expected I/N, I from 1 to N and N up to {}, got \"{}\"", most_shards, text),
               "3/8 is the third of eight");
  return s;
}

void check_regular(const std::string& input, const std::string& flag) {
  if (input == "-") fail_usage(flag, "standard input cannot be divided", "pass a file; --input FILE for the text");
  std::error_code problem;
  if (std::filesystem::exists(input, problem) && !std::filesystem::is_regular_file(input, problem))
    fail_usage(flag, fmt::format("{} is not a regular file, but it must be read more than once", input),
               "write the text to a file first");
}

std::int64_t count_lines(const std::string& path) {
  return LineReader(path).skip(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

void add_corpus_fields(Fields& f, CorpusOptions& o) {
  f.add("shard", &o.shard,
        "translate only the I-th of N parts of the text: of L lines, those from (I - 1) L / N up to I L / N, rounded "
        "down; the N outputs in order make up the whole output")
      .value_name("I/N")
      .free_to_change();
  f.add("work-dir", &o.work_dir,
        "share the work with all processes, on any machines, that are given the same directory: each takes free blocks "
        "of lines, the last one writes --output, and finished blocks survive if a process is killed; unset: "
        "OUTPUT.work if mpirun or srun started several processes")
      .value_name("DIR")
      .free_to_change();
  f.add("block-lines", &o.block_lines,
        "number of lines in a block; unset: as when the work in the directory was started, or 10000")
      .at_least(1)
      .at_most(1'000'000)
      .free_to_change();
  f.add("keep-blocks", &o.keep_blocks,
        "leave the translation in --work-dir, one file per block as listed in its manifest.json, and write no --output")
      .free_to_change();
  f.excludes("shard", "work-dir", "choose one way to divide the text");
  f.needs("keep-blocks", "work-dir", "there are no blocks without it");
}

std::optional<std::string> work_directory(const CorpusOptions& o, const dist::Launch& ranks, const std::string& input,
                                          const std::optional<std::string>& beside, const std::string& output) {
  if (o.work_dir) {
    check(!o.work_dir->empty(), "--work-dir", "the directory name is empty");
    check_regular(input, "--work-dir");
    if (beside) check_regular(*beside, "--work-dir");
    if (o.keep_blocks && output != "-")
      fail_usage("--keep-blocks", "the blocks are the output", "leave --output or --keep-blocks out");
    if (!o.keep_blocks && takes_a_stream(output))
      fail_usage("--work-dir", fmt::format("processes cannot share {}", output == "-" ? "standard output" : output),
                 "pass a file with --output, or pass --keep-blocks");
    return o.work_dir;
  }
  if (!o.shard && ranks.size > 1) {
    if (input == "-" || takes_a_stream(output))
      fail_usage(
          "",
          fmt::format("a launcher started {} processes, but each would translate its whole standard input or write to "
                      "the same standard output",
                      ranks.size),
          "pass --input and --output so that they share the text, or --shard 1/1 so that each translates its own");
    check_regular(input, "--input");
    if (beside) check_regular(*beside, "--target-prefix");
    return output + ".work";
  }
  check(!o.block_lines, "--block-lines", "needs --work-dir: nothing is divided into blocks");
  return std::nullopt;
}

Passage passage_of(const CorpusOptions& o, const std::string& input, const std::optional<std::string>& beside) {
  if (!o.shard) return {};
  const Shard shard = read_shard(*o.shard);
  if (shard.of == 1) return {};
  check_regular(input, "--shard");
  const std::int64_t lines = count_lines(input);
  if (beside) {
    check_regular(*beside, "--shard");
    const std::int64_t others = count_lines(*beside);
    check(others == lines, *beside, "has {}, but the text has {}", counted(others, "line"), lines);
  }
  const auto begin = [&](std::int64_t part) {  // part * lines / N without overflow
    return lines / shard.of * part + lines % shard.of * part / shard.of;
  };
  return {.first = begin(shard.number - 1), .count = begin(shard.number) - begin(shard.number - 1)};
}

}  // namespace tril::cli
