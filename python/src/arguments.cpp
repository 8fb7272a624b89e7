#include "arguments.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "base/error.h"
#include "errors.h"

namespace tril::python {
namespace {

std::string with(std::string name, char from, char to) {
  for (char& c : name)
    if (c == from) c = to;
  return name;
}

std::string python_name(const std::string& field) {
  return with(field, '-', '_');
}

std::string text_of(nb::handle value, const std::string& name) {
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value) ? "true" : "false";
  if (nb::isinstance<nb::str>(value)) return nb::cast<std::string>(value);
  if (nb::isinstance<nb::int_>(value)) return nb::cast<std::string>(nb::str(value));
  if (nb::isinstance<nb::float_>(value)) return nb::cast<std::string>(nb::repr(value));
  if (nb::hasattr(value, "__fspath__")) {
    const nb::module_ os = nb::module_::import_("os");
    const nb::object bytes = os.attr("fsencode")(value);
    return std::string(nb::cast<nb::bytes>(bytes).c_str(), nb::cast<nb::bytes>(bytes).size());
  }
  if (nb::hasattr(value, "__index__")) return nb::cast<std::string>(nb::str(nb::int_(nb::borrow(value))));
  if (nb::hasattr(value, "__float__")) return nb::cast<std::string>(nb::repr(nb::float_(nb::borrow(value))));
  throw nb::type_error(fmt::format("{}: expected a number, a text, a path, or a list of these, got {}", name,
                                   nb::cast<std::string>(nb::repr(value.type())))
                           .c_str());
}

std::string kind_of(const Field& field) {
  if (field.is_flag()) return "boolean";
  if (field.names_files()) return "path";
  if (!field.holds_numbers()) return "text";
  return field.expected().starts_with("an integer") ? "integer" : "number";
}

}  // namespace

Arguments arguments_of(const nb::dict& given) {
  Arguments arguments;
  for (const auto [key, value] : given) {
    if (value.is_none()) continue;
    const std::string name = nb::cast<std::string>(key);
    std::vector<std::string> texts;
    if (nb::isinstance<nb::dict>(value)) {
      for (const auto [inner, of_inner] : nb::borrow<nb::dict>(value))
        texts.push_back(text_of(inner, name) + "=" + text_of(of_inner, name));
    } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value)) {
      for (const nb::handle one : value) texts.push_back(text_of(one, name));
    } else {
      texts.push_back(text_of(value, name));
    }
    arguments.emplace_back(name, std::move(texts));
  }
  return arguments;
}

void set(Fields& fields, const Arguments& arguments) {
  for (const auto& argument : arguments) {
    const std::string& name = argument.first;
    const Field* const found = name.find('-') == name.npos ? fields.find(with(name, '_', '-')) : nullptr;
    if (!found) {
      std::vector<std::string> known;
      for (const std::string& field : fields.names()) known.push_back(python_name(field));
      fail_usage(name, "is not an argument here", did_you_mean(name, known));
    }
    with_python_words(fields, [&] {
      Field& field = fields.at(found->name(), name);
      field.set(argument.second, name);
    });
  }
}

std::string key_of(const Arguments& arguments) {
  std::string key;
  for (const auto& [name, texts] : arguments) {
    key += fmt::format("{}:{}", name, texts.size());
    for (const std::string& text : texts) key += fmt::format(" {}:{}", text.size(), text);
    key += '\n';
  }
  return key;
}

nb::list described(const Fields& fields) {
  nb::list list;
  for (const Field& field : fields) {
    nb::dict d;
    d["name"] = python_name(field.name());
    d["kind"] = kind_of(field);
    d["list"] = field.is_list();
    d["help"] = in_python_words(field.help(), &fields);
    d["group"] = field.group();
    d["default"] = field.default_text();
    nb::list choices;
    for (const std::string& choice : field.allowed()) choices.append(choice);
    d["choices"] = choices;
    d["range"] = field.range();
    list.append(d);
  }
  return list;
}

}  // namespace tril::python
