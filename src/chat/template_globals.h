// The functions that every chat template may call: raise_exception, strftime_now, range, namespace, dict, cycler, joiner.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "chat/template_arguments.h"

namespace tril::chat {

/// @param now     what strftime_now() says the time is
/// @param budget  outlives them
std::vector<Callable> functions(std::time_t now, Budget& budget);

/// Sets a member of a namespace, which holds nothing that could hold it.
void set_member(Namespace& ns, const Value& name, const Value& value);

}  // namespace tril::chat
