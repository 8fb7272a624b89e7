// Filters of lists and mappings, with their arguments as they come.
#pragma once

#include "text/template_arguments.h"

namespace tril::chat {

List sorted(const List& list, const Arguments& a, Budget& budget);  ///< sort(reverse, case_sensitive, attribute)
List unique(const List& list, const Arguments& a, Budget& budget);  ///< unique(case_sensitive, attribute)
/// select, reject, selectattr, rejectattr
List chosen(const List& list, const Arguments& a, bool by_attribute, bool wanted, Budget& budget);
List mapped(const List& list, const Arguments& a, Budget& budget);
/// What each has under a name ("function.name"), or at a place.
List attributes_of(const List& list, const Value& name, Budget& budget);
/// A mapping's keys with their values.
List pairs_of(const Dict& dict);
List dict_sorted(const Dict& dict, const Arguments& a, Budget& budget);  ///< dictsort(case_sensitive, by, reverse)
/// The least or the greatest: min(case_sensitive, attribute)
Value extreme(const List& list, const Arguments& a, bool smallest, Budget& budget);
Value length_value(const Value& value);
Value reversed(const Value& value, Budget& budget);

}  // namespace tril::chat
