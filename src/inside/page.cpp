#include "inside/page.h"

#include <array>

#include "format/page_parts.h"

namespace tril::inside {
namespace {

constexpr std::array script{
    "strings.js",         "dom.js",     "data.js",         "operations.js",     "steps.js",          "matrix.js",
    "explain.js",         "value.js",   "changes.js",      "sampling.js",       "tree.js",           "search.js",
    "attention_kinds.js", "kinds.js",   "learning_ops.js", "learning_tasks.js", "learning_model.js", "learning.js",
    "learning_view.js",   "picture.js", "views.js",        "address.js",        "start.js"};

}  // namespace

std::string page(const std::string& data, std::string_view nonce) {
  std::string text(inside_part("inside.html"));
  put_part(text, "%NONCE%", nonce);
  put_part(text, "%STYLE%", inside_part("inside.css"));
  put_part(text, "%SCRIPT%", joined_script(script, &inside_part));
  put_data(text, "%DATA%", data);
  return text;
}

}  // namespace tril::inside
