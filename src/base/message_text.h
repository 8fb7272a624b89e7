// Makes messages fit for a terminal and for a log file.
#pragma once

#include <string>
#include <string_view>

namespace tril {

/// A whole message: line breaks and tabs stay; everything else that printable() escapes is escaped. So a name that
/// is not text neither garbles a terminal nor makes a log unreadable.
std::string message_text(std::string_view text);

}  // namespace tril
