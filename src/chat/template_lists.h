// Filters of lists and mappings, with their arguments as they come.
#pragma once

#include "chat/template_arguments.h"

namespace tril::chat {

Value sorted(const Value& value, const Arguments& a, Budget& budget);  ///< sort(reverse, case_sensitive, attribute)
Value unique(const Value& value, const Arguments& a, Budget& budget);  ///< unique(case_sensitive, attribute)
/// select, reject, selectattr, rejectattr: those for which a test holds, or which are true. What is false has none.
Value chosen(const Value& value, const Arguments& a, std::string_view filter, Budget& budget);
/// map: another filter of each, or what each has under a name. What is false gives nothing.
Value mapped(const Value& value, const Arguments& a, Budget& budget);
/// What each has under a name ("function.name"), or at a place.
List attributes_of(const List& list, const Value& name, Budget& budget);
/// A mapping's keys with their values.
List pairs_of(const Dict& dict);
Value dict_sorted(const Value& value, const Arguments& a, Budget& budget);  ///< dictsort(case_sensitive, by, reverse)
Value items_of(const Value& value, Budget& budget);
/// The least or the greatest: min(case_sensitive, attribute)
Value extreme(const Value& value, const Arguments& a, bool smallest, Budget& budget);
Value length_value(const Value& value);
Value reversed(const Value& value, Budget& budget);
/// Lists of so many each: batch(linecount, fill_with)
Value batches(const Value& value, const Arguments& a, Budget& budget);
/// So many lists: slice(slices, fill_with)
Value slices(const Value& value, const Arguments& a, Budget& budget);
/// Pairs of a key and those that have it: groupby(attribute, default, case_sensitive)
Value groups(const Value& value, const Arguments& a, Budget& budget);

}  // namespace tril::chat
