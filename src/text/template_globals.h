// The functions that every chat template may call: raise_exception, strftime_now, range, namespace, dict.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "text/template_arguments.h"

namespace tril::chat {

/// @param now     what strftime_now() says the time is
/// @param budget  outlives them
std::vector<Callable> functions(std::time_t now, Budget& budget);

/// Sets a member of a namespace or a mapping, which holds nothing that could hold it.
void put(Dict& dict, const std::string& name, const Value& value);

}  // namespace tril::chat
