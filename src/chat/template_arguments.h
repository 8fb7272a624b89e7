// What a call in a chat template is given, by place and by name, and what it may cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chat/template_value.h"

namespace tril::chat {

/// @throws Error; ChatTemplate::render() says where
[[noreturn]] void refuse(const std::string& what, const std::string& hint = {});

inline constexpr std::size_t longest_text = 16 << 20;  ///< bytes of a text that a template makes

/// How much a template may do, in units of some nanoseconds. Whatever takes time pays, before it begins, so that a
/// hostile template ends within a second; four thousand messages with two hundred tools are within it.
class Budget {
 public:
  /// @throws Error where it is used up
  void pay(std::size_t work);
  void pay_text(std::size_t bytes) { pay(1 + bytes / 8); }  ///< copied or looked through
  /// A value that is written or compared.
  void pay_whole(const Value& value) {
    const auto* text = value.get<std::string>();
    return text ? pay_text(text->size()) : pay(8 * value.weight());
  }

 private:
  std::size_t left_ = 100'000'000;
};

/// The value of the argument at `index`, or of this name, or nullptr.
const Value* argument(const Arguments& arguments, std::size_t index, std::string_view name);
/// The same where it must be there. @throws Error where it is not
const Value& needed(const Arguments& arguments, std::size_t index, std::string_view name, std::string_view whose);
/// @param names  those that `whose` takes, with blanks between; those in front of a "/" go by place alone
/// @throws Error for more than those, for others, and for one that is given twice
void check_arguments(const Arguments& arguments, std::string_view names, std::string_view whose);

/// A value as a string. @throws Error naming `whose` it is where it is none
const std::string& text_of(const Value& value, std::string_view whose);

// An argument, or `otherwise` where it is left out or none.
std::string text_argument(const Arguments& a, std::size_t index, std::string_view name, std::string_view otherwise);
std::int64_t whole_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise);
/// The same without a none in its place.
std::int64_t number_argument(const Arguments& a, std::size_t index, std::string_view name, std::int64_t otherwise);
bool flag_argument(const Arguments& a, std::size_t index, std::string_view name, bool otherwise);

/// What {{ value }} prints.
std::string printed(const Value& value, Budget& budget);

}  // namespace tril::chat
