// When a request is served, and for how long: the fields that translations and completions share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/fields.h"
#include "serve/engine/work.h"

namespace tril::serve {

/// Limits of times that requests and the server's operator set, in seconds.
inline constexpr Range served_seconds{0, 1e6, Range::Least::excluded};

struct Schedule {
  std::int64_t priority = 0;
  std::optional<double> time_limit;  ///< seconds; unset: the server's limit
};

/// "priority" and "time_limit". @param at_limit  what the response is after the time limit, for the help
void add_schedule_fields(Fields& f, Schedule& schedule, const std::string& at_limit);

/// @throws HttpError (403) if the priority is only for administrators
void check_priority(const Schedule& schedule, bool is_admin);

/// Sets the priority and the deadline of a sentence or prompt that is submitted now.
void set_schedule(const Schedule& schedule, Work& work);

}  // namespace tril::serve
