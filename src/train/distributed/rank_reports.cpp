#include "train/distributed/rank_reports.h"

#include <cstring>

#include "base/as_size.h"
#include "base/hash.h"

namespace tril::train {
namespace {

// The layout of an encoded report: these fields, then the losses, the part gradients and the squares.
enum Header : std::size_t { fingerprint_high, fingerprint_low, seconds, losses, part_gradients, numbers };

std::uint64_t fingerprint_of(std::span<const Batch> batches) {
  Hash hash;
  for (const Batch& b : batches)
    for (const std::vector<std::int32_t>* ids : {&b.source_ids, &b.target_ids})
      for (std::int32_t id : *ids) hash.add(std::int64_t{id});
  return hash.value();
}

std::vector<double> written(const RankReport& r, std::uint64_t fingerprint) {
  std::vector<double> list(numbers);
  list[fingerprint_high] = static_cast<double>(fingerprint >> 32);
  list[fingerprint_low] = static_cast<double>(fingerprint & 0xffffffffu);
  list[seconds] = r.seconds;
  list[losses] = static_cast<double>(r.losses.size());
  list[part_gradients] = static_cast<double>(r.part_gradients.size());
  list.insert(list.end(), r.losses.begin(), r.losses.end());
  for (const PartGradient& p : r.part_gradients) list.insert(list.end(), {p.squared_norm, p.tokens});
  list.insert(list.end(), r.squares.begin(), r.squares.end());
  return list;
}

RankReport read(std::span<const double> list) {
  RankReport r{.seconds = list[seconds]};
  auto next = list.begin() + numbers;
  for (auto n = static_cast<std::int64_t>(list[losses]); n > 0; --n) r.losses.push_back(*next++);
  for (auto n = static_cast<std::int64_t>(list[part_gradients]); n > 0; --n, next += 2)
    r.part_gradients.push_back({next[0], next[1]});
  r.squares.assign(next, list.end());
  return r;
}

}  // namespace

std::vector<RankReport> exchange_reports(dist::Ranks& ranks, std::span<const Batch> batches, const RankReport& mine) {
  const std::vector<double> own = written(mine, fingerprint_of(batches));
  const std::vector<std::vector<std::byte>> all = ranks.all_gather(std::as_bytes(std::span(own)));
  std::vector<RankReport> reports;
  for (int r = 0; r < ranks.size(); ++r) {
    const std::vector<std::byte>& bytes = all[as_size(r)];
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    if (values[fingerprint_high] != own[fingerprint_high] || values[fingerprint_low] != own[fingerprint_low])
      fail(ranks.name_of(r), fmt::format("has different sentences in this update from {}", ranks.name_of(ranks.rank())),
           "give all ranks the same options and the same files");
    reports.push_back(read(values));
  }
  return reports;
}

}  // namespace tril::train
