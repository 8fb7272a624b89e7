// Compressed bodies: unpacked within limits; unknown codings and broken data are refused.
#include "serve/http/content_coding.h"

#include "serve/http/http_error.h"
#include "support/packed.h"
#include "support/serving.h"

namespace tril::serve::content_coding_test {
namespace {

using tril::test::packed;

std::string refusal_of(const std::string& body, const std::string& coding) {
  HttpRequest request;
  request.body = body;
  request.headers.emplace_back("content-encoding", coding);
  try {
    unpack_body(request, 1000);
    return "";
  } catch (const HttpError& e) {
    return e.what();
  }
}

int status_of(const std::string& body, const std::string& coding, std::size_t most = 1000) {
  HttpRequest request;
  request.body = body;
  request.headers.emplace_back("content-encoding", coding);
  try {
    unpack_body(request, most);
    return 200;
  } catch (const HttpError& e) {
    return e.status();
  }
}

TEST(ContentCoding, UnpacksWhatIsWhole) {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += static_cast<char>('a' + i * i % 23);
  for (const auto& [coding, bits] :
       {std::pair{"gzip", 31}, {"x-gzip", 31}, {"deflate", 15}, {"deflate", -15}, {"GZip", 31}}) {
    HttpRequest request;
    request.body = packed(text, bits);
    request.headers = {{"content-encoding", coding}, {"x-other", "1"}};
    unpack_body(request, text.size());
    EXPECT_EQ(request.body, text) << coding;
    EXPECT_EQ(request.headers.size(), 1u) << "it is packed no more";
  }
  HttpRequest two;  // concatenated streams are one text
  two.body = packed("ab", 31) + packed("cd", 31);
  two.headers = {{"content-encoding", "gzip"}};
  unpack_body(two, 100);
  EXPECT_EQ(two.body, "abcd");
  EXPECT_EQ(status_of("{}", "identity"), 200);
}

// A body that is too large to unpack here stays packed, for unpacking elsewhere.
TEST(ContentCoding, ALargerBodyStaysAsItIs) {
  HttpRequest request;
  request.body = packed(std::string(500, 'a'));
  request.headers = {{"content-encoding", "gzip"}};
  const std::string whole = request.body;
  EXPECT_FALSE(unpack_body_within(request, 499));
  EXPECT_EQ(request.body, whole);
  EXPECT_EQ(request.header("content-encoding"), "gzip");
  EXPECT_TRUE(unpack_body_within(request, 500));
  EXPECT_EQ(request.body, std::string(500, 'a'));
  EXPECT_FALSE(request.header("content-encoding"));
  EXPECT_TRUE(unpack_body_within(request, 500)) << "one that is not packed";
  EXPECT_FALSE(unpack_body_within(request, 499));
}

TEST(ContentCoding, RefusesTheRest) {
  const std::string whole = packed(std::string(500, 'a'), 31);
  EXPECT_EQ(status_of(whole, "gzip", 500), 200);
  EXPECT_EQ(status_of(whole, "gzip", 499), 413);
  EXPECT_EQ(status_of(packed(std::string(100'000'000, 'a'), 31), "gzip", 1 << 20), 413);
  for (std::size_t n = 1; n < whole.size(); n += 3) EXPECT_EQ(status_of(whole.substr(0, n), "gzip"), 400) << n;
  std::string broken = whole;
  broken[broken.size() - 6] ^= 1;  // in its checksum
  EXPECT_EQ(status_of(broken, "gzip"), 400);
  EXPECT_EQ(status_of(whole + "x", "gzip"), 400);
  EXPECT_EQ(status_of("{}", "gzip"), 400);
  EXPECT_EQ(status_of("{}", "deflate"), 400);
  for (const char* other : {"br", "zstd", "gzip, gzip", "compress", "\xff"}) EXPECT_EQ(status_of(whole, other), 415);
}

TEST(ContentCoding, TellsWhatIsBrokenFromWhatIsCutOff) {
  const std::string gzip = packed("the dog", 31), zlib = packed("the dog", 15), bare = packed("the dog", -15);
  const auto is = [](const std::string& told, const std::string& what) {
    EXPECT_NE(told.find(what), std::string::npos) << told;
  };
  const auto changed = [](std::string body, std::size_t from_end) {
    body[body.size() - from_end] ^= 1;
    return body;
  };
  is(refusal_of(changed(zlib, 1), "deflate"), "is damaged");
  is(refusal_of(changed(gzip, 1), "gzip"), "is damaged");  // its size
  is(refusal_of(changed(gzip, 8), "gzip"), "is damaged");
  for (const std::string& more : {std::string("x"), std::string("xx"), std::string(8, '\0')}) {
    is(refusal_of(gzip + more, "gzip"), "is damaged");
    is(refusal_of(zlib + more, "deflate"), "is damaged");
    is(refusal_of(bare + more, "deflate"), "is damaged");
  }
  is(refusal_of(zlib + zlib, "deflate"), "is damaged");
  for (std::size_t n = 1; n < gzip.size(); ++n) is(refusal_of(gzip.substr(0, n), "gzip"), "is truncated");
  for (std::size_t n = 2; n < zlib.size(); ++n) is(refusal_of(zlib.substr(0, n), "deflate"), "is truncated");
}

TEST(ContentCoding, IsAList) {
  const std::string gzip = packed("the dog", 31);
  for (const char* list : {", gzip ,,", "identity, gzip", " GZIP", "gzip,"})
    EXPECT_EQ(refusal_of(gzip, list), "") << list;
  for (const char* none : {"", ",", " , ,identity"}) EXPECT_EQ(refusal_of("plain", none), "") << none;
  EXPECT_NE(refusal_of(gzip, "deflate, gzip").find("expected one of"), std::string::npos);
  EXPECT_EQ(status_of(gzip, "deflate, gzip"), 415);
}

TEST_F(Serving, TakesBodiesThatArePacked) {
  ServiceOptions o;
  o.most_body_bytes = 4000;
  o.log_texts = true;
  serve(o);
  const std::string body = Json{{"prompt", "ab"}, {"max_tokens", 4}, {"temperature", 0}}.dump();
  const Answer plain = ask("POST", "/v1/completions", body);
  const Answer got = ask("POST", "/v1/completions", packed(body, 31), "Content-Encoding: gzip\r\n");
  ASSERT_EQ(got.status, 200) << got.body;
  EXPECT_EQ(Json::parse(got.body)["choices"], Json::parse(plain.body)["choices"]);
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(Json::parse(log.back())["body"], body) << "the log has what it says";
  }
  EXPECT_EQ(
      ask("POST", "/v1/completions", packed(std::string(5000, ' ') + body, 31), "Content-Encoding: gzip\r\n").status,
      413);
  EXPECT_EQ(ask("POST", "/v1/completions", body, "Content-Encoding: gzip\r\n").status, 400);
  const Answer other = ask("POST", "/v1/completions", body, "Content-Encoding: br\r\n");
  EXPECT_EQ(other.status, 415);
  EXPECT_EQ(other.headers.at("accept-encoding"), "gzip, deflate");
  EXPECT_EQ(Json::parse(other.body)["error"]["type"], "invalid_request_error");
  // Another coding would not help a file upload.
  const std::string form =
      "--x\r\nContent-Disposition: form-data; name=\"q\"; filename=\"a.txt\"\r\n\r\na dog\r\n--x--\r\n";
  Client client(server->port());
  client.send("POST /translate HTTP/1.1\r\nHost: test\r\nContent-Type: multipart/form-data; boundary=x\r\n" +
              fmt::format("Content-Length: {}\r\n\r\n", form.size()) + form);
  const Answer file = client.answer();
  EXPECT_EQ(file.status, 415) << file.body;
  EXPECT_EQ(file.headers.count("accept-encoding"), 0u);
}

}  // namespace
}  // namespace tril::serve::content_coding_test
