// Minimum-Bayes-risk decoding [Eikema & Aziz 2022]: of a number of samples the one that is most like all of them, which
// is the translation of the highest expected utility where samples represent what the model believes,
//   choose i with the highest  u_i = 1/(N - 1) sum over j != i of chrF(sample i, sample j)
// A sample that came twice counts twice.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tril::search {

/// u_i of each text, 0 to 100; 100 for one alone.
std::vector<double> expected_utilities(const std::vector<std::string>& samples);

/// The numbers of the samples, the best first (of equals the one that came first); of equal texts the first alone.
std::vector<std::size_t> by_utility(const std::vector<std::string>& samples, const std::vector<double>& utilities);

}  // namespace tril::search
