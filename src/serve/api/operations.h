// What a pass of a model costs, as a bound on requests of the side worker: it serves one at a time, on one core.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/spec/model.h"

namespace tril::serve {

inline constexpr double most_operations = 4e12;  ///< in a request: about a minute

/// A product of a matrix with the stream is 2 operations for each weight and token. Experts that a token leaves out are counted too.
double operations_of(const model::Model& m, std::int64_t tokens);

/// @param advice  what to give instead: "fewer or shorter texts"
/// @param field   of the request; "": none in particular
/// @throws HttpError(413) if the work is above the most that a request may take
void check_operations(double work, double most, std::string_view advice, const std::string& field = {});

}  // namespace tril::serve
