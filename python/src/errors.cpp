#include "errors.h"

#include <cctype>
#include <cstddef>

namespace tril::python {
namespace {

constexpr const char* about_errors =
    "Something that tril cannot do, and why.\n\n"
    "Attributes\n"
    "----------\n"
    "kind : str\n"
    "    \"usage\": the call is wrong. \"failure\": a file or the system is at fault.\n"
    "where : str\n"
    "    The argument, file, line or tensor that is wrong; may be empty.\n"
    "message : str\n"
    "    What was expected, and what was found.\n"
    "hint : str\n"
    "    What to try; may be empty.";

void raise(PyObject* error_class, const Error& given) {
  const Error e = in_python_words(given, nullptr);
  try {
    const nb::object error = nb::borrow(error_class)(e.what());
    error.attr("kind") = e.kind() == ErrorKind::usage ? "usage" : "failure";
    error.attr("where") = e.where();
    error.attr("message") = e.message();
    error.attr("hint") = e.hint();
    PyErr_SetObject(error_class, error.ptr());
  } catch (nb::python_error& other) {
    other.restore();
  }
}

bool is_name(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 ||
         c == '-';
}

// The number at the beginning of a text: "8", "0.5".
std::string leading_number(const std::string& text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
  while (end > begin && text[end - 1] == '.') --end;
  return text.substr(begin, end - begin);
}

// The argument of an option, and its value if a number follows: "beam_size=8". Moves `at` behind both.
std::string argument(const std::string& name, const std::string& text, std::size_t& at) {
  std::string out = name;
  for (char& c : out)
    if (c == '-') c = '_';
  if (at < text.size() && text[at] == ' ')
    if (const std::string number = leading_number(text, at + 1); !number.empty()) {
      at += 1 + number.size();
      out += "=" + number;
    }
  return out;
}

const Field* field_of_letter(const Fields* fields, char letter) {
  if (fields)
    for (const Field& field : *fields)
      if (field.short_name() == letter) return &field;
  return nullptr;
}

}  // namespace

std::string in_python_words(const std::string& text, const Fields* fields) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == '"';
    if (begins && text.compare(at, 2, "--") == 0 && at + 2 < text.size() && is_name(text[at + 2]) &&
        text[at + 2] != '-') {
      std::size_t end = at + 2;
      while (end < text.size() && is_name(text[end])) ++end;
      const std::string name = text.substr(at + 2, end - at - 2);
      at = end;
      out += argument(name, text, at);
      continue;
    }
    if (begins && text[at] == '-' && at + 2 < text.size() && text[at + 2] == ' ')
      if (const Field* const field = field_of_letter(fields, text[at + 1])) {
        at += 2;
        out += argument(field->name(), text, at);
        continue;
      }
    out += text[at++];
  }
  return out;
}

Error in_python_words(const Error& e, const Fields* fields) {
  std::string where = in_python_words(e.where(), fields);
  if (fields && fields->find(where))
    for (char& c : where)
      if (c == '-') c = '_';
  return Error(e.kind(), where, in_python_words(e.message(), fields), in_python_words(e.hint(), fields));
}

void bind_errors(nb::module_& m) {
  PyObject* const error_class = PyErr_NewExceptionWithDoc("tril.Error", about_errors, PyExc_Exception, nullptr);
  if (!error_class) throw nb::python_error();
  m.attr("Error") = nb::borrow(error_class);
  nb::register_exception_translator(
      [](const std::exception_ptr& p, void* given_class) {
        try {
          std::rethrow_exception(p);
        } catch (const Error& e) {
          raise(static_cast<PyObject*>(given_class), e);
        }
      },
      error_class);  // which lives as long as the interpreter
}

}  // namespace tril::python
