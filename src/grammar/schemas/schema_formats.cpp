#include "grammar/schemas/schema_formats.h"

#include <map>

#include "base/error.h"
#include "grammar/expressions/regex_tree.h"

namespace tril::search {
namespace {

struct Format {
  std::string written, accepted, wide;
};

constexpr std::size_t longest_local = 64, longest_domain = 255, longest_host = 253, longest_label = 63;

// --- what the RFCs allow, as far as validators agree ---

const std::string hex = "[0-9A-Fa-f]", percent = "%" + hex + "{2}";
const std::string octet = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])", ipv4 = octet + "(\\." + octet + "){3}";
// Non-ASCII letters in URIs [RFC 3987, 2.2]; validators differ on those beyond U+FFFF.
const std::string other_letters = "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef";

// RFC 3339, 5.6. Years start at 1 and leap seconds are left out: validators differ on them.
std::string accepted_date() {
  const std::string
      leap = "(0[48]|[2468][048]|[13579][26])",
      days = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))";
  return "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-" + days + "|([0-9]{2}" + leap + "|" + leap +
         "00)-02-29";
}

const std::string accepted_time =
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";

// RFC 3339, appendix A.
std::string accepted_duration() {
  const std::string minutes = "[0-9]+M([0-9]+S)?", time = "T([0-9]+H(" + minutes + ")?|" + minutes + "|[0-9]+S)",
                    months = "[0-9]+M([0-9]+D)?";
  return "P(([0-9]+D|" + months + "|[0-9]+Y(" + months + ")?)(" + time + ")?|" + time + "|[0-9]+W)";
}

// RFC 1123, 2.1; "--" at the third place is reserved for encoded names [RFC 5891, 4.2.3.1].
std::string accepted_host() {
  const std::string l = "[A-Za-z0-9]", h = "[A-Za-z0-9-]",
                    label = l + "(" + l + "|" + h + l + "|" + h + h + l + "|" + h + "(" + l + h + "|-" + l + ")" + h +
                            "{0,58}" + l + ")?";
  return label + "(\\." + label + ")*";
}

// Internationalised names, only in scripts of which every letter is allowed [RFC 5892].
std::string accepted_idn_host() {
  const std::string l = "[a-z0-9\\u00df-\\u00f6\\u00f8-\\u00ff\\u03ac-\\u03ce\\u0430-\\u045f\\u3041-\\u3093\\u30a1-"
                        "\\u30f6\\u4e00-\\u9fa5\\uac00-\\ud7a3]",
                    label = "(" + l + "+(-" + l + "+)*|" + accepted_host() + ")";
  return label + "(\\." + label + ")*";
}

// RFC 4291, 2.2, in the form of RFC 3986.
std::string accepted_ipv6() {
  const std::string h = hex + "{1,4}", last = "(" + h + ":" + h + "|" + ipv4 + ")", part = "(" + h + ":)";
  std::string all = part + "{6}" + last + "|::" + part + "{5}" + last;
  for (int before = 0; before <= 6; ++before) {
    const std::string begin = "|(" + part + "{0," + std::to_string(before) + "}" + h + ")?::";
    all += begin + (before < 5 ? part + "{" + std::to_string(4 - before) + "}" + last : before == 5 ? h : "");
  }
  return all;
}

// RFC 5321, 4.1.2, with non-ASCII letters as in RFC 6531.
std::string accepted_email(const std::string& letters, const std::string& host) {
  const std::string atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~" + letters + "-]+",
                    quoted = "\"([ !#-\\[\\]-~" + letters + "]|\\\\[ -~])*\"";
  return "(" + atom + "(\\." + atom + ")*|" + quoted + ")@(" + host + "|\\[(" + ipv4 + "|IPv6:(" + accepted_ipv6() +
         "))\\])";
}

