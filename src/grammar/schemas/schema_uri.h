// References between schemas: URIs relative to one another.
#pragma once

#include <string>
#include <string_view>

namespace tril::search {

/// `reference` as seen from `base`, without its fragment [RFC 3986, 5.2].
std::string resolved_uri(std::string_view base, std::string_view reference);
/// What stands behind #, %XX decoded; "" where there is none.
std::string fragment_of(std::string_view reference);

}  // namespace tril::search
