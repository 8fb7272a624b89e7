// What is about to be said, fit for a terminal and for a log file.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// The whole of a message: its lines and tabs stay, all else that printable() escapes is escaped, so that a name in it that is
/// no text neither garbles a terminal nor makes a log unreadable.
std::string message_text(std::string_view text);

}  // namespace tril
