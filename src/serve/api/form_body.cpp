#include "serve/api/form_body.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "format/json_file.h"
#include "serve/http/http_error.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr std::string_view multipart_form = "multipart/form-data",
                           url_encoded_form = "application/x-www-form-urlencoded";
constexpr std::size_t most_head_bytes = 4096, most_boundary = 70;  // most_boundary is from RFC 2046
constexpr std::size_t most_names = 200;                            // fields; no route has that many
constexpr std::size_t longest_number = 64;
constexpr int deepest_value = 64;  // nesting of arrays and objects

HttpError malformed(const std::string& what) {
  return HttpError(400, "the form is not well formed: " + what);
}

// The part of a header's value before its parameters, in lower case.
std::string kind_of(std::string_view value) {
  return lower(trim(value.substr(0, value.find(';'))));
}

// A parameter of a header's value: name=token or name="text", in which a backslash escapes a quote or itself. Nothing
// if it is missing. @throws HttpError for an unclosed quote
std::optional<std::string> parameter_of(std::string_view value, std::string_view name) {
  std::size_t at = std::min(value.find(';'), value.size());
  while (at < value.size()) {
    ++at;  // the semicolon
    const std::size_t equals = std::min(value.find_first_of("=;", at), value.size());
    const std::string key = lower(trim(value.substr(at, equals - at)));
    at = equals;
    if (at == value.size() || value[at] == ';') continue;
    ++at;
    while (at < value.size() && (value[at] == ' ' || value[at] == '\t')) ++at;
    std::string text;
    if (at < value.size() && value[at] == '"') {
      for (++at; at < value.size() && value[at] != '"'; ++at) {
        if (value[at] == '\\' && at + 1 < value.size() && (value[at + 1] == '"' || value[at + 1] == '\\')) ++at;
        text += value[at];
      }
      if (at == value.size()) throw malformed("a quoted string in a part's header is not closed");
      at = std::min(value.find(';', at), value.size());
    } else {
      const std::size_t end = std::min(value.find(';', at), value.size());
      text = std::string(trim(value.substr(at, end - at)));
      at = end;
    }
    if (key == name) return text;
  }
  return std::nullopt;
}

// The headers of a part, one "Name: value" a line. @return the part without its value
FormPart part_of(std::string_view head) {
  std::optional<std::string> field, file_name;
  std::optional<HttpError> unfit;  // as a field
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) throw malformed("a header line of a part has no colon");
    const std::string name = lower(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    const std::string kind = kind_of(value);
    if (name == "content-disposition") {
      if (kind != "form-data") throw malformed("a part is not form-data but " + printable(kind));
      if (field) throw malformed("a part has two names");
      field = parameter_of(value, "name");
      file_name = parameter_of(value, "filename");
      // RFC 7578, 4.2, forbids this form of a name, but some clients use it.
      if (const auto extended = parameter_of(value, "filename*"); extended && !file_name)
        file_name = url_decoded(std::string_view(*extended).substr(extended->rfind('\'') + 1)).value_or("");
    } else if (name == "content-type") {
      const std::string charset = lower(parameter_of(value, "charset").value_or("utf-8"));
      if (kind != "text/plain" || (charset != "utf-8" && charset != "us-ascii"))
        unfit = HttpError(415, fmt::format("expected parts of type text/plain in UTF-8, got {}", printable(value)));
    } else if (name == "content-transfer-encoding") {
      if (kind != "7bit" && kind != "8bit" && kind != "binary")
        throw HttpError(415, fmt::format("expected parts encoded as 8bit, got {}", printable(kind)));
    }
  }
  if (!field) throw malformed("a part has no name");
  if (unfit && !file_name) throw *unfit;
  return {.name = *field, .value = {}, .file_name = std::move(file_name)};
}

Json value_of(const std::string& text, const Json& properties, const std::string& name) {
  const auto property = properties.find(name);
  if (property == properties.end() || !property->contains("type")) return text;
  const Json& type = (*property)["type"];
  const std::string_view plain = trim(text);
  if (type == "boolean" && (plain == "true" || plain == "false")) return plain == "true";
  if (type != "number" && type != "object") return text;
  if (type == "number" ? plain.size() > longest_number : !plain.starts_with('{') && !plain.starts_with('['))
    return text;
  try {
    Json parsed = parse_ordered_json(plain, name, {.depth = deepest_value});
    if (type == "number" && !parsed.is_number()) return text;
    return parsed;
  } catch (const Error&) {
    return text;  // the field's own error says what it expects
  }
}

}  // namespace

bool is_form(std::string_view content_type) {
  const std::string kind = kind_of(content_type);
  return kind == multipart_form || kind == url_encoded_form;
}

FormFields read_url_encoded(std::string_view text) {
  return url_encoded_fields(text);
}

bool is_multipart(std::string_view content_type) {
  return kind_of(content_type) == multipart_form;
}

