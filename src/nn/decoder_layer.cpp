#include "nn/decoder_layer.h"

#include "tensor/observer.h"

namespace tril::nn {
namespace {

Tensor normed(Context& c, const std::optional<Norm>& norm, const Tensor& x) {
  return norm ? norm->forward(c, x) : x;
}

}  // namespace

KvCache::Layer DecoderLayer::kept() const {
  return std::visit(
      [](const auto& m) {
        if constexpr (requires { m.kept(); })
          return m.kept();
        else
          return KvCache::Layer{.num_kv_heads = 0};
      },
      mixer);
}

Tensor DecoderLayer::forward(Context& c, const Tensor& h, const LayerCall& call, std::int64_t layer,
                             const Attention::KeysValues& memory) const {
  const auto at = c.scope(name);
  // h + r norm(sublayer(out)). Without a norm and a scale, the sublayer's last product adds h itself.
  const auto add = [&](const Tensor& to, const std::optional<Norm>& norm, float drop, const char* name_of_sublayer,
                       const auto& sublayer) {
    if (!norm && residual_scale == 1) return sublayer(ops::LinearOptions{.residual = to, .dropout = drop});
    Tensor x = normed(c, norm, sublayer(ops::LinearOptions{}));
    if (residual_scale != 1) x = ops::scale(c, x, residual_scale);
    const ObservedPart part(c, name_of_sublayer);
    observe(c, "out", x);
    return ops::residual(c, to, x, drop);
  };
  Tensor normed_h, middle = h;
  const auto mix = [&](const auto& m) {
    if constexpr (requires { m.kept(); }) {
      normed_h = normed(c, before_attention, h);
      middle = add(h, after_attention, dropout, "self",
                   [&](const ops::LinearOptions& out) { return m.self(c, normed_h, *call.self, layer, out); });
      observe(c, "after_self", middle);
    }
  };
  std::visit(mix, mixer);
  if (cross_attention) {
    middle = add(middle, after_cross, dropout, "cross", [&](const ops::LinearOptions& out) {
      return cross_attention->cross(c, normed(c, before_cross, middle), memory, {*call.cross, layer}, out);
    });
    observe(c, "after_cross", middle);
  }
  if (std::holds_alternative<std::monostate>(feed_forward)) return middle;
  Tensor result =
      add(middle, after_feed_forward, feed_forward_dropout, "feed_forward", [&](const ops::LinearOptions& out) {
        const Tensor x =
            parallel && !before_feed_forward ? normed_h : normed(c, before_feed_forward, parallel ? h : middle);
        if (const auto* const experts = std::get_if<ExpertFeedForward>(&feed_forward))
          return experts->forward(c, x, out, call.routers);
        if (const auto* const both = std::get_if<DenseAndExperts>(&feed_forward))
          return both->forward(c, x, out, call.routers);
        if (const auto* const plain = std::get_if<FeedForward>(&feed_forward)) return plain->forward(c, x, out);
        return std::get<GatedFeedForward>(feed_forward).forward(c, x, out);
      });
  if (layer_input) result = layer_input->forward(c, result, call.layer_input);
  return factor ? ops::scale(c, result, host_copy<float>(factor->value)[0]) : result;
}

}  // namespace tril::nn
