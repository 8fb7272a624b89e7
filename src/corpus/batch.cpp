#include "corpus/batch.h"

#include <algorithm>
#include <numeric>

#include "base/as_size.h"
#include "base/error.h"

namespace tril {

namespace {

std::span<const std::int32_t> row(const Rows& rows, const std::vector<std::int32_t>& ids, std::int64_t i) {
  return std::span(ids).subspan(as_size(rows.begin(i)), as_size(rows.length(i)));
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
  for (std::int64_t i = 0; const float weight : weights)
    of_tokens.insert(of_tokens.end(), as_size(target.length(i++)), weight);
  return of_tokens;
}

std::vector<float> Batch::wanted_attention() const {
  std::vector<float> wanted;
  for (std::int64_t i = 0; const Alignment& alignment : alignments) {
    const auto sources = as_size(source.length(i)), targets = as_size(target.length(i));
    ++i;
    const std::size_t begin = wanted.size();
    wanted.resize(begin + sources * targets, 0.0f);
    std::vector<float> count(targets, 0.0f);
    for (const AlignmentPoint& p : alignment) count[as_size(p.target)] += 1;
    for (const AlignmentPoint& p : alignment)
      wanted[begin + as_size(p.target) * sources + as_size(p.source)] = 1 / count[as_size(p.target)];
  }
  return wanted;
}

std::vector<Batch> split(const Batch& batch, int parts) {
  check(parts >= 1, "split", "expected at least 1 part, got {}", parts);
  const auto tokens = [&](std::int64_t i) { return batch.source.length(i) + batch.target.length(i); };
  std::vector<std::int64_t> longest_first(as_size(batch.sentences()));
  std::iota(longest_first.begin(), longest_first.end(), 0);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [&](std::int64_t a, std::int64_t b) { return tokens(a) > tokens(b); });

  std::vector<std::int64_t> load(as_size(parts), 0);
  std::vector<std::size_t> part_of(longest_first.size());
  for (std::int64_t i : longest_first) {
    const auto lightest = as_size(std::min_element(load.begin(), load.end()) - load.begin());
    part_of[as_size(i)] = lightest;
    load[lightest] += tokens(i);
  }

  std::vector<Batch> result(as_size(parts));
  for (Batch& part : result) {
    part.epoch = batch.epoch;
    part.last_of_epoch = batch.last_of_epoch;
  }
  for (std::int64_t i = 0; i < batch.sentences(); ++i) {
    const auto pair = as_size(i);
    Batch& part = result[part_of[pair]];
    part.append(batch.source_row(i), batch.target_row(i), batch.lines[pair]);
    if (!batch.weights.empty()) part.weights.push_back(batch.weights[pair]);
    if (!batch.alignments.empty()) part.alignments.push_back(batch.alignments[pair]);
  }
  return result;
}

}  // namespace tril
