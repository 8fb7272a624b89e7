// Forms: what clients send is read as they meant it, and anything else is refused.
#include "serve/api/form_body.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "serve/http/http_error.h"
#include "support/serving.h"

namespace tril::serve {
namespace {

const std::string type = "multipart/form-data; boundary=----x1";

std::string part(const std::string& head, const std::string& body) {
  return "------x1\r\n" + head + "\r\n\r\n" + body + "\r\n";
}
std::string field(const std::string& name, const std::string& body) {
  return part("Content-Disposition: form-data; name=\"" + name + "\"", body);
}
const std::string last = "------x1--\r\n";

int status_of(const std::string& content_type, const std::string& body) {
  try {
    read_multipart(content_type, body);
    return 200;
  } catch (const HttpError& error) {
    return error.status();
  }
}

TEST(FormBody, ReadsWhatClientsSend) {
  EXPECT_EQ(read_multipart(type, field("q", "a dog\r\n--x\r\n runs") + field("q", "") + field("source", "en") + last),
            (FormFields{{"q", "a dog\r\n--x\r\n runs"}, {"q", ""}, {"source", "en"}}));
  // Lines around the parts are ignored; header names are case-insensitive; a boundary may be quoted, with spaces after it.
  EXPECT_EQ(
      read_multipart("Multipart/Form-Data; charset=utf-8; Boundary=\"a b\"",
                     "hello\r\n--a b \r\ncontent-disposition:form-data;name=q\r\nContent-Type: "
                     "text/plain;charset=UTF-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\xc3\xa4\r\n--a b--\r\nbye"),
      (FormFields{{"q", "\xc3\xa4"}}));
  EXPECT_EQ(read_multipart(type, part("Content-Disposition: form-data; name=\"a\\\"b;c\"; x=y", "1") + last),
            (FormFields{{"a\"b;c", "1"}}));
  EXPECT_EQ(read_multipart(type, last), FormFields());
  EXPECT_EQ(read_url_encoded("q=a+b&&q=%41%3d&source"), (FormFields{{"q", "a b"}, {"q", "A="}, {"source", ""}}));
  // A % without two hexadecimal digits is literal, as in browsers.
  EXPECT_EQ(read_url_encoded("q=100%&a%=%zz&b=%4&c=%&d=%%41+%4g"),
            (FormFields{{"q", "100%"}, {"a%", "%zz"}, {"b", "%4"}, {"c", "%"}, {"d", "%A %4g"}}));
  EXPECT_TRUE(is_form("application/x-www-form-urlencoded; charset=UTF-8") && is_form(type));
  EXPECT_FALSE(is_form("application/json") || is_form("") || is_form("multipart/mixed; boundary=x"));
}

TEST(FormBody, RefusesWhatIsNone) {
  const std::string good = field("q", "a");
  EXPECT_EQ(status_of(type, good + last), 200);
  EXPECT_EQ(status_of("multipart/form-data", good + last), 400) << "no boundary";
  EXPECT_EQ(status_of("multipart/form-data; boundary=" + std::string(71, 'x'), good + last), 400);
  EXPECT_EQ(status_of("multipart/form-data; boundary=\"----x1", good + last), 400) << "an open quote";
  EXPECT_EQ(status_of(type, good), 400) << "cut off";
  EXPECT_EQ(status_of(type, good.substr(0, good.size() - 4)), 400);
  EXPECT_EQ(status_of(type, ""), 400);
  EXPECT_EQ(status_of(type, "q=a"), 400);
  EXPECT_EQ(status_of(type, part("Content-Type: text/plain", "a") + last), 400) << "no name";
  EXPECT_EQ(status_of(type, part("Content-Disposition: attachment; name=q", "a") + last), 400);
  EXPECT_EQ(status_of(type, part("Content-Disposition: form-data; name=\"q", "a") + last), 400);
  EXPECT_EQ(status_of(type, part("Content-Disposition: form-data; name=q\r\nnonsense", "a") + last), 400);
  EXPECT_EQ(
      status_of(type, part("X: " + std::string(5000, 'x') + "\r\nContent-Disposition: form-data; name=q", "a") + last),
      400);
  EXPECT_EQ(status_of(type, part("Content-Disposition: form-data; name=q; filename=\"a.txt\"", "a") + last), 415);
  EXPECT_EQ(
      status_of(type, part("Content-Disposition: form-data; name=q\r\nContent-Type: application/pdf", "a") + last),
      415);
  EXPECT_EQ(
      status_of(type,
                part("Content-Disposition: form-data; name=q\r\nContent-Type: text/plain; charset=utf-16", "a") + last),
      415);
  EXPECT_EQ(
      status_of(type, part("Content-Disposition: form-data; name=q\r\nContent-Transfer-Encoding: base64", "a") + last),
      415);
}

TEST(FormBody, BecomesWhatItsFieldsAre) {
  const Json properties = Json::parse(R"({"n": {"type": "number"}, "b": {"type": "boolean"}, "t": {"type": "string"},
                                         "o": {"type": "object"}, "q": {"oneOf": []}})");
  EXPECT_EQ(
      json_of_form({{"n", " 4 "}, {"b", "true"}, {"t", "1.50"}, {"o", "{\"a\": \"b\"}"}, {"q", "1"}, {"x", "true"}},
                   properties),
      Json::parse(R"({"n": 4, "b": true, "t": "1.50", "o": {"a": "b"}, "q": "1", "x": "true"})"));
  EXPECT_EQ(json_of_form({{"q", "a"}, {"n", "four"}, {"b", "yes"}, {"q", ""}, {"q", "c"}}, properties),
            Json::parse(R"({"q": ["a", "", "c"], "n": "four", "b": "yes"})"));
  try {
    json_of_form({{"t", "en"}, {"t", "fr"}}, properties);
    FAIL();
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 400);
    EXPECT_EQ(error.parameter(), "t");
  }
  EXPECT_THROW(json_of_form({{"\xff", "a"}}, properties), HttpError);
}

