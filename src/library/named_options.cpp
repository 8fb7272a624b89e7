#include "library/named_options.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace tril {

namespace v0 {

OptionValue::OptionValue(bool value) : texts_{value ? "true" : "false"} {}
OptionValue::OptionValue(double value) : texts_{fmt::format("{}", value)} {}
OptionValue::OptionValue(const char* text) : texts_{text} {}
OptionValue::OptionValue(std::string text) : texts_{std::move(text)} {}
OptionValue::OptionValue(std::vector<std::string> texts) : texts_(std::move(texts)) {}

}  // namespace v0

namespace library {

void set_options(Fields& fields, const v0::Options& options) {
  for (const v0::Option& option : options) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    Field& field = fields.at(name, "options");
    check(!field.given(), name, "is given twice");
    field.set(option.value.texts(), name);
  }
  fields.check_complete();
}

std::vector<v0::OptionInfo> list_of(const Fields& fields) {
  std::vector<v0::OptionInfo> list;
  for (const Field& field : fields)
    list.push_back({field.name(), field.help(), field.expected(), field.default_text(), field.allowed()});
  return list;
}

}  // namespace library
}  // namespace tril
