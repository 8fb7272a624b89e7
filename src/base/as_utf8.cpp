#include "base/as_utf8.h"

#include "base/utf8.h"

namespace tril {

std::string as_utf8(std::string_view text) {
  std::string out;
  for (auto fault = find_utf8_fault(text); fault; fault = find_utf8_fault(text)) {
    out.append(text.substr(0, fault->offset)).append("\xef\xbf\xbd");
    text.remove_prefix(fault->offset + 1);
  }
  return out.append(text);
}

}  // namespace tril
