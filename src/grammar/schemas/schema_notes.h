// The parts of a schema that its grammar does not follow, reported to the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tril::search {

struct SchemaNotes {
  /// Keywords and formats that no draft defines, each once, with the known keyword that was probably meant; they are
  /// annotations.
  std::vector<std::string> passed_over;
  /// Parts that are never written since they need something unsupported: their place and the reason.
  std::vector<std::string> left_out;

  bool empty() const { return passed_over.empty() && left_out.empty(); }
  /// All of it in one line; "" if nothing.
  std::string text() const;

  /// Each is added once.
  void pass_over(std::string_view word, const std::string& meant);
  void leave_out(const std::string& place, const std::string& why);
};

}  // namespace tril::search
