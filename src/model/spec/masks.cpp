#include "model/spec/masks.h"

#include "base/element.h"

namespace tril::model {
namespace {

Tensor made(Context& c, std::vector<std::uint8_t> allow, Shape shape, MaskConvention convention) {
  if (convention == MaskConvention::one_is_blocked)
    for (std::uint8_t& a : allow) a = !a;
  return c.upload<std::uint8_t>(allow, shape);
}

}  // namespace

Tensor causal_mask(Context& c, std::int64_t T, MaskConvention convention) {
  std::vector<std::uint8_t> allow;
  for (std::int64_t i = 0; i < T; ++i)
    for (std::int64_t j = 0; j < T; ++j) allow.push_back(j <= i);
  return made(c, std::move(allow), {1, 1, T, T}, convention);
}

Tensor padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id,
                    MaskConvention convention) {
  check(B > 0 && std::ssize(ids) % B == 0, "padding_mask", "{} ids cannot be divided into {} rows", ids.size(), B);
  std::vector<std::uint8_t> allow;
  for (std::int32_t id : ids) allow.push_back(id != pad_id);
  return made(c, std::move(allow), {B, 1, 1, std::ssize(ids) / B}, convention);
}

Tensor causal_padding_mask(Context& c, std::span<const std::int32_t> ids, std::int64_t B, std::int32_t pad_id) {
  check(B > 0 && std::ssize(ids) % B == 0, "causal_padding_mask", "{} ids cannot be divided into {} rows", ids.size(),
        B);
  const std::int64_t T = std::ssize(ids) / B;
  std::vector<std::uint8_t> allow;
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t i = 0; i < T; ++i)
      for (std::int64_t j = 0; j < T; ++j) allow.push_back(j <= i && element(ids, b * T + j) != pad_id);
  return made(c, std::move(allow), {B, 1, T, T}, MaskConvention::one_may_attend);
}

Tensor flip_mask(Context& c, const Tensor& mask) {
  return made(c, host_copy<std::uint8_t>(mask), mask.shape(), MaskConvention::one_is_blocked);
}

std::string mask_picture(const Tensor& mask, MaskConvention convention) {
  const auto [B, H, Tq, Tk] = mask.dims<4>("mask_picture");
  const std::vector<std::uint8_t> values = host_copy<std::uint8_t>(mask);
  const bool sees = convention == MaskConvention::one_may_attend;
  std::string picture;
  for (std::int64_t i = 0; i < Tq && B * H > 0; ++i) {
    for (std::int64_t j = 0; j < Tk; ++j) {
      if (j) picture += ' ';
      picture += (element(values, i * Tk + j) != 0) == sees ? '#' : '.';
    }
    picture += '\n';
  }
  return picture;
}

}  // namespace tril::model