// Fields of any bytes come back unchanged, and forms with changed bytes are read or refused. The cost of nesting and
// number is limited by the form's length.
TEST(FormBody, HostileSizesAreRefusedOrText) {
  const Json object{{"terminology", {{"type", "object"}}}};
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(json_of_form({{"terminology", deep}}, object)["terminology"], deep) << "which the field refuses";
  EXPECT_EQ(json_of_form({{"terminology", R"({"a": 1, "a": 2})"}}, object)["terminology"], R"({"a": 1, "a": 2})");
  EXPECT_EQ(json_of_form({{"terminology", R"({"a": "b"})"}}, object)["terminology"], (Json{{"a", "b"}}));
  std::string many, texts;
  for (int i = 0; i < 5000; ++i) many += "a" + std::to_string(i) + "&", texts += "q=a&";
  EXPECT_THROW(json_of_form(read_url_encoded(many), object), HttpError);
  EXPECT_EQ(json_of_form(read_url_encoded(texts), object)["q"].size(), 5000u);
}

TEST(FormBody, AnyFieldsComeBackAndAnyBytesAreAnswered) {
  RandomSequence random(6, 6);
  const std::vector<std::string> parts{"a",
                                       "\r\n",
                                       "--",
                                       "------x1",
                                       "\r",
                                       "\n",
                                       "\"",
                                       ";",
                                       "=",
                                       ":",
                                       "\xff",
                                       " ",
                                       "Content-Disposition",
                                       std::string(1, '\0')};
  const auto some = [&] {
    std::string text;
    for (std::uint64_t n = random.below(6); n > 0; --n) text += parts[random.below(parts.size())];
    return text;
  };
  for (int i = 0; i < 3000; ++i) {
    FormFields fields;
    std::string body;
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      std::string value = some();
      if (("\r\n" + value).find("\r\n------x1") != std::string::npos) continue;  // no client sends this
      fields.emplace_back("f" + std::to_string(n), value);
      body += field(fields.back().first, value);
    }
    body += last;
    ASSERT_EQ(read_multipart(type, body), fields) << body;
    for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
      const std::size_t at = random.below(body.size());
      if (random.below(2) == 0)
        body.erase(at, 1 + random.below(5));
      else
        body.insert(at, some());
      if (body.empty()) break;
    }
    const int status = status_of(type, body);
    ASSERT_TRUE(status == 200 || status == 400 || status == 415) << status;
  }
}

struct UploadedForms : Serving {};

// A form is refused by its key before its file has arrived, if the key comes first.
TEST_F(UploadedForms, AreRefusedByTheirKeyBeforeTheFile) {
  ServiceOptions o;
  o.keys.api = {"first-key"};
  serve(o);
  const std::string head =
      "POST /translate_file HTTP/1.1\r\nHost: t\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: "
      "6000000\r\n\r\n";
  const auto field = [](const std::string& value) {
    return "--B\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\n" + value + "\r\n";
  };
  const std::string file =
      "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n" + std::string(10'000, 'a');
  for (const bool at_once : {true, false}) {
    Client wrong(server->port());
    wrong.send(head);
    if (!at_once) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    wrong.send(field("other-key") + file);
    const Answer a = wrong.answer();
    EXPECT_TRUE(a.status == 401 || a.status == 403) << a.status;
    EXPECT_EQ(a.headers.at("connection"), "close");
    EXPECT_NE(a.body.find("key"), std::string::npos) << a.body;
  }
  Client right(server->port()), later(server->port());
  right.send(head + field("first-key") + file);
  later.send(head + file);
  EXPECT_THROW(right.receive(0.3), std::runtime_error) << "it waits for the rest";
  EXPECT_THROW(later.receive(0.1), std::runtime_error) << "the key may come after the file";
}

// Only a multipart form can have a file. Any other upload is refused by its head, before it could show a key.
TEST_F(UploadedForms, OfOtherTypesAreRefusedByTheirHead) {
  ServiceOptions o;
  o.keys.api = {"first-key"};
  serve(o);
  for (const std::string type : {"application/x-www-form-urlencoded", "application/json"}) {
    SCOPED_TRACE(type);
    Client client(server->port());
    client.send("POST /translate_file HTTP/1.1\r\nHost: t\r\nContent-Type: " + type +
                "\r\nContent-Length: 6000000\r\n\r\napi_key=");
    const Answer a = client.answer();
    EXPECT_EQ(a.status, 415) << a.body;
    EXPECT_NE(a.body.find("multipart/form-data"), std::string::npos) << a.body;
    EXPECT_EQ(a.headers.at("connection"), "close");
  }
  EXPECT_EQ(ask("POST", "/translate_file").status, 401);
  EXPECT_EQ(ask("POST", "/translate_file", "{}").status, 401) << "it has arrived, without a key";
  EXPECT_EQ(ask("POST", "/translate_file", R"({"api_key": "first-key"})").status, 415);
}

}  // namespace
}  // namespace tril::serve