// RFC 3986, appendix A; RFC 3987 adds letters, and some of its validators reject addresses in brackets.
struct UriParts {
  explicit UriParts(const std::string& letters) {
    const std::string plain = "A-Za-z0-9._~!$&'()*+,;=" + letters;
    const auto any = [&](const std::string& also) { return "([" + plain + also + "-]|" + percent + ")"; };
    const std::string segment = any(":@"), more = "(/" + segment + "*)*",
                      literal = "\\[(" + accepted_ipv6() + "|[Vv]" + hex + "+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]",
                      host = "(" + any(":") + "*@)?(" + any("") + "*" + (letters.empty() ? "|" + literal : "") +
                             ")(:[0-9]*)?",
                      beginning = "//" + host + more + "|/(" + segment + "+" + more + ")?",
                      tail = "(\\?" + any(":@/?") + "*)?(#" + any(":@/?") + "*)?";
    uri = "[A-Za-z][A-Za-z0-9+.-]*:(" + beginning + "|" + segment + "+" + more + ")?" + tail;
    reference = uri + "|(" + beginning + "|" + any("@") + "+" + more + ")?" + tail;
  }
  std::string uri, reference;
};

// RFC 6570, 2.
std::string accepted_template() {
  const std::string letter = "([A-Za-z0-9_]|" + percent + ")", name = letter + "(\\.?" + letter + ")*",
                    one = name + "(:[1-9][0-9]{0,3}|\\*)?";
  return "([!#$&(-;=?-\\[\\]_a-z~" + other_letters + "]|" + percent + "|\\{[+#./;?&]?" + one + "(," + one + ")*\\})*";
}

// Expressions that every engine accepts, apart from balanced parentheses and the order of ranges.
std::string accepted_regex() {
  const std::string code = "x" + hex + "{2}|u" + hex + "{4}",
                    escape = "\\\\([dDwWsStnrfv^$.*+?()\\[\\]{}|/\\\\]|" + code + ")",
                    member = "([^\\\\\\[\\]^-]|\\\\([tnrfv^$.*+?()\\[\\]{}|/\\\\-]|" + code + "))",
                    chars = "\\[\\^?-?(" + member + "(-" + member + ")?|\\\\[dDwWsS])+-?\\]",
                    one = "([^\\\\^$.*+?()\\[\\]{}|]|\\.|" + escape + "|" + chars + ")",
                    repeat = "([*+?][?]?|\\{[0-9]+(,[0-9]*)?\\}[?]?)";
  return "(\\||\\^|\\$|\\((\\?:)?|(" + one + "|\\))" + repeat + "?)*";
}

// --- what is written ---

