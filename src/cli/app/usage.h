// The parts that help, the Markdown reference and the manual pages share: usage lines, flags, meanings, headings.
#pragma once

#include <string>

#include "cli/app/app.h"

namespace tril::cli {

/// "tril eval --reference FILE [options]".
std::string usage_of(const Command& command);
/// "-i, --input FILE", "--train-sets FILE...", "--[no-]tie".
std::string flag_text(const Field& field);
/// "hypotheses kept (at least 1)". @param fields  those that its help may mention
std::string meaning_of(const Field& field, const Fields& fields);
/// The same with its default: "hypotheses kept (at least 1; default 6)".
std::string described(const Field& field, const Fields& fields);
/// The text with its first letter as a capital, if that is an ASCII letter.
std::string capitalised(std::string text);

/// Calls heading(group) at the start of each group and option(field) for each field.
template <class Heading, class Option>
void each_option(const Fields& fields, Heading heading, Option option) {
  std::string group;
  for (const Field& field : fields) {
    if (field.group() != group) heading(group = field.group());
    option(field);
  }
}

}  // namespace tril::cli
