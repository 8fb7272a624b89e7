// References between schemas: URIs relative to one another.
#pragma once

#include <string>
#include <string_view>

namespace tril::search {

/// `reference` resolved against `base`, without its fragment [RFC 3986, 5.2].
std::string resolved_uri(std::string_view base, std::string_view reference);
/// The part after #, with %XX decoded; "" if none.
std::string fragment_of(std::string_view reference);

}  // namespace tril::search
