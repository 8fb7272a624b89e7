// Which words of parallel text translate each other, learned from the text alone: IBM's model 2 with a prior that favours
// the diagonal [Dyer et al. 2013, "A simple, fast, and effective reparameterization of IBM Model 2"].
//
// Every target word t_j of m is made from one source word s_i of n, or from none (NULL):
//   p(a_j = i) = (1 - p0) exp(lambda h(i, j)) / sum over i' of exp(lambda h(i', j)),    h(i, j) = -|i/n - j/m|,
//   p(a_j = NULL) = p0,    p(t_j | a_j) = theta(t_j | s of a_j)
// EM, from theta that are all the same, in which theta(t | s) = exp(psi(c(t, s) + alpha)) / exp(psi(sum over t' of c(t', s) + alpha)) keeps rare words from
// taking whatever is left over (variational Bayes), and lambda is the one whose mean h is, over all target words, that of
// the alignments.
//
// Both directions are learned and joined, as phrase tables have it [Och and Ney 2003; Koehn et al. 2005].
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corpus/alignment.h"

namespace tril {

/// What becomes of an alignment of each direction.
enum class Symmetrization : std::uint8_t {
  grow_diag_final_and,  ///< grow_diag, then pairs of the union whose words are both without one
  grow_diag,            ///< the intersection, and what touches it in the union and gives a word its first pair
  intersection,
  all,      ///< the union
  forward,  ///< a source word for each target word
  backward  ///< a target word for each source word
};

struct WordAlignerOptions {
  int iterations = 5;   ///< of EM
  double null = 0.08;   ///< p0
  double tension = 4;   ///< lambda to begin with
  double alpha = 0.01;  ///< of the prior of theta
  Symmetrization symmetrization = Symmetrization::grow_diag_final_and;
};

/// The words of parallel text as ids. They are the same whatever their case and the punctuation at their ends, unless they
/// are nothing else. A pair counts as empty where either side is, or has more than most_words: time and memory go by the
/// product of their lengths.
class ParallelWords {
 public:
  using Row = std::span<const std::int32_t>;
  static constexpr std::size_t most_words = 1000;

  /// A pair whose words stand between spaces. Returns whether neither side has more than most_words.
  bool add(std::string_view source, std::string_view target);
  /// A pair of words. Likewise.
  bool add(std::span<const std::string> source, std::span<const std::string> target);

  std::size_t pairs() const { return ends_[0].size(); }
  Row source(std::size_t pair) const { return row(0, pair); }
  Row target(std::size_t pair) const { return row(1, pair); }
  std::size_t source_words() const { return ids_[0].size(); }  ///< different ones
  std::size_t target_words() const { return ids_[1].size(); }

 private:
  template <class Words>
  bool add_words(const Words& source, const Words& target);
  Row row(std::size_t side, std::size_t pair) const;

  std::unordered_map<std::string, std::int32_t> ids_[2];
  std::vector<std::int32_t> words_[2];
  std::vector<std::size_t> ends_[2];
};

/// The alignment of each pair, in order. Takes two threads.
/// @param on_iteration  is called after each iteration of either direction, by two threads at once; what it throws ends both
std::vector<Alignment> align_words(const ParallelWords& text, const WordAlignerOptions& options,
                                   const std::function<void()>& on_iteration = {});

/// @param forward, backward  pairs of source and target words, of either direction
Alignment symmetrized(const Alignment& forward, const Alignment& backward, Symmetrization how);

}  // namespace tril
