#include "serve/api/language_graph.h"

#include <algorithm>
#include <tuple>

#include "language/match.h"

namespace tril::serve {
namespace {

// More than any path has.
constexpr std::int64_t unreachable = 1 << 20;

bool is_named(std::string_view name, const std::string& node, const std::optional<Language>& language) {
  if (name == node) return true;
  const std::optional<Language> wanted = find_language(name);
  return wanted && language && same_language(*wanted, *language);
}

template <class Places>
const std::string* name_at(const Places& places, std::size_t node) {
  const auto found = std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.node == node; });
  return found == places.end() ? nullptr : &found->name;
}

}  // namespace

std::string public_code(const std::string& name) {
  const std::optional<Language> language = find_language(name);
  return language ? code_of(*language) : name;
}

LanguageGraph::LanguageGraph(const std::vector<Models::Offer>& models, const PivotOptions& options)
    : most_models_(options.most + 1) {
  for (const Models::Offer& model : models) {
    const ServedLanguages& l = model.profile->languages;
    const std::vector<std::string> sources = l.sources();
    if (!model.profile->translates || sources.empty() || l.targets.empty()) continue;
    Edges& edges = models_.emplace_back();
    edges.model = model;
    for (const std::string& name : sources) edges.sources.push_back({node_of(name), name});
    for (const std::string& name : l.targets) edges.targets.push_back({node_of(name), name});
  }
  for (NodeLanguage& node : nodes_) {
    const auto it = std::find_if(options.preferred.begin(), options.preferred.end(),
                                 [&](const std::string& name) { return is_named(name, node.name, node.language); });
    node.rank = static_cast<std::size_t>(it - options.preferred.begin());
  }
}

std::optional<LanguageGraph::Node> LanguageGraph::find(std::string_view name) const {
  const std::optional<Language> wanted = find_language(name);
  std::optional<Node> found;
  for (Node i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].name == name) return i;
    if (!found && wanted && nodes_[i].language && same_language(*wanted, *nodes_[i].language)) found = i;
  }
  return found;
}

LanguageGraph::Node LanguageGraph::node_of(const std::string& name) {
  if (const auto known = find(name)) return *known;
  nodes_.push_back({name, find_language(name)});
  return nodes_.size() - 1;
}

// The number of models from each language to the target.
std::vector<std::int64_t> LanguageGraph::distances_to(Node target) const {
  std::vector<std::int64_t> distance(nodes_.size(), unreachable);
  distance[target] = 0;
  for (std::int64_t models = 1; models <= most_models_; ++models)
    for (const Edges& edges : models_) {
      const bool leads = std::any_of(edges.targets.begin(), edges.targets.end(),
                                     [&](const Place& p) { return distance[p.node] == models - 1; });
      if (!leads) continue;
      for (const Place& p : edges.sources) distance[p.node] = std::min(distance[p.node], models);
    }
  return distance;
}

std::vector<Hop> LanguageGraph::path(std::string_view source, std::string_view target) const {
  const auto from = find(source), to = find(target);
  if (!from || !to || *from == *to) return {};
  const std::vector<std::int64_t> distance = distances_to(*to);
  if (distance[*from] > most_models_) return {};
  std::vector<Hop> path;
  for (Node at = *from; at != *to;) {
    std::optional<std::tuple<std::size_t, std::size_t, Node>> best;  // rank, model, next language
    for (std::size_t m = 0; m < models_.size(); ++m) {
      if (!name_at(models_[m].sources, at)) continue;
      for (const Place& next : models_[m].targets)
        if (distance[next.node] == distance[at] - 1)
          best = std::min(best.value_or(std::tuple{nodes_[next.node].rank, m, next.node}),
                          std::tuple{nodes_[next.node].rank, m, next.node});
    }
    const auto& [rank, model, next] = *best;
    path.push_back(
        {models_[model].model, *name_at(models_[model].sources, at), *name_at(models_[model].targets, next)});
    at = next;
  }
  return path;
}

std::vector<std::string> LanguageGraph::targets_of(std::string_view source) const {
  const auto from = find(source);
  if (!from) return {};
  std::vector<bool> reached(nodes_.size(), false);
  std::vector<std::string> targets;
  std::vector<Node> last{*from};
  for (std::int64_t models = 1; models <= most_models_ && !last.empty(); ++models) {
    std::vector<Node> next;
    for (const Edges& edges : models_) {
      if (std::none_of(last.begin(), last.end(), [&](Node at) { return name_at(edges.sources, at); })) continue;
      for (const Place& p : edges.targets) {
        // A path back to where it began is no translation.
        if (reached[p.node] || (models > 1 && p.node == *from)) continue;
        reached[p.node] = true;
        next.push_back(p.node);
        targets.push_back(p.name);
      }
    }
    last = std::move(next);
  }
  return targets;
}

}  // namespace tril::serve
