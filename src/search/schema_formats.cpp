#include "search/schema_formats.h"

#include <map>

namespace tril::search {
namespace {

struct Format {
  std::string written, wide;
};

// RFC 3339's forms, and others that validators know; where they are lenient, the strict ones. Years begin at 1, and there are
// neither leap days nor leap seconds.
std::map<std::string, Format, std::less<>> all_formats() {
  const std::string
      days = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))",
      date = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-" + days,
      time = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
      octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])", ipv4 = octet + "(\\." + octet + "){3}",
      label = "[a-z0-9]{1,12}(-[a-z0-9]{1,10}){0,2}", host = label + "(\\." + label + "){0,3}\\.[a-z]{2,10}",
      path = "(/[A-Za-z0-9._~-]{1,30}){1,8}", query = "(\\?[A-Za-z0-9._~=&-]{1,60})?",
      uri = "https?://" + host + "(:[1-9][0-9]{0,3})?(" + path + ")?/?" + query, uri_ref = uri + "|" + path + query,
      email = "[a-z0-9_+-]{1,20}(\\.[a-z0-9_+-]{1,20}){0,3}@" + label + "(\\." + label + "){0,2}\\.[a-z]{2,10}",
      pointer = "(/[A-Za-z0-9_.-]{0,30}){0,8}",
      duration = "P([0-9]{1,3}W|[0-9]{1,3}D(T[0-9]{1,3}H([0-9]{1,2}M([0-9]{1,2}S)?)?)?|T[0-9]{1,3}H([0-9]{1,2}M)?)",
      uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
      wide_date = "[0-9]{4}-[0-9]{2}-[0-9]{2}", any = "[^]*";
  return {{"date", {date, wide_date}},
          {"time", {time, "[0-9]{2}:[0-9]{2}:[0-9]{2}.*"}},
          {"date-time", {date + "T" + time, wide_date + "[Tt].*"}},
          {"duration", {duration, "P[0-9A-Z]+"}},
          {"email", {email, "[^@]+@[^@]+|\"[^]*@[^@]+"}},
          {"idn-email", {email, "[^@]+@[^@]+|\"[^]*@[^@]+"}},
          {"hostname", {host, "[A-Za-z0-9.-]+"}},
          {"host-name", {host, "[A-Za-z0-9.-]+"}},
          {"idn-hostname", {host, any}},
          {"ipv4", {ipv4, ipv4}},
          {"ip-address", {ipv4, ipv4}},
          {"ipv6", {"[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}", "[0-9A-Fa-f:.]+"}},
          {"uri", {uri, "[A-Za-z][A-Za-z0-9+.-]*:[^ ]*"}},
          {"iri", {uri, "[A-Za-z][A-Za-z0-9+.-]*:[^ ]*"}},
          {"uri-reference", {uri_ref, "[^ ]*"}},
          {"iri-reference", {uri_ref, "[^ ]*"}},
          {"uri-template", {uri_ref, any}},
          {"uuid", {uuid, "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"}},
          {"json-pointer", {pointer, "(/[^]*)?"}},
          {"relative-json-pointer", {"(0|[1-9][0-9]{0,2})(#|" + pointer + ")", "[0-9][^]*"}},
          {"regex", {"\\^?[A-Za-z0-9_ -]{0,40}\\$?", any}}};
}

const Format* format_of(std::string_view format) {
  static const auto all = all_formats();
  const auto found = all.find(format);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace

std::string written_format(std::string_view format) {
  const Format* const found = format_of(format);
  return found ? found->written : "";
}

std::string wide_format(std::string_view format) {
  const Format* const found = format_of(format);
  return found ? found->wide : "";
}

}  // namespace tril::search
