// A server for a class: it only shows how its models compute, on the page /inside, to many at once. It changes nothing, neither models nor
// files, and bounds each request so that pupils wait seconds for each other.
#pragma once

#include <string_view>

#include "serve/api/service.h"

namespace tril::serve {

/// Whether a server for a class has this route: those of the page, and of the server's status.
bool is_for_classroom(std::string_view path);

/// The options with smaller bounds on work, texts and bodies. Those that are smaller already stay.
ServiceOptions for_classroom(ServiceOptions options);

/// Requests of a class that may wait beside those that run: several of each pupil, also where all have the address of a school's proxy,
/// since a client may have half of them.
inline constexpr std::int64_t classroom_waiting = 1024;

}  // namespace tril::serve
