// The positional and named arguments of a call in a chat template, and the budget that the call draws on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chat/template_value.h"

namespace tril::chat {

/// @throws Error; ChatTemplate::render() adds the line
[[noreturn]] void refuse(const std::string& what, const std::string& hint = {});

inline constexpr std::size_t longest_text = 16 << 20;  ///< bytes of a text that a template builds

/// The work that a template may do, in units of some nanoseconds. Each operation pays before it starts.
class Budget {
 public:
  explicit Budget(std::size_t work) : left_(work) {}
  /// @throws Error when it is used up
  void pay(std::size_t work);
  void pay_text(std::size_t bytes) { pay(1 + bytes / 8); }  ///< copied or searched
  /// A value that is written or compared as a whole.
  void pay_whole(const Value& value) {
    const auto* text = value.get<std::string>();
    return text ? pay_text(text->size()) : pay(8 * value.weight());
  }

 private:
  std::size_t left_;
};

/// The argument at `index` or with this name, or nullptr.
const Value* argument(const Arguments& arguments, std::size_t index, std::string_view name);
/// A required argument. @throws Error if it is missing
const Value& needed(const Arguments& arguments, std::size_t index, std::string_view name, std::string_view whose);
/// The elements of a list from the n-th on; none if the list is shorter.
List rest_of(const List& list, std::size_t n);
/// @param names  the parameters of `whose`, separated by blanks; those before a "/" are positional only
/// @throws Error for too many, unknown or repeated arguments
void check_arguments(const Arguments& arguments, std::string_view names, std::string_view whose);

/// A value as a string. @throws Error naming `whose` if it is not a string
const std::string& text_of(const Value& value, std::string_view whose);

// An argument, or `otherwise` if it is missing or None.
std::string text_argument(const Arguments& a, std::size_t index, std::string_view name, std::string_view otherwise);
std::int64_t whole_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise);
/// An argument, or `otherwise` if it is missing; None is an error.
std::int64_t number_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise);
bool flag_argument(const Arguments& a, std::size_t index, std::string_view name, bool otherwise);

/// The text that {{ value }} prints.
std::string printed(const Value& value, Budget& budget);

}  // namespace tril::chat
