// Filters of lists and mappings, with their raw arguments.
#pragma once

#include "chat/template_arguments.h"

namespace tril::chat {

Value sorted(const Value& value, const Arguments& a, Budget& budget);  ///< sort(reverse, case_sensitive, attribute)
Value unique(const Value& value, const Arguments& a, Budget& budget);  ///< unique(case_sensitive, attribute)
/// select, reject, selectattr, rejectattr: the elements that pass a test, or are true. A false input has no elements.
Value chosen(const Value& value, const Arguments& a, std::string_view filter, Budget& budget);
/// map: applies a filter to each element, or gets an attribute of each. A false input has no elements.
Value mapped(const Value& value, const Arguments& a, Budget& budget);
/// An attribute ("function.name") or index of each element.
List attributes_of(const List& list, const Value& name, Budget& budget);
/// The (key, value) pairs of a mapping.
List pairs_of(const Dict& dict);
Value dict_sorted(const Value& value, const Arguments& a, Budget& budget);  ///< dictsort(case_sensitive, by, reverse)
Value items_of(const Value& value, Budget& budget);
/// The least or the greatest element: min(case_sensitive, attribute)
Value extreme(const Value& value, const Arguments& a, bool smallest, Budget& budget);
Value length_value(const Value& value);
Value reversed(const Value& value, Budget& budget);
/// Lists of a given length: batch(linecount, fill_with)
Value batches(const Value& value, const Arguments& a, Budget& budget);
/// A given number of lists: slice(slices, fill_with)
Value slices(const Value& value, const Arguments& a, Budget& budget);
/// Pairs of a key and the elements that have it: groupby(attribute, default, case_sensitive)
Value groups(const Value& value, const Arguments& a, Budget& budget);

}  // namespace tril::chat
