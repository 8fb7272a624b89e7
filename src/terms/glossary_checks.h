// What a glossary of a server must be, and which glossaries are the same one.
#pragma once

#include <cstddef>
#include <string>

#include "terms/glossary.h"

namespace tril::terms {

/// The bytes of all phrases.
std::size_t bytes_of(const Glossary& glossary);

/// True if both glossaries have the same pair of languages, whatever form their codes have; and the same name.
bool is_same_pair(const Glossary& a, const Glossary& b);
bool is_same(const Glossary& a, const Glossary& b);

/// @throws Error(usage) at `name` if it is empty, long, or not on one line
void check_name(const std::string& name);
/// check_name() and the languages. @throws Error(usage) at `name`, `source` or `target`
void check_head(const Glossary& glossary);
/// @throws Error(usage) at `entries` if there are none, more than `most`, or if a phrase is empty, long or has a control character
void check_entries(const Glossary& glossary, std::size_t most);

}  // namespace tril::terms
