// Puts together pickles by hand, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tril::testing {

class PickleText {
 public:
  PickleText& raw(std::string_view opcodes) {
    text_ += opcodes;
    return *this;
  }
  PickleText& text(std::string_view value) {
    text_ += 'X';
    const auto length = static_cast<std::uint32_t>(value.size());
    append(&length, sizeof length);
    text_ += value;
    return *this;
  }
  PickleText& integer(std::int64_t value) {
    text_ += "\x8a\x08";
    append(&value, sizeof value);
    return *this;
  }
  PickleText& integers(const std::vector<std::int64_t>& values) {  // a tuple
    text_ += '(';
    for (const std::int64_t value : values) integer(value);
    text_ += 't';
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void append(const void* bytes, std::size_t count) { text_.append(static_cast<const char*>(bytes), count); }

  std::string text_ = "\x80\x02";
};

}  // namespace tril::testing
