#include "tokenizer/models/unigram_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "format/sentencepiece_file.h"

namespace tril {

namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == nothing ? a : a + std::log1p(std::exp(b - a));
}

// The lattice of one word; its places are those between characters.
class Lattice {
 public:
  Lattice(const SubwordPieces& model, double alpha) : model_(model), alpha_(alpha) {}

  void sample(std::string_view word, RandomSequence& random, std::vector<std::string_view>& pieces) {
    places_.assign(1, 0);
    for (std::size_t at = 0; at < word.size(); places_.push_back(at)) {
      const std::size_t frozen = model_.frozen_prefix(word.substr(at));
      at += frozen > 0 ? frozen : character_length(word.substr(at));
    }
    arcs_.clear();
    first_arc_.assign(1, 0);
    forward_.assign(1, 0.0);
    for (std::size_t end = 1; end < places_.size(); ++end) arrive(word, end);
    const std::size_t first = pieces.size();
    for (std::size_t end = places_.size() - 1; end > 0;) {
      const std::size_t start = draw(end, random);
      pieces.push_back(word.substr(places_[start], places_[end] - places_[start]));
      end = start;
    }
    std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(first), pieces.end());
  }

 private:
  struct Arc {
    std::size_t start;
    double log_weight;  ///< a(start) + alpha log p
  };

  // Adds the pieces that end at a place.
  void arrive(std::string_view word, std::size_t end) {
    double sum = nothing;
    const auto add = [&](std::size_t start, double log_p) {
      arcs_.push_back({start, forward_[start] + alpha_ * log_p});
      sum = log_add(sum, arcs_.back().log_weight);
    };
    for (std::size_t start = end; start-- > 0;) {
      const std::size_t size = places_[end] - places_[start];
      if (start + 1 < end && size > model_.longest()) break;
      const auto* piece = model_.find(word.substr(places_[start], size));
      if (piece)
        add(start, static_cast<double>(piece->score));
      else if (start + 1 == end)
        add(start, static_cast<double>(model_.lowest_score()) - unknown_penalty);
      if (frozen(word, end - 1) || (start > 0 && frozen(word, start - 1))) break;  // no piece overlaps it
    }
    forward_.push_back(sum);
    first_arc_.push_back(arcs_.size());
  }

  // Whether a user-defined piece spans this place and the next.
  bool frozen(std::string_view word, std::size_t place) const {
    return model_.frozen_prefix(word.substr(places_[place])) > 0;
  }

  std::size_t draw(std::size_t end, RandomSequence& random) const {
    const std::size_t begin = first_arc_[end - 1], stop = first_arc_[end];
    double left = random.uniform();
    for (std::size_t i = begin; i + 1 < stop; ++i)
      if ((left -= std::exp(arcs_[i].log_weight - forward_[end])) < 0) return arcs_[i].start;
    return arcs_[stop - 1].start;
  }

  const SubwordPieces& model_;
  double alpha_;
  std::vector<std::size_t> places_;     ///< bytes
  std::vector<double> forward_;         ///< a, by place
  std::vector<Arc> arcs_;               ///< by the place where they end
  std::vector<std::size_t> first_arc_;  ///< arcs that end at place e are [first_arc_[e - 1], first_arc_[e])
};

}  // namespace

void sample_unigrams(const SubwordPieces& model, std::string_view text, double alpha, RandomSequence& random,
                     std::vector<std::string_view>& pieces) {
  Lattice lattice(model, alpha);
  while (!text.empty()) {
    const std::size_t end = model.word_end(text);
    lattice.sample(text.substr(0, end), random, pieces);
    text.remove_prefix(end);
  }
}

}  // namespace tril
