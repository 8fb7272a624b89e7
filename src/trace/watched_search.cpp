#include "trace/watched_search.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/as_size.h"
#include "decode/batches/session.h"

namespace tril::trace {
namespace {

using Json = nlohmann::ordered_json;

Json tokens_of(const TextReader& reader, const std::vector<std::int32_t>& ids, bool source) {
  return {{"ids", ids}, {"pieces", reader.pieces(ids, source)}};
}

Json plan_json(const SearchQuestion& q) {
  const search::SearchPlan& p = q.plan;
  Json json{{"beam_size", p.beam_size}, {"n", p.n_best}, {"length_penalty", p.length_penalty}};
  if (p.beam_groups > 1) json["beam_groups"] = p.beam_groups, json["diversity_penalty"] = p.diversity_penalty;
  if (p.alternatives) json["alternatives"] = true;
  if (p.sampling.on) json["temperature"] = p.sampling.temperature, json["seed"] = p.sampling.seed;
  if (p.constraint) json["constraint"] = true;
  json["max_length"] = q.request.max_length;
  return json;
}

Json node_json(const search::SearchNode& n, const std::string& piece, bool grouped) {
  if (n.parent < 0) return {{"parent", nullptr}, {"step", 0}, {"fate", name_of(n.fate)}};
  Json json{{"parent", n.parent},     {"step", n.step}, {"id", n.token},          {"piece", piece},
            {"log_prob", n.log_prob}, {"sum", n.sum},   {"fate", name_of(n.fate)}};
  if (n.rank_sum != n.sum && n.sum == n.sum) json["rank_sum"] = n.rank_sum;
  if (grouped) json["group"] = n.group;
  if (n.samples > 1) json["samples"] = n.samples;
  if (n.proposed) json["proposed"] = true;
  if (n.fate == search::Fate::finished) json["score"] = n.score, json["stop_reason"] = name_of(n.stop_reason);
  return json;
}

}  // namespace

std::string_view name_of(search::Fate fate) {
  switch (fate) {
    case search::Fate::living:
      return "living";
    case search::Fate::cut:
      return "cut";
    case search::Fate::finished:
      return "finished";
    case search::Fate::stopped:
      return "stopped";
    case search::Fate::forbidden:
      return "forbidden";
    case search::Fate::rejected:
      return "rejected";
  }
  return "";
}

SearchAnswer watch_search(Context& c, const model::Model& m, const SearchQuestion& q) {
  search::SearchTree::Bounds bounds = q.bounds;
  search::SearchPlan plan = q.plan;
  plan.scores = true;
  plan.observed_tokens = static_cast<std::int32_t>(std::min<std::int64_t>(watched_tokens, m.vocab_size()));
  // A beam tells of its own candidates, the next of which were not taken.
  if (plan.has_beam()) bounds.others = 0;
  SearchAnswer a{.tree = search::SearchTree(bounds), .hypotheses = {}, .speculation = {}};
  search::Request request = q.request;
  request.observer = &a.tree;
  search::Session session(c, m, {.cache = q.cache, .ensemble = {}, .speculative = q.speculative});
  std::vector<std::vector<std::int32_t>> sources;
  if (m.has_encoder()) sources.push_back(q.source);
  a.hypotheses = session.decode(sources, {&request, 1}, plan, 0, {.stop = q.stop})[0];
  a.speculation = session.speculation();
  a.tree.close();
  return a;
}

Json search_json(const TextReader& reader, const SearchQuestion& q, const SearchAnswer& a,
                 const std::vector<std::string>& texts) {
  Json json = Json::object();
  if (!q.source.empty()) json["source"] = tokens_of(reader, q.source, true);
  std::vector<std::int32_t> given{q.request.start_id};
  given.insert(given.end(), q.request.prefix.begin(), q.request.prefix.end());
  json["given"] = tokens_of(reader, given, false);
  json["plan"] = plan_json(q);

  const std::vector<search::SearchNode>& nodes = a.tree.nodes();
  std::vector<std::int32_t> ids;
  for (const search::SearchNode& n : nodes) ids.push_back(n.token);
  const std::vector<std::string> pieces = reader.pieces(ids, false);
  Json list = Json::array();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    list.push_back(node_json(nodes[i], pieces[i], q.plan.beam_groups > 1 || q.plan.alternatives));
  json["nodes"] = std::move(list);
  json["left_out"] = a.tree.left_out();

  const std::vector<std::int32_t> ends = a.tree.nodes_of(a.hypotheses);
  Json results = Json::array();
  for (std::size_t i = 0; i < a.hypotheses.size(); ++i) {
    const search::Hypothesis& h = a.hypotheses[i];
    results.push_back({{"text", texts.at(i)},
                       {"node", ends[i]},
                       {"tokens", h.tokens},
                       {"log_prob", h.log_prob},
                       {"score", h.score},
                       {"stop_reason", search::name_of(h.stop_reason)}});
  }
  json["results"] = std::move(results);
  if (q.speculative.on())
    json["proposals"] = {{"proposed", a.speculation.proposed},
                         {"accepted", a.speculation.accepted},
                         {"tokens", a.speculation.tokens},
                         {"rows", a.speculation.rows}};
  return json;
}

}  // namespace tril::trace
