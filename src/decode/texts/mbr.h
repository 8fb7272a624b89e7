// Minimum-Bayes-risk decoding [Eikema & Aziz 2022]: chooses the sample that is most similar to all samples. If the samples
// represent the model's distribution, it has the highest expected utility:
//   choose i with the highest  u_i = 1/(N - 1) sum over j != i of chrF(sample i, sample j)
// A repeated sample counts as often as it occurs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tril::search {

/// u_i of each text, 0 to 100; a single text has 100.
std::vector<double> expected_utilities(const std::vector<std::string>& samples);

/// The indices of the samples, best first (ties: the earlier one first). Of equal texts only the first is listed.
std::vector<std::size_t> by_utility(const std::vector<std::string>& samples, const std::vector<double>& utilities);

}  // namespace tril::search
