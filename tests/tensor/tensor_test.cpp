// Tensor: views share memory, sizes are checked, foreign memory is kept alive; IdMap.
#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <type_traits>

#include "base/rng.h"
#include "tensor/context.h"
#include "tensor/id_map.h"

namespace tril {
namespace {

std::vector<float> count_up(std::size_t n) {
  std::vector<float> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<float>(i));
  return v;
}

TEST(Tensor, ViewsShareMemory) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.upload<float>(count_up(20), {4, 5});
  const Tensor middle = x.columns(1, 3), lower = x.rows(2, 4), both = lower.columns(1, 3);
  Tensor flat = x.reshape({20});
  EXPECT_EQ(host_copy<float>(middle), (std::vector<float>{1, 2, 6, 7, 11, 12, 16, 17}));
  EXPECT_EQ(host_copy<float>(both), (std::vector<float>{11, 12, 16, 17}));
  EXPECT_EQ(both.shape(), (Shape{2, 2}));
  EXPECT_EQ(both.row_stride(), 5);
  EXPECT_FALSE(both.is_dense());
  EXPECT_TRUE(both.rows(0, 1).is_dense()) << "one row lies together";
  EXPECT_TRUE(lower.is_dense());
  EXPECT_FALSE(lower.covers_storage());
  EXPECT_TRUE(flat.covers_storage());
  for (const Tensor& view : {middle, lower, both, flat}) EXPECT_EQ(view.id(), x.id());
  flat.data<float>()[11] = -1;
  EXPECT_EQ(host_copy<float>(both)[0], -1);
  const Tensor other = c.upload<float>(std::vector<float>(20, 7.0f), {20});
  EXPECT_EQ(host_copy<float>(both.over(other)), std::vector<float>(4, 7.0f)) << "the same view of another storage";
  EXPECT_EQ(host_copy<float>(x.rows(1, 1)).size(), 0u);
  EXPECT_EQ(x.columns(5, 5).count(), 0);
}

TEST(Tensor, AConstTensorIsOnlyRead) {
  static_assert(std::is_same_v<decltype(std::declval<const Tensor&>().data<float>()), const float*>);
  static_assert(std::is_same_v<decltype(std::declval<Tensor&>().data<float>()), float*>);
}

TEST(Tensor, MemoryThatIsOnlyReadIsNeverWrittenTo) {
  const auto values = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2});
  const auto* const bytes = reinterpret_cast<const std::byte*>(values->data());
  Tensor x = foreign_tensor(bytes, {2}, DType::f32, values);
  EXPECT_EQ(host_copy<float>(x), *values);
  EXPECT_THROW(x.data<float>(), Error);
  EXPECT_THROW(host_write<float>(x.rows(0, 1), std::vector<float>{3}), Error) << "nor through a view";
}

TEST(Tensor, Errors) {
  Arena arena;
  Context c(arena);
  const Tensor x = c.zeros({4, 5});
  const auto text_of = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no Error";
  };
  const auto says = [&](const std::function<void()>& f, const std::string& part) {
    EXPECT_NE(text_of(f).find(part), std::string::npos) << text_of(f);
  };
  says([&] { x.reshape({3, 7}); }, "[4, 5] cannot become [3, 7]");
  says([&] { x.columns(0, 2).reshape({8}); }, "[4, 2] cannot become [8]");
  says([&] { x.rows(3, 5); }, "[3, 5) of [4, 5]");
  says([&] { x.columns(2, 1); }, "[2, 1) of [4, 5]");
  says([&] { x.reshape({20}).columns(0, 1); }, "of [20]");
  says([&] { x.dims<3>("x"); }, "expected 3 dimensions, got [4, 5]");
  says([&] { x.data<std::int32_t>(); }, "expected values of type i32, got f32");
  says([&] { x.over(c.zeros({3})); }, "a storage of 12 bytes for a view into 80");
  says([&] { (Shape{2, -1}); }, "size -1 of dimension 1 is negative");
  says([&] { (Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}); }, "more than a machine can address");
  says([&] { (Shape{1, 1, 1, 1, 1}); }, "5 dimensions, at most 4");
  says([&] { host_write<float>(x, std::vector<float>(3)); }, "3 values for [4, 5]");
  says([&] { host_write<float>(x.columns(0, 1), std::vector<float>(4)); }, "expected a dense tensor");
  says([&] { check_dense(Tensor(), DType::f32, "x"); }, "expected a tensor, got none");
  says([&] { check_shape(x, {5, 4}, "x"); }, "expected [5, 4], got [4, 5]");
}

TEST(Tensor, ForeignMemoryIsKeptAlive) {
  auto values = std::make_shared<std::vector<float>>(count_up(6));
  const std::weak_ptr<std::vector<float>> watch = values;
  {
    Tensor view;
    {
      const Tensor x = foreign_tensor(reinterpret_cast<std::byte*>(values->data()), {2, 3}, DType::f32, values);
      values.reset();
      view = x.columns(1, 2);
    }
    ASSERT_FALSE(watch.expired());
    EXPECT_EQ(host_copy<float>(view), (std::vector<float>{1, 4}));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, OtherTypes) {
  Arena arena;
  Context c(arena);
  const Tensor ids = c.upload<std::int32_t>({3, -1}), bytes = c.upload<std::uint8_t>({1, 0, 255});
  EXPECT_EQ(host_copy<std::int32_t>(ids), (std::vector<std::int32_t>{3, -1}));
  EXPECT_EQ(host_copy<std::uint8_t>(bytes), (std::vector<std::uint8_t>{1, 0, 255}));
  EXPECT_EQ(ids.bytes(), 8u);
  EXPECT_EQ(bytes.bytes(), 3u);
}

TEST(Tensor, ScopesNameWhereWeAre) {
  Arena arena;
  Context c(arena);
  const auto outer = c.scope("decoder");
  {
    const auto inner = c.scope("layers.3");
    EXPECT_EQ(c.where(), "decoder.layers.3");
  }
  EXPECT_EQ(c.where(), "decoder");
}

TEST(IdMap, IsAMap) {
  RandomSequence random(1, 1);
  IdMap<int> map;
  for (int round = 0; round < 5; ++round) {
    std::map<std::uint64_t, int> model;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t id = 1 + random.below(700) * 0x100000001ull;
      if (random.below(2)) {
        map[id] = i;
        model[id] = i;
      }
      const int* found = map.find(id);
      const auto expected = model.find(id);
      ASSERT_EQ(found != nullptr, expected != model.end());
      if (found) {
        ASSERT_EQ(*found, expected->second);
      }
    }
    std::size_t seen = 0;
    map.for_each([&](std::uint64_t id, int& value) {
      ++seen;
      EXPECT_EQ(model.at(id), value);
    });
    EXPECT_EQ(seen, model.size());
    map.clear();
    for (const auto& [id, value] : model) EXPECT_EQ(map.find(id), nullptr) << value;
  }
}

}  // namespace
}  // namespace tril
