// The limits of requests in a minute, an hour and a day: the counts, on a clock of the test's own, and the service with its keys over sockets.
#include "serve/api/request_rates.h"

#include <deque>
#include <limits>
#include <map>

#include "serve/http/trusted_proxies.h"
#include "support/contains.h"
#include "support/rounds.h"
#include "support/serving.h"

namespace tril::serve::request_rates_test {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;

Clock::time_point at(double second) {
  return Clock::time_point(milliseconds(static_cast<std::int64_t>(second * 1000)));
}

// Limits of a minute only, as seconds to wait.
struct MinuteRates {
  RequestRates rates{100};

  int take(const std::string& client, std::int64_t most, Clock::time_point now) {
    return rates.take(client, {.per_minute = most}, now).seconds;
  }
  int wait_of(const std::string& client, std::int64_t most, Clock::time_point now) const {
    return rates.wait_of(client, {.per_minute = most}, now).seconds;
  }
  void add(const std::string& client, std::int64_t requests, Clock::time_point now) {
    rates.add(client, requests, now);
  }
};

TEST(RequestRates, AMinutePasses) {
  MinuteRates rates;
  for (const double second : {0.5, 10.0, 20.0}) EXPECT_EQ(rates.take("a", 3, at(second)), 0) << second;
  EXPECT_EQ(rates.take("a", 3, at(20.9)), 40) << "the request of second 0 leaves at second 60";
  EXPECT_EQ(rates.take("a", 3, at(59.999)), 1);
  EXPECT_EQ(rates.take("b", 3, at(59.999)), 0) << "another client";
  EXPECT_EQ(rates.wait_of("a", 3, at(60)), 0);
  EXPECT_EQ(rates.take("a", 3, at(60)), 0);
  EXPECT_EQ(rates.take("a", 3, at(60)), 10) << "the request of second 10 leaves at second 70";
  EXPECT_EQ(rates.take("a", 4, at(60)), 0) << "the limit has been raised";
  EXPECT_EQ(rates.take("a", 3, at(1000)), 0);
  EXPECT_EQ(rates.wait_of("c", 1, at(1000)), 0) << "an unknown client";
}

TEST(RequestRates, MoreThanTheLimitIsWaitedFor) {
  MinuteRates rates;
  EXPECT_EQ(rates.take("a", 10, at(5)), 0);
  rates.add("a", 24, at(5));
  EXPECT_EQ(rates.wait_of("a", 10, at(6)), 59);
  rates.add("a", 5, at(30));
  EXPECT_EQ(rates.wait_of("a", 10, at(30)), 35) << "the last five do not reach the limit";
  EXPECT_EQ(rates.wait_of("a", 5, at(30)), 60);
}

// Like a list of the times of all requests, for clients that come at any time.
TEST(RequestRates, LikeAListOfAllRequests) {
  test::rounds(300, [](RandomSequence& random) {
    MinuteRates rates;
    std::map<std::string, std::deque<std::int64_t>> sent;
    std::int64_t now = static_cast<std::int64_t>(random.below(200));
    for (int i = 0; i < 300; ++i) {
      now += static_cast<std::int64_t>(random.below(random.below(4) == 0 ? 70 : 3));
      const std::string client(1, static_cast<char>('a' + random.below(3)));
      const std::int64_t most = 1 + static_cast<std::int64_t>(random.below(20));
      std::deque<std::int64_t>& times = sent[client];
      std::erase_if(times, [&](std::int64_t t) { return t <= now - 60; });
      // So many must leave before there are fewer than the limit.
      const std::int64_t leave = std::ssize(times) - most + 1;
      const std::int64_t wait = leave <= 0 ? 0 : times[static_cast<std::size_t>(leave - 1)] + 60 - now;
      ASSERT_EQ(rates.take(client, most, at(static_cast<double>(now))), wait);
      if (wait == 0) times.push_back(now);
    }
  });
}

// The limit that is waited for longest is named, with its span.
TEST(RequestRates, HoursAndDaysPass) {
  constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
  RequestRates rates;
  const RequestLimits limits{.per_minute = 2, .per_hour = 3, .per_day = 5};
  const auto expect_wait = [&](double second, int wait, std::string_view span, std::int64_t most) {
    const RateWait got = rates.take("a", limits, at(second));
    EXPECT_EQ(got.seconds, wait) << second;
    EXPECT_EQ(got.span, span) << second;
    EXPECT_EQ(got.most, most) << second;
  };
  expect_wait(30, 0, "", 0);
  expect_wait(30, 0, "", 0);
  expect_wait(40, 50, "minute", 2);
  expect_wait(2 * minute, 0, "", 0);
  expect_wait(4 * minute + 10, static_cast<int>(hour - 4 * minute) - 10, "hour",
              3);  // those of minute 0 leave in minute 60
  expect_wait(hour, 0, "", 0);
  expect_wait(hour + 1, 0, "", 0);
  expect_wait(hour + 3 * minute, static_cast<int>(day - hour - 3 * minute), "day", 5);
  expect_wait(day, 0, "", 0);  // the first three have left with their 24 minutes
  const RequestLimits daily{.per_day = 5};
  RequestRates others;
  others.add("b", 5, at(25 * minute));
  EXPECT_EQ(others.wait_of("b", daily, at(25 * minute)).seconds, static_cast<int>(day - minute));
  EXPECT_EQ(others.wait_of("b", daily, at(day)).seconds, static_cast<int>(24 * minute));
  EXPECT_EQ(others.wait_of("b", daily, at(day + 24 * minute)).seconds, 0);
  others.add("b", std::numeric_limits<std::int64_t>::max(), at(day));
  others.add("b", std::numeric_limits<std::int64_t>::max(), at(day));
  EXPECT_EQ(others.wait_of("b", {.per_day = 1'000'000'000}, at(day)).seconds, static_cast<int>(day)) << "no overflow";
}

TEST(RequestRates, ManyClientsTakeBoundedRoom) {
  MinuteRates rates;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(rates.take("new " + std::to_string(i), 1, at(1)), 0);
    if (i > 0) {
      EXPECT_GT(rates.take("new 0", 1, at(1)), 0) << "who is seen again is not forgotten";
    }
  }
  EXPECT_EQ(rates.rates.clients(), 100u);
  EXPECT_EQ(rates.wait_of("new 500", 1, at(1)), 0) << "forgotten";
  EXPECT_GT(rates.wait_of("new 999", 1, at(1)), 0);
}

TEST(RequestRates, ANetworkOfIPv6IsOneClient) {
  EXPECT_EQ(rate_name_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(rate_name_of("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(rate_name_of("2001:db8:0:1::7"), rate_name_of("2001:db8:0:1:ffff::"));
  EXPECT_NE(rate_name_of("2001:db8:0:1::7"), rate_name_of("2001:db8:0:2::7"));
  EXPECT_EQ(rate_name_of("fe80::1%eth0"), rate_name_of("fe80::2"));
  EXPECT_EQ(rate_name_of(""), "");
}

const std::string dog = R"({"q":"a dog","target":"de"})";

TEST_F(Serving, AClientMaySendSoManyRequestsAMinute) {
  ServiceOptions o;
  o.most_requests.per_minute = 3;
  serve(o);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask("POST", "/translate", dog).status, 200);
  const Answer refused = ask("POST", "/translate", dog);
  EXPECT_EQ(refused.status, 429);
  const std::string error = Json::parse(refused.body)["error"];
  EXPECT_TRUE(contains(error, "at most 3", "minute", "try again in")) << error;
  const int wait = std::stoi(refused.headers.at("retry-after"));
  EXPECT_TRUE(1 <= wait && wait <= 60) << wait;
  // Each API has its own form of errors, and the same limit.
  const Json openai = post("/v1/completions", {{"prompt", "a"}}, 429);
  EXPECT_EQ(openai["error"]["code"], "rate_limit_exceeded");
  EXPECT_EQ(ask("GET", "/v1/models").status, 429);
  EXPECT_EQ(ask("POST", "/translate_file", "x", "Content-Type: multipart/form-data; boundary=b\r\n").status, 429);
  // Routes that need no key are not counted, as in LibreTranslate.
  for (int i = 0; i < 5; ++i)
    for (const char* const free : {"/health", "/languages", "/frontend/settings", "/metrics"})
      EXPECT_EQ(ask("GET", free).status, 200) << free;
  EXPECT_EQ(Json::parse(ask("GET", "/frontend/settings").body)["reqLimit"], 3);
  EXPECT_EQ(metric("tril_requests_total{route=\"/translate\",status=\"429\"}"), 1);
}

TEST_F(Serving, HoursAndDaysHaveLimitsToo) {
  ServiceOptions o;
  o.most_requests = {.per_minute = 100, .per_hour = 3, .per_day = 2};
  o.keys.api = {"plain-key-1", "hourly-key-2"};
  o.keys.most_requests = {{"hourly-key-2", {.per_hour = 4}}};
  serve(o);
  const auto ask_with = [&](const std::string& key) {
    return ask("GET", "/v1/models", "", "Authorization: Bearer " + key + "\r\n");
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask_with("plain-key-1").status, 200);
  const Answer refused = ask_with("plain-key-1");
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(contains(refused.body, "at most 2", "in a day")) << refused.body;
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 23 * 3600);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask_with("hourly-key-2").status, 200) << "only the limit of its line";
  EXPECT_TRUE(contains(ask_with("hourly-key-2").body, "at most 4", "in an hour"));
}

// Each client of a trusted proxy has its own limit, and nobody else can choose an address.
TEST_F(Serving, ATrustedProxyNamesItsClients) {
  ServiceOptions o;
  o.most_requests.per_minute = 2;
  const auto served = [&](const std::string& forwarded) {
    int n = 0;
    while (n < 5 && ask("GET", "/v1/models", "", forwarded).status == 200) ++n;
    return n;
  };
  serve(o);
  EXPECT_EQ(served("X-Forwarded-For: 192.0.2.1\r\n"), 2);
  EXPECT_EQ(served("X-Forwarded-For: 192.0.2.2\r\n"), 0) << "no proxy is trusted by default";
  trusted_proxies = TrustedProxies({"127.0.0.0/8"});
  serve(o);
  EXPECT_EQ(served("X-Forwarded-For: 192.0.2.1\r\n"), 2);
  EXPECT_EQ(served("X-Forwarded-For: 192.0.2.2\r\n"), 2);
  EXPECT_EQ(served("X-Forwarded-For: 192.0.2.3, 192.0.2.2\r\n"), 0) << "what the client itself had sent";
  EXPECT_EQ(served(""), 2) << "the proxy's own requests";
}

TEST_F(Serving, WithoutALimitNothingIsCounted) {
  serve();
  for (int i = 0; i < 70; ++i) EXPECT_EQ(ask("GET", "/v1/models").status, 200);
  EXPECT_EQ(Json::parse(ask("GET", "/frontend/settings").body)["reqLimit"], -1);
}

TEST_F(Serving, AListOfTextsCountsAsManyRequests) {
  ServiceOptions o;
  o.most_requests.per_minute = 5;
  serve(o);
  EXPECT_EQ(ask("POST", "/translate", R"({"q":["a dog","a man","a dog"],"target":"de"})").status, 200);
  EXPECT_EQ(ask("POST", "/translate", R"({"q":["a dog","a man","a dog"],"target":"de"})").status, 200)
      << "a list is not refused for its own length";
  EXPECT_EQ(ask("POST", "/translate", dog).status, 429);
}

TEST_F(Serving, PromptsOfIdsCountAsManyRequests) {
  ServiceOptions o;
  o.most_requests.per_minute = 3;
  serve(o);
  const Json prompts = Json::array({Json::array({2, 3}), Json::array({3, 4}), Json::array({4, 5})});
  EXPECT_EQ(post("/v1/completions", {{"prompt", prompts}, {"max_tokens", 1}})["choices"].size(), 3u);
  EXPECT_EQ(ask("POST", "/translate", dog).status, 429);
}

TEST_F(Serving, KeysHaveLimitsOfTheirOwn) {
  ServiceOptions o;
  o.most_requests.per_minute = 2;
  o.keys.api = {"plain-key-1", "large-key-2"};
  o.keys.admin = {"admin-key-3", "admin-key-4"};
  o.keys.most_requests = {{"large-key-2", {.per_minute = 4}}, {"admin-key-4", {.per_minute = 1}}};
  serve(o);
  const auto status = [&](const std::string& key) {
    return ask("GET", "/v1/models", "", "Authorization: Bearer " + key + "\r\n").status;
  };
  const auto served = [&](const std::string& key) {
    int n = 0;
    while (n < 8 && status(key) == 200) ++n;
    return n;
  };
  EXPECT_EQ(served("plain-key-1"), 2);
  EXPECT_EQ(served("large-key-2"), 4);
  EXPECT_EQ(served("admin-key-3"), 8) << "administrators have no limit";
  EXPECT_EQ(served("admin-key-4"), 1) << "but the one of their line";
  // In the body the key counts too.
  EXPECT_EQ(ask("POST", "/translate", R"({"q":"a dog","target":"de","api_key":"plain-key-1"})").status, 429);
  // Requests with an unknown key are counted by address.
  EXPECT_EQ(status("unknown-key-5"), 401);
  EXPECT_EQ(status("unknown-key-6"), 401);
  EXPECT_EQ(status("unknown-key-7"), 429);
  // New limits count at once, with the requests so far.
  o.keys.most_requests["plain-key-1"] = {.per_minute = 3};
  service->set_keys(o.keys);
  EXPECT_EQ(served("plain-key-1"), 1);
}

// A file is refused before it has arrived.
TEST_F(Serving, UploadsBeyondTheLimitAreNotRead) {
  ServiceOptions o;
  o.most_requests.per_minute = 1;
  serve(o);
  EXPECT_EQ(ask("GET", "/v1/models").status, 200);
  Client client(server->port());
  client.send(
      "POST /translate_file HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\n"
      "Content-Length: 4000000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; "
      "filename=\"x.txt\"\r\n\r\na dog");
  EXPECT_TRUE(contains(client.head(), "429", "Retry-After"));
}

}  // namespace
}  // namespace tril::serve::request_rates_test
