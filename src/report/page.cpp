#include "report/page.h"

#include "format/page_parts.h"

namespace tril::train {

std::string assembled_page(std::string_view html, std::initializer_list<const char*> styles,
                           std::initializer_list<const char*> scripts, const std::string& data) {
  std::string page(page_part(html)), style, script;
  for (const char* name : styles) style += page_part(name);
  for (const char* name : scripts) script += page_part(name);
  put_part(page, "/* style */", style);
  put_part(page, "/* script */", script);
  put_data(page, "/* data */", data);
  return page;
}

}  // namespace tril::train