// Strict forms that every validator accepts: years from 1, no leap days, no leap seconds, short names.
std::map<std::string, Format, std::less<>> all_formats() {
  const std::string
      days = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))",
      date = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-" + days,
      time = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])",
      label = "[a-z0-9]{1,12}(-[a-z0-9]{1,10}){0,2}", host = label + "(\\." + label + "){0,3}\\.[a-z]{2,10}",
      path = "(/[A-Za-z0-9._~-]{1,30}){1,8}", query = "(\\?[A-Za-z0-9._~=&-]{1,60})?",
      uri = "https?://" + host + "(:[1-9][0-9]{0,3})?(" + path + ")?/?" + query, uri_ref = uri + "|" + path + query,
      // At most 64 characters before the @ [RFC 5321, 4.5.3.1].
      local = "([a-z0-9_+-]{1,20}(\\.[a-z0-9_+-]{1,20}){0,2}|[a-z0-9_+-]{1,16}(\\.[a-z0-9_+-]{1,15}){3})",
      email = local + "@" + label + "(\\." + label + "){0,2}\\.[a-z]{2,10}", pointer = "(/[A-Za-z0-9_.-]{0,30}){0,8}",
      duration = "P([0-9]{1,3}W|[0-9]{1,3}D(T[0-9]{1,3}H([0-9]{1,2}M([0-9]{1,2}S)?)?)?|T[0-9]{1,3}H([0-9]{1,2}M)?)",
      uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
      wide_date = "[0-9]{4}-[0-9]{2}-[0-9]{2}", any = "[^]*";
  const std::string host_form = accepted_host(), idn_host = accepted_idn_host(), date_form = accepted_date();
  const std::string wide_email = "[^@]+@[^@]+|\"[^]*@[^@]+", wide_uri = "[A-Za-z][A-Za-z0-9+.-]*:[^ ]*";
  const std::string wide_uuid = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", wide_host = "[A-Za-z0-9.-]+";
  // Some validators reject a digit after 0, as in 101.
  const std::string index = "(0|[1-9]{1,2}[0-9]?)";
  const std::string pointer_form = "(/([^~/]|~[01])*)*";
  const UriParts uri_form(""), iri_form(other_letters);
  return {
      {"date", {date, date_form, wide_date}},
      {"time", {time, accepted_time, "[0-9]{2}:[0-9]{2}:[0-9]{2}.*"}},
      {"date-time", {date + "T" + time, "(" + date_form + ")[Tt]" + accepted_time, wide_date + "[Tt].*"}},
      {"duration", {duration, accepted_duration(), "P[0-9A-Z]+"}},
      {"email", {email, accepted_email("", host_form), wide_email}},
      {"idn-email", {email, accepted_email(other_letters, idn_host), wide_email}},
      {"hostname", {host, host_form, wide_host}},
      {"host-name", {host, host_form, wide_host}},
      {"idn-hostname", {host, idn_host, any}},
      {"ipv4", {ipv4, ipv4, ipv4}},
      {"ip-address", {ipv4, ipv4, ipv4}},
      {"ipv6", {"[0-9a-f]{1,4}(:[0-9a-f]{1,4}){7}", accepted_ipv6(), "[0-9A-Fa-f:.]+"}},
      {"uri", {uri, uri_form.uri, wide_uri}},
      {"iri", {uri, iri_form.uri, wide_uri}},
      {"uri-reference", {uri_ref, uri_form.reference, "[^ ]*"}},
      {"iri-reference", {uri_ref, iri_form.reference, "[^ ]*"}},
      {"uri-template", {uri_ref, accepted_template(), any}},
      {"uuid", {uuid, wide_uuid, wide_uuid}},
      {"json-pointer", {pointer, pointer_form, "(/[^]*)?"}},
      {"relative-json-pointer", {index + "(#|" + pointer + ")", "(0|[1-9]+0?)(#|" + pointer_form + ")", "[0-9][^]*"}},
      {"regex", {"\\^?[A-Za-z0-9_ -]{0,40}\\$?", accepted_regex(), any}}};
}

// A name's labels, counted in octets as sent: an encoded label takes at most five for a letter, and "xn--".
bool has_lengths_of_host(std::string_view host) {
  std::size_t label = 0, all = 0;
  bool encoded = false;
  const auto ends = [&] {
    label += encoded ? 4 : 0;
    all += label + 1;
    return label <= longest_label && all <= longest_host + 1;
  };
  for (const char c : host) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '.') {
      if (!ends()) return false;
      label = 0, encoded = false;
    } else if (byte < 0x80) {
      ++label;
    } else if (byte >= 0xc0) {  // a character's first byte
      label += 5, encoded = true;
    }
  }
  return ends();
}

bool is_expression(const std::string& text) {
  try {
    parse_regex(text);
    return true;
  } catch (const Error&) {
    return false;
  }
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

std::string accepted_format(std::string_view format) {
  const Format* const found = format_of(format);
  return found ? found->accepted : "";
}

std::int64_t sure_length_of(std::string_view format) {
  if (format == "regex") return 0;
  if (format.starts_with("idn-")) return (longest_label - 4) / 5;
  return format == "email" || format.starts_with("host") ? longest_label : -1;
}

bool has_lengths(std::string_view format, const std::string& text) {
  if (format == "regex") return is_expression(text);
  if (format.ends_with("hostname") || format == "host-name") return has_lengths_of_host(text);
  if (!format.ends_with("email")) return true;
  const std::size_t at = text.rfind('@');
  const std::string_view domain = std::string_view(text).substr(at + 1);
  return at <= longest_local && domain.size() <= longest_domain &&
         (domain.starts_with('[') || has_lengths_of_host(domain));
}

std::string wide_format(std::string_view format) {
  const Format* const found = format_of(format);
  return found ? found->wide : "";
}

}  // namespace tril::search
