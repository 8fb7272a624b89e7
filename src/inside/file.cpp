#include "inside/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/as_size.h"
#include "format/json_text.h"
#include "trace/next.h"
#include "trace/part.h"
#include "trace/pattern.h"

namespace tril::inside {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t best_tokens = 100;  // whose names the page knows

// Changes that a page from disk offers: the switches of changes.js that need no choice, and each layer left out.
struct Switch {
  std::string key, of, edit;
};
std::vector<Switch> switches_of(const trace::Trace& points) {
  std::set<std::string> last;
  std::vector<Switch> layers;
  for (const trace::Value& v : points.values()) {
    last.emplace(trace::last_name(v.name));
    if (!v.name.ends_with(".output")) continue;
    const std::string layer = v.name.substr(0, v.name.rfind('.'));
    layers.push_back({"layer", layer, layer + "=skip"});
  }
  std::vector<Switch> list;
  if (points.find("decoder.0.self.mask")) list.push_back({"mask", "", "decoder.*.self.mask=all"});
  if (last.contains("scores")) list.push_back({"uniform", "", "*.scores=uniform"});
  if (last.contains("positions") || last.contains("scores")) list.push_back({"positions", "", "*positions=skip"});
  if (last.contains("inner")) list.push_back({"ff", "", "*.feed_forward.out=zero"});
  list.insert(list.end(), layers.begin(), layers.end());
  return list;
}

Json changes_of(const model::Model& m, const trace::TextReader& reader, const FileQuestion& q,
                std::vector<Switch> switches) {
  for (const std::string& edit : q.edits) switches.push_back({"", "", edit});
  Json list = Json::array();
  trace::Question question{.texts = q.texts, .only = {}, .edits = {}, .donor = {}, .new_tokens = q.new_tokens};
  const trace::Plain plain = plain_pass(m, reader, question);  // once for all changes
  question.plain = &plain;
  for (const Switch& s : switches) {
    question.edits = {s.edit};
    const trace::Answer a = answer(m, reader, question);
    list.push_back(
        {{"switch", s.key}, {"of", s.of}, {"edit", {s.edit}}, {"change", about_json(m, reader, a)["change"]}});
  }
  for (const auto& [name, other] : q.precisions) {
    list.push_back({{"switch", "precision"},
                    {"of", name},
                    {"edit", Json::array()},
                    {"change", difference_json(reader, plain, plain_pass(*other, reader, question))}});
  }
  return list;
}

}  // namespace

std::string file_data(const model::Model& m, const trace::TextReader& reader, const FileQuestion& q) {
  trace::Input input = reader.read(q.texts);
  const trace::Trace points = trace::points_of(m, input);
  trace::Question question{.texts = q.texts, .only = q.only, .edits = {}, .donor = {}};
  question.most_bytes = q.most_bytes;
  const bool all = q.only.empty();
  for (const trace::Value& v : points.values())
    if (all && v.name != "logits") question.only.push_back(v.name);
  const trace::Answer a = answer(m, reader, question);

  const std::int64_t tokens = std::ssize(a.input.tokens), vocab = a.outcome.vocab;
  const bool all_logits = tokens * vocab * std::int64_t{sizeof(float)} <= q.logits_bytes;
  Json values = Json::object(), rows = Json::object();
  for (const trace::Value& v : a.trace.values()) values[v.name] = bytes_json(v);
  for (std::int64_t t = all_logits ? 0 : tokens - 1; t < tokens; ++t)
    rows[fmt::format("logits@{}", t)] = bytes_json(logits_of_token(a.outcome, t));
  Json about = about_json(m, reader, a);
  about["points"] = points_json(points);
  for (std::int64_t t = all_logits ? 0 : tokens - 1; t < tokens; ++t)
    about["next"][as_size(t)]["top"] = top_json(reader, a.outcome, t, best_tokens);
  return json_text(Json{{"about", std::move(about)},
                        {"values", std::move(values)},
                        {"rows", std::move(rows)},
                        {"changes", changes_of(m, reader, q, switches_of(points))},
                        {"search", Json::parse(q.search)}});
}

}  // namespace tril::inside
