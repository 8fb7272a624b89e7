// embedding: y_i = s table[id_i]               d table[id_i] += s dy_i, except for the padding id
// add_positions: y_i = x_i + table[p_i]        dx = dy,  d table[p_i] += dy_i
//   table [V, D]   ids, positions [N]   saves the ids
#include "ops/sizes.h"

namespace tril::ops {
namespace {

void check_ids(const Tensor& ids, std::int64_t below, std::string_view where, std::string_view hint) {
  check_dense(ids, DType::i32, where);
  const std::vector<std::int32_t> values = host_copy<std::int32_t>(ids);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] < 0 || values[i] >= below)
      fail_usage(std::string(where), fmt::format("value {} at {} is not in [0, {})", values[i], i, below),
                 std::string(hint));
}

// y [N, in] = scale * rows ids [N] of w [out, in].
void gather_rows(Context& c, const Weight& w, const Tensor& ids, float scale, Tensor& y) {
  const std::int32_t* const which = ids.data<std::int32_t>();
  float* const to = y.data<float>();
  const std::size_t n = z(ids.size(0)), in = z(w.in());
  const kern::Kernels& k = c.kernels();
  if (w.quantized) return k.gather_quantized(w.quantized.right(), which, scale, to, n);
  if (w.value) return k.gather(w.value.data<float>(), which, scale, to, n, in);
  if (w.compact) {
    k.gather_compact(w.compact.right(w.in()), in, which, to, n);
  } else if (w.packed) {
    k.gather_packed(w.packed.data<std::uint16_t>(), in, which, to, n);
  } else {
    Tensor columns = c.empty({w.in(), ids.size(0)});
    for (std::int64_t i = 0; i < w.in(); ++i)
      k.gather(w.transposed.rows(i, i + 1).data<float>(), which, 1.0f, columns.rows(i, i + 1).data<float>(), n, 1);
    k.transpose(columns.data<float>(), to, in, n);
  }
  if (scale != 1) k.scale(scale, to, to, n * in);
}

}  // namespace

Tensor embedding(Context& c, const Tensor& table, const Tensor& ids, float s, std::int32_t padding_id) {
  const auto [V, D] = table.dims<2>("embedding: table");
  const auto [N] = ids.dims<1>("embedding: ids");
  check_ids(ids, V, "embedding: ids", "use the vocabulary that the model was made with");
  Tensor y = c.empty({N, D});
  const auto time = c.timed("embedding", "forward", [&] { return Work{.bytes = bytes_of(ids, y, y)}; });
  c.kernels().gather(table.data<float>(), ids.data<std::int32_t>(), s, y.data<float>(), z(N), z(D));
  if (c.tape())
    c.tape()->record("embedding", {&table}, y, [table, ids, s, padding_id](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(ids, dy, dy, dy)}; });
      k.kernels().scatter_add(sum_into(k, d.into(k, table)), ids.data<std::int32_t>(), s, dy.data<float>(), padding_id,
                              z(dy.size(0)), z(dy.size(1)));
    });
  return y;
}

Tensor embedding(Context& c, const Weight& table, const Tensor& ids, float s) {
  const auto [N] = ids.dims<1>("embedding: ids");
  check_ids(ids, table.out(), "embedding: ids", "use the vocabulary that the model was made with");
  Tensor y = c.empty({N, table.in()});
  const auto time = c.timed("embedding", "forward", [&] { return Work{.bytes = bytes_of(ids, y, y)}; });
  gather_rows(c, table, ids, s, y);
  return y;
}

Tensor rows_of(Context& c, const Weight& w, const Tensor& ids) {
  const auto [N] = ids.dims<1>("rows of a weight: ids");
  check_ids(ids, w.out(), "rows of a weight: ids", "use the vocabulary that the model was made with");
  Tensor y = c.empty({N, w.in()});
  const auto time = c.timed("rows_of", "forward", [&] { return Work{.bytes = bytes_of(ids, y, y)}; });
  gather_rows(c, w, ids, 1, y);
  return y;
}

Weight select_rows(Context& c, const Weight& w, const Tensor& ids) {
  if (!w.quantized || w.quantized.format != kern::BlockFormat::none) return rows_of(c, w, ids);
  const auto [N] = ids.dims<1>("rows of a weight: ids");
  check_ids(ids, w.out(), "rows of a weight: ids", "use the vocabulary that the model was made with");
  const QuantizedMatrix& from = w.quantized;
  const std::size_t n = z(N), in = z(w.in());
  const auto bytes = [&](std::size_t count) { return c.empty({static_cast<std::int64_t>(count)}, DType::u8); };
  const auto columns = static_cast<std::int64_t>(kern::int8_columns(n));
  Weight selected;
  selected.shape = {N, w.in()};
  selected.quantized = {.shape = selected.shape,
                        .bits = from.bits,
                        .values = bytes(kern::int8_packed_bytes(n, in, from.bits)),
                        .multipliers = from.bits == 4 ? bytes(kern::int4_multipliers(n, in)) : Tensor(),
                        .scales = c.empty({columns}),
                        .sums = c.empty({columns}, DType::i32)};
  QuantizedMatrix& to = selected.quantized;
  const auto time =
      c.timed("select_rows", "forward", [&] { return Work{.bytes = bytes_of(ids, to.values, to.values)}; });
  c.kernels().select_quantized({.from = from.right(),
                                .ids = ids.data<std::int32_t>(),
                                .n = n,
                                .values = to.values.data<std::uint8_t>(),
                                .multipliers = to.multipliers ? to.multipliers.data<std::uint8_t>() : nullptr,
                                .scales = to.scales.data<float>(),
                                .sums = to.sums.data<std::int32_t>()});
  return selected;
}

Tensor add_positions(Context& c, const Tensor& x, const Tensor& table, const Tensor& positions) {
  const auto [N, D] = x.dims<2>("positions: x");
  check_dense(x, DType::f32, "positions: x");
  const auto [T, D_table] = table.dims<2>("positions: table");
  check(D == D_table, "positions", "x {} and the table {} do not agree", x.shape(), table.shape());
  check_shape(positions, {N}, "positions");
  check_ids(positions, T, "positions", "the sequence is longer than the model's positions; shorten it");
  Tensor y = c.empty({N, D});
  const auto time = c.timed("add_positions", "forward", [&] { return Work{.bytes = bytes_of(x, y, y, positions)}; });
  c.kernels().add_gathered(x.data<float>(), table.data<float>(), positions.data<std::int32_t>(), y.data<float>(), z(N),
                           z(D));
  if (c.tape())
    c.tape()->record("add_positions", {&x, &table}, y, [x, table, positions](Context& k, const Tensor& dy, Grads& d) {
      k.worked([&] { return Work{.bytes = bytes_of(dy, dy)}; });
      pass_on(k, dy, d.into(k, x));
      if (const auto dt = d.into(k, table); dt)
        k.kernels().scatter_add(sum_into(k, dt), positions.data<std::int32_t>(), 1.0f, dy.data<float>(), -1,
                                z(dy.size(0)), z(dy.size(1)));
    });
  return y;
}

}  // namespace tril::ops
