// Python's two ways to format values into a text: "%s of %d" % (a, b), and "{} of {:,}".format(a, b).
#pragma once

#include "chat/template_arguments.h"

namespace tril::chat {

/// format % values. @param values  a tuple, a mapping of members that the format names, or a single value
Value percent_format(const Value& format, const Value& values, Budget& budget);

/// format.format(arguments)
Value brace_format(const Value& format, const Arguments& arguments, Budget& budget);

}  // namespace tril::chat
