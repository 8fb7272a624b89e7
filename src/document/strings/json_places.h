// The places of the values in a JSON text, so that one can be replaced or added without a change of other bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/segments/segment.h"

namespace tril::document {

/// A value. Values within arrays are not listed.
struct JsonPlace {
  Range at;
  bool is_object = false;
  std::vector<JsonPlace> members = {};  ///< of an object, in the order of the text
  std::string key = {};                 ///< of a member
  Range key_at = {};                    ///< with its quotes

  /// The member of this key; null if there is none.
  const JsonPlace* find(std::string_view member) const;
};

/// @param json  valid, as parse_json() (format/json_file.h) checks; a byte order mark may come first
JsonPlace json_places(std::string_view json);

/// The text of a string; "" for any other value. @param value  null: there is none
std::string string_at(std::string_view json, const JsonPlace* value);

}  // namespace tril::document
