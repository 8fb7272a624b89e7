#include "corpus/batch.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace tril {

namespace {

std::span<const std::int32_t> row(const Rows& rows, const std::vector<std::int32_t>& ids, std::int64_t i) {
  return std::span(ids).subspan(static_cast<std::size_t>(rows.begin(i)), static_cast<std::size_t>(rows.length(i)));
}

}  // namespace

void Batch::append(std::span<const std::int32_t> source_row_ids, std::span<const std::int32_t> target_row_ids,
                   std::int64_t line) {
  source.append(static_cast<std::int32_t>(source_row_ids.size()));
  target.append(static_cast<std::int32_t>(target_row_ids.size()));
  source_ids.insert(source_ids.end(), source_row_ids.begin(), source_row_ids.end());
  target_ids.insert(target_ids.end(), target_row_ids.begin(), target_row_ids.end());
  lines.push_back(line);
}

std::span<const std::int32_t> Batch::source_row(std::int64_t i) const {
  return row(source, source_ids, i);
}
std::span<const std::int32_t> Batch::target_row(std::int64_t i) const {
  return row(target, target_ids, i);
}

std::vector<float> Batch::token_weights() const {
  std::vector<float> of_tokens;
  for (std::size_t i = 0; i < weights.size(); ++i)
    of_tokens.insert(of_tokens.end(), static_cast<std::size_t>(target.length(static_cast<std::int64_t>(i))),
                     weights[i]);
  return of_tokens;
}

std::vector<float> Batch::wanted_attention() const {
  std::vector<float> wanted;
  for (std::size_t i = 0; i < alignments.size(); ++i) {
    const auto sources = static_cast<std::size_t>(source.length(static_cast<std::int64_t>(i))),
               targets = static_cast<std::size_t>(target.length(static_cast<std::int64_t>(i)));
    const std::size_t begin = wanted.size();
    wanted.resize(begin + sources * targets, 0.0f);
    std::vector<float> count(targets, 0.0f);
    for (const AlignmentPoint& p : alignments[i]) count[static_cast<std::size_t>(p.target)] += 1;
    for (const AlignmentPoint& p : alignments[i])
      wanted[begin + static_cast<std::size_t>(p.target) * sources + static_cast<std::size_t>(p.source)] =
          1 / count[static_cast<std::size_t>(p.target)];
  }
  return wanted;
}

std::vector<Batch> split(const Batch& batch, int parts) {
  check(parts >= 1, "split", "expected at least 1 part, got {}", parts);
  const auto tokens = [&](std::int64_t i) { return batch.source.length(i) + batch.target.length(i); };
  std::vector<std::int64_t> longest_first(static_cast<std::size_t>(batch.sentences()));
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::int64_t a, std::int64_t b) { return tokens(a) > tokens(b); });

  std::vector<std::int64_t> load(static_cast<std::size_t>(parts), 0);
  std::vector<std::size_t> part_of(longest_first.size());
  for (std::int64_t i : longest_first) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    part_of[static_cast<std::size_t>(i)] = lightest;
    load[lightest] += tokens(i);
  }

  std::vector<Batch> result(static_cast<std::size_t>(parts));
  for (Batch& part : result) {
    part.epoch = batch.epoch;
    part.last_of_epoch = batch.last_of_epoch;
  }
  for (std::int64_t i = 0; i < batch.sentences(); ++i) {
    const auto pair = static_cast<std::size_t>(i);
    Batch& part = result[part_of[pair]];
    part.append(batch.source_row(i), batch.target_row(i), batch.lines[pair]);
    if (!batch.weights.empty()) part.weights.push_back(batch.weights[pair]);
    if (!batch.alignments.empty()) part.alignments.push_back(batch.alignments[pair]);
  }
  return result;
}

}  // namespace tril
