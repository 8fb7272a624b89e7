#include "train/distributed/exchange.h"

#include <algorithm>

#include "base/as_size.h"

namespace tril::train {
namespace {

constexpr int weights_tag = 0;

int gradient_tag(std::size_t bucket) {
  return 1 + static_cast<int>(bucket % 30'000);
}

std::span<const std::byte> bytes_of(const float* values, Interval i) {
  return std::as_bytes(std::span(values + i.begin, i.count));
}
std::span<std::byte> bytes_of(float* values, Interval i) {
  return std::as_writable_bytes(std::span(values + i.begin, i.count));
}

// A partial sum: a view of its values, or memory of its own after the first addition.
struct Term {
  const float* values = nullptr;
  std::vector<float> own;
  explicit operator bool() const { return values != nullptr; }
};

}  // namespace

Exchange::Exchange(std::shared_ptr<dist::Ranks> ranks, const Division& division, const kern::Kernels& kernels,
                   WirePrecision precision)
    : ranks_(std::move(ranks)),
      division_(division),
      kernels_(kernels),
      precision_(precision),
      given_(as_size(ranks_->size())) {}

Exchange::~Exchange() {
  if (!tickets_.empty()) ranks_->abandon();
}

Exchange::Given& Exchange::given(int rank, std::size_t sum) {
  std::vector<Given>& list = given_[as_size(rank)];
  if (list.size() <= sum) list.resize(sum + 1);
  return list[sum];
}

void Exchange::begin(Branch all, std::vector<std::vector<Branch>> sums) {
  all_ = all;
  sums_ = std::move(sums);
  std::vector<dist::Incoming> incoming;
  const auto count = static_cast<std::int64_t>(division_.window_count());
  for (int r = 0; r < ranks_->size(); ++r)
    for (std::size_t sum = 0; sum < sums_[as_size(r)].size(); ++sum) {
      Given& g = given(r, sum);
      if (r == ranks_->rank()) continue;
      if (precision_ == WirePrecision::bf16) {
        if (!g.came) {
          const std::int64_t floats = (count + 1) / 2;
          g.came = lasting_memory(as_size(floats) * sizeof(float));
          use_small_pages(foreign_tensor(g.came.get(), {floats}, DType::f32, g.came));  // as below
        }
      } else if (!g.values) {
        g.values = lasting_zeros(count);
        use_small_pages(g.values);  // values that others step are never received here
      }
    }
  of_.clear();
  for (std::size_t r = 0; r < sums_.size(); ++r)
    for (std::size_t sum = 0; sum < sums_[r].size(); ++sum) of_[sums_[r][sum]] = &given_[r][sum];
  // Ordered by bucket, then by rank and sum.
  for (std::size_t b = 0; b < division_.buckets().size(); ++b)
    for (int r = 0; r < ranks_->size(); ++r) {
      if (r == ranks_->rank()) continue;
      for (std::size_t sum = 0; sum < sums_[as_size(r)].size(); ++sum)
        for (const Interval& i : division_.owned(b, ranks_->rank())) {
          Given& g = given(r, sum);
          incoming.push_back({r,
                              precision_ == WirePrecision::fp32 ? bytes_of(g.values.data<float>(), i)
                                                                : std::span(g.came.get() + 2 * i.begin, 2 * i.count),
                              gradient_tag(b)});
        }
    }
  const std::lock_guard lock(mutex_);
  if (!incoming.empty()) tickets_.push_back(ranks_->start({}, incoming));
}

void Exchange::send(std::size_t bucket, std::size_t sum, const Tensor& gradient) {
  Given& mine = [&]() -> Given& {
    const std::lock_guard lock(mutex_);
    Given& g = given(ranks_->rank(), sum);
    g.values = gradient;
    if (precision_ == WirePrecision::bf16) g.rounded.resize(division_.window_count());
    return g;
  }();
  const float* const values = gradient.data<float>();
  std::vector<dist::Outgoing> outgoing;
  for (int r = 0; r < ranks_->size(); ++r) {
    if (r == ranks_->rank()) continue;
    for (const Interval& i : division_.owned(bucket, r)) {
      if (precision_ == WirePrecision::bf16)
        kernels_.round_bf16(values + i.begin, mine.rounded.data() + i.begin, i.count);
      outgoing.push_back({r,
                          precision_ == WirePrecision::fp32
                              ? bytes_of(values, i)
                              : std::as_bytes(std::span(mine.rounded).subspan(i.begin, i.count)),
                          gradient_tag(bucket)});
    }
  }
  if (outgoing.empty()) return;
  const std::lock_guard lock(mutex_);
  tickets_.push_back(ranks_->start(outgoing, {}));
}

void Exchange::wait() {
  for (const dist::Ranks::Ticket& t : tickets_) ranks_->wait(t);
  tickets_.clear();
}

void Exchange::add_up(std::size_t begin, std::size_t count, float* to) const {
  const auto leaf = [&](Branch branch) {
    Term term;
    const auto found = of_.find(branch);
    if (found == of_.end()) return term;
    const Given* const g = found->second;
    if (g->came) {
      term.own.resize(count);
      kernels_.widen_bf16(reinterpret_cast<const std::uint16_t*>(g->came.get()) + begin, term.own.data(), count);
      term.values = term.own.data();
    } else {
      term.values = g->values.data<float>() + begin;
    }
    return term;
  };
  const auto join = [&](Term a, const Term& b) {
    if (a.own.empty()) {
      a.own.resize(count);
      kernels_.copy(a.values, a.own.data(), count * sizeof(float));
      a.values = a.own.data();
    }
    kernels_.axpy(1.0f, b.values, a.own.data(), count);
    return a;
  };
  const Term sum = sum_in_order(all_, leaf, join);
  if (sum.values != to) kernels_.copy(sum.values, to, count * sizeof(float));
}

void Exchange::share(Tensor values) {
  if (ranks_->size() == 1) return;
  float* const all = values.data<float>();
  std::vector<dist::Outgoing> outgoing;
  std::vector<dist::Incoming> incoming;
  for (std::size_t b = 0; b < division_.buckets().size(); ++b)
    for (int r = 0; r < ranks_->size(); ++r) {
      if (r == ranks_->rank()) continue;
      for (const Interval& i : division_.owned(b, ranks_->rank()))
        outgoing.push_back({r, bytes_of(static_cast<const float*>(all), i), weights_tag});
      for (const Interval& i : division_.owned(b, r)) incoming.push_back({r, bytes_of(all, i), weights_tag});
    }
  ranks_->wait(ranks_->start(outgoing, incoming));
}

}  // namespace tril::train
