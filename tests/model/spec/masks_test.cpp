// Masks of rectangles, in both conventions, as pictures.
#include "model/spec/masks.h"

#include <gtest/gtest.h>

namespace tril::model {
namespace {

TEST(Masks, AsPictures) {
  Arena arena;
  Context c(arena);
  EXPECT_EQ(mask_picture(causal_mask(c, 3)), "# . .\n# # .\n# # #\n");
  const std::vector<std::int32_t> ids{5, 6, 0, 7, 0, 0};
  const Tensor padding = padding_mask(c, ids, 2, 0);
  EXPECT_EQ(padding.shape(), (Shape{2, 1, 1, 3}));
  EXPECT_EQ(host_copy<std::uint8_t>(padding), (std::vector<std::uint8_t>{1, 1, 0, 1, 0, 0}));
  EXPECT_EQ(mask_picture(padding), "# # .\n");
  const Tensor both = causal_padding_mask(c, ids, 2, 0);
  EXPECT_EQ(both.shape(), (Shape{2, 1, 3, 3}));
  EXPECT_EQ(mask_picture(both), "# . .\n# # .\n# # .\n");
  EXPECT_EQ(host_copy<std::uint8_t>(both),
            (std::vector<std::uint8_t>{1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}));
}

TEST(Masks, TheOtherConvention) {
  Arena arena;
  Context c(arena);
  const Tensor blocked = causal_mask(c, 2, MaskConvention::one_is_blocked);
  EXPECT_EQ(host_copy<std::uint8_t>(blocked), (std::vector<std::uint8_t>{0, 1, 0, 0}));
  EXPECT_EQ(mask_picture(blocked, MaskConvention::one_is_blocked), "# .\n# #\n");
  EXPECT_EQ(host_copy<std::uint8_t>(flip_mask(c, blocked)), host_copy<std::uint8_t>(causal_mask(c, 2)));
  const std::vector<std::int32_t> ids{3, 9};
  EXPECT_EQ(host_copy<std::uint8_t>(padding_mask(c, ids, 1, 9, MaskConvention::one_is_blocked)),
            (std::vector<std::uint8_t>{0, 1}));
}

TEST(Masks, Errors) {
  Arena arena;
  Context c(arena);
  const std::vector<std::int32_t> ids{1, 2, 3};
  EXPECT_THROW(padding_mask(c, ids, 2, 0), Error);
  EXPECT_THROW(causal_padding_mask(c, ids, 0, 0), Error);
  EXPECT_THROW(mask_picture(c.zeros({2, 2})), Error);
}

}  // namespace
}  // namespace tril::model
