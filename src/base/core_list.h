// Lists of cores as the system and `taskset` write them: "0-3,8".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

/// The numbers, in the order of the text; nothing if it is no such list, names one twice, or one from 65,536 on.
std::optional<std::vector<int>> read_core_list(std::string_view text);
/// The same list as text. Neighbours are joined: {0, 1, 2, 8} is "0-2,8".
std::string core_list_text(const std::vector<int>& cores);

}  // namespace tril
