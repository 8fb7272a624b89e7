// The client of a request behind proxies.
#include "serve/http/trusted_proxies.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tril::serve::trusted_proxies_test {
namespace {

TEST(TrustedProxies, TheNearestAddressThatIsNoProxyIsTheClient) {
  const TrustedProxies proxies({"192.0.2.1", "10.0.0.0/8", "172.16.0.0/12", "fd00::/8", "::1"});
  const auto client = [&](const std::string& peer, const std::vector<std::string>& lines) {
    Headers headers{{"host", "x"}};
    for (const std::string& line : lines) headers.emplace_back("x-forwarded-for", line);
    return proxies.client_of(peer, headers);
  };
  EXPECT_EQ(client("192.0.2.1", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("192.0.2.2", {"198.51.100.7"}), "192.0.2.2") << "nobody trusts it";
  EXPECT_EQ(client("192.0.2.1", {}), "192.0.2.1");
  EXPECT_EQ(client("10.9.8.7", {"203.0.113.5, 198.51.100.7"}), "198.51.100.7") << "the first may be invented";
  EXPECT_EQ(client("10.9.8.7", {"198.51.100.7 ,\t192.0.2.1"}), "198.51.100.7") << "two proxies";
  EXPECT_EQ(client("10.9.8.7", {"203.0.113.5", "198.51.100.7", "192.0.2.1"}), "198.51.100.7") << "lines are one list";
  EXPECT_EQ(client("10.9.8.7", {"10.0.0.1"}), "10.0.0.1") << "a client within the trusted network";
  EXPECT_EQ(client("172.31.255.255", {"198.51.100.7"}), "198.51.100.7");
  EXPECT_EQ(client("172.32.0.0", {"198.51.100.7"}), "172.32.0.0");
  EXPECT_EQ(client("::ffff:10.0.0.1", {"198.51.100.7"}), "198.51.100.7") << "IPv4 on a socket of IPv6";
  EXPECT_EQ(client("fdff::1%eth0", {"2001:db8::5"}), "2001:db8::5");
  EXPECT_EQ(client("::1", {"[2001:db8::5]:4711"}), "2001:db8::5") << "with a port";
  EXPECT_EQ(client("::1", {"198.51.100.7:4711"}), "198.51.100.7");
  for (const char* const no_address :
       {"unknown", "", ",", "198.51.100", "[2001:db8::5", "]", "::1%\"", "198.51.100.7 x"})
    EXPECT_EQ(client("10.0.0.1", {"203.0.113.5," + std::string(no_address)}), "10.0.0.1") << no_address;
  EXPECT_EQ(TrustedProxies().client_of("::1", {{"x-forwarded-for", "198.51.100.7"}}), "::1");
  EXPECT_EQ(TrustedProxies({"0.0.0.0/0"}).client_of("1.2.3.4", {{"x-forwarded-for", "2001:db8::5, 5.6.7.8"}}),
            "2001:db8::5");
}

TEST(TrustedProxies, OtherTextIsRefused) {
  for (const char* const text :
       {"localhost", "10.0.0.0/33", "fd00::/129", "10.0.0.1/", "10.0.0.1/-1", "10.0.0.1/8x", "", "*"})
    EXPECT_THROW(TrustedProxies({text}), Error) << text;
}

}  // namespace
}  // namespace tril::serve::trusted_proxies_test
