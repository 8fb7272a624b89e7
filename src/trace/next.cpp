#include "trace/next.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/as_size.h"

namespace tril::trace {

Trace points_of(const model::Model& m, const Input& input, std::span<const Edit> edits, const Trace* donor) {
  Trace points = Trace::of_shapes();
  Recorder recorder(points, {.only = {"*"}, .edits = edits, .donor = donor});
  run_pass(m, input, &recorder);
  return points;
}

nlohmann::ordered_json points_json(const Trace& points) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Value& v : points.values()) list.push_back({{"name", v.name}, {"shape", v.shape}, {"source", v.source}});
  return list;
}

Value logits_of_token(const Outcome& o, std::int64_t token) {
  const auto row = std::span(o.logits).subspan(as_size(token * o.vocab), as_size(o.vocab));
  Value v{.name = "logits", .shape = {1, o.vocab}, .type = DType::f32, .bytes = {}};
  v.bytes.resize(row.size_bytes());
  std::memcpy(v.bytes.data(), row.data(), row.size_bytes());
  return v;
}

nlohmann::ordered_json top_json(const TextReader& reader, const Outcome& o, std::int64_t token, std::int64_t most) {
  const auto row = std::span(o.logits).subspan(as_size(token * o.vocab), as_size(o.vocab));
  std::vector<std::int32_t> ids(row.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min<std::int64_t>(most, o.vocab));
  const auto order = [](float x) { return std::isnan(x) ? -HUGE_VALF : x; };  // a sort needs an order
  std::partial_sort(ids.begin(), end, ids.end(), [&](std::int32_t a, std::int32_t b) {
    const float x = order(row[as_size(a)]), y = order(row[as_size(b)]);
    return x != y ? x > y : a < b;
  });
  ids.erase(end, ids.end());
  const std::vector<std::string> pieces = reader.pieces(ids, false);
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < ids.size(); ++i) list.push_back({ids[i], pieces[i], row[as_size(ids[i])]});
  return list;
}

}  // namespace tril::trace
