// The global functions of chat templates: raise_exception, strftime_now, range, namespace, dict, cycler, joiner.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "chat/template_arguments.h"

namespace tril::chat {

/// @param now     the time that strftime_now() returns
/// @param budget  must outlive the functions
std::vector<Callable> functions(std::time_t now, Budget& budget);

/// Sets a member of a namespace. Namespaces hold no value that could refer to them.
void set_member(Namespace& ns, const Value& name, const Value& value);

}  // namespace tril::chat