namespace {

// Reads parts into `parts` until the end of the form. @throws HttpError for a malformed form, with the parts before the fault
void read_into(std::vector<FormPart>& parts, bool& reach_file, std::string_view content_type, std::string_view body) {
  const std::string boundary = parameter_of(content_type, "boundary").value_or("");
  if (boundary.empty() || boundary.size() > most_boundary)
    throw malformed(fmt::format("its Content-Type has no boundary of 1 to {} characters", most_boundary));
  const std::string dashes = "--" + boundary, separator = "\r\n" + dashes;
  // Lines before the first part are ignored.
  std::size_t at = body.starts_with(dashes) ? dashes.size() : body.find(separator);
  if (at == std::string_view::npos) throw malformed("its boundary does not occur in the body");
  if (!body.starts_with(dashes)) at += separator.size();
  for (;;) {
    if (body.substr(at).starts_with("--")) return;  // everything after the end is ignored too
    while (at < body.size() && (body[at] == ' ' || body[at] == '\t')) ++at;
    if (!body.substr(at).starts_with("\r\n")) throw malformed("a boundary is not followed by a line end");
    // The last header's line end also begins the empty line; a part without headers begins with the empty line.
    const std::size_t head_end = body.substr(0, at + most_head_bytes).find("\r\n\r\n", at);
    if (head_end == std::string_view::npos)
      throw malformed(fmt::format("the header of a part does not end within {} bytes", most_head_bytes));
    FormPart part = part_of(body.substr(std::min(at + 2, head_end), head_end - std::min(at + 2, head_end)));
    reach_file = reach_file || part.file_name;
    const std::size_t begin = head_end + 4, end = body.find(separator, begin - 2);
    if (end == std::string_view::npos) throw malformed("its last boundary is missing");
    part.value = body.substr(std::min(begin, end), end - std::min(begin, end));
    parts.push_back(std::move(part));
    at = end + separator.size();
  }
}

}  // namespace

std::vector<FormPart> read_parts(std::string_view content_type, std::string_view body) {
  std::vector<FormPart> parts;
  bool reach_file = false;
  read_into(parts, reach_file, content_type, body);
  return parts;
}

PartsSoFar parts_so_far(std::string_view content_type, std::string_view body) {
  PartsSoFar parts;
  try {
    read_into(parts.complete, parts.reach_file, content_type, body);
  } catch (const HttpError&) {  // the answer to the whole form says what is wrong with it
  }
  return parts;
}

FormFields read_multipart(std::string_view content_type, std::string_view body) {
  FormFields fields;
  for (FormPart& part : read_parts(content_type, body)) {
    if (part.file_name)
      throw HttpError(415, fmt::format("{}: files are not accepted; send the text as a field", printable(part.name)))
          .of_field(part.name);
    fields.emplace_back(std::move(part.name), std::string(part.value));
  }
  return fields;
}

namespace {

FormFields fields_of_address(const HttpRequest& request) {
  FormFields fields = read_url_encoded(request.query_text);
  std::erase_if(fields, [](const auto& field) { return field.first == "api_key"; });  // not for the route
  return fields;
}

// A file's name without directories.
std::string base_name(std::string_view name) {
  std::string base(name.substr(name.find_last_of("/\\") + 1));
  std::erase_if(base, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return is_utf8(base) ? base : printable(base);
}

}  // namespace

void check_is_multipart(const HttpRequest& request) {
  if (!is_multipart(request.header("content-type").value_or("")))
    throw HttpError(415,
                    fmt::format("expected a form of type {} with a file in its field {}", multipart_form, file_field));
}

FileForm read_file_form(const HttpRequest& request) {
  const std::string field = file_field;
  check_is_multipart(request);
  const std::string type = request.header("content-type").value_or("");
  FileForm form{.fields = fields_of_address(request), .name = {}, .bytes = {}};
  const auto count = [&](std::size_t bytes) {
    form.field_bytes += bytes;
    if (form.field_bytes > most_field_bytes)
      throw HttpError(413, fmt::format("the fields besides {} have more than {} bytes", field, most_field_bytes));
  };
  for (const auto& [name, value] : form.fields) count(name.size() + value.size());
  bool found = false;
  for (FormPart& part : read_parts(type, request.body)) {
    count(part.name.size());
    if (!part.file_name) {
      count(part.value.size());
      form.fields.emplace_back(std::move(part.name), std::string(part.value));
      continue;
    }
    if (part.name != field)
      throw HttpError(400, fmt::format("{}: is a file; expected one file, in {}", printable(part.name), field))
          .of_field(part.name);
    if (std::exchange(found, true)) throw field_error(field, "there are several files; expected one");
    form.name = base_name(*part.file_name), form.bytes = part.value;
  }
  if (!found) throw HttpError(400, fmt::format("Invalid request: missing {} parameter", field)).of_field(field);
  return form;
}

FormFields read_form(const HttpRequest& request) {
  FormFields fields = fields_of_address(request);
  const std::string type = request.header("content-type").value_or("");
  FormFields more = is_multipart(type) ? read_multipart(type, request.body) : read_url_encoded(request.body);
  fields.insert(fields.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return fields;
}

Json json_of_form(const FormFields& fields, const Json& properties) {
  std::map<std::string_view, std::size_t> times;
  for (const auto& [name, value] : fields) ++times[name];
  if (times.size() > most_names) throw malformed(fmt::format("it has fields of more than {} names", most_names));
  Json object = Json::object();
  for (const auto& [name, value] : fields) {
    if (!is_utf8(name)) throw malformed("the name of a field is not UTF-8");
    const auto property = properties.find(name);
    if (times[name] > 1 && property != properties.end() && property->contains("type"))  // lists have oneOf
      throw field_error(name, fmt::format("given {} times, expected once", times[name]));
    Json one = value_of(value, properties, name);
    if (times[name] == 1)
      object[name] = std::move(one);
    else
      object[name].push_back(std::move(one));
  }
  return object;
}

}  // namespace tril::serve
