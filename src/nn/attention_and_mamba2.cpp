#include "nn/attention_and_mamba2.h"

#include "tensor/observer.h"

namespace tril::nn {

AttentionAndMamba2::AttentionAndMamba2(Parameters& p, const std::string& prefix, const Options& o)
    : attention_(p, prefix + "." + o.attention_name, o.attention),
      mamba_(p, prefix + "." + o.mamba_name, o.mamba),
      attention_scale_(o.attention_scale),
      mamba_scale_(o.mamba_scale) {}

KvCache::Layer AttentionAndMamba2::kept() const {
  KvCache::Layer both = attention_.kept();
  both.state_size = mamba_.kept().state_size;
  return both;
}

Tensor AttentionAndMamba2::self(Context& c, const Tensor& x, const SelfCall& call, std::int64_t layer,
                                const ops::LinearOptions& out) const {
  const auto scaled = [&](const Tensor& y, float factor) { return factor == 1 ? y : ops::scale(c, y, factor); };
  const Tensor attended = scaled(attention_.self(c, x, call, layer), attention_scale_);
  Tensor scanned;
  {
    const ObservedPart part(c, "mamba");  // decoder.0.mamba.self.heads: its points are not those of attention
    scanned = scaled(mamba_.self(c, x, call, layer), mamba_scale_);
  }
  Tensor both = ops::add(c, attended, scanned);
  if (!out.residual) return both;
  const ObservedPart part(c, "self");
  observe(c, "out", both);
  return ops::residual(c, out.residual, both, out.dropout);
}

}  // namespace tril::nn
