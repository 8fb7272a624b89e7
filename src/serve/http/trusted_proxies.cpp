#include "serve/http/trusted_proxies.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/as_size.h"
#include "base/error.h"
#include "base/printable.h"
#include "unicode/trim.h"

namespace tril::serve {
namespace {

constexpr int ipv4_bits = 32, ipv6_bits = 128;

struct Address {
  std::string bytes;  // 16
  bool is_ipv4;
};

std::optional<Address> address_of(std::string_view text) {
  const std::string terminated(text);
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1)
    return Address{.bytes = {bytes.data(), bytes.size()}, .is_ipv4 = false};
  bytes[10] = bytes[11] = '\xff';
  if (inet_pton(AF_INET, terminated.c_str(), &bytes[12]) == 1)
    return Address{.bytes = {bytes.data(), bytes.size()}, .is_ipv4 = true};
  return std::nullopt;
}

std::optional<Network> network_of(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::optional<Address> address = address_of(text.substr(0, slash));
  if (!address) return std::nullopt;
  const int most = address->is_ipv4 ? ipv4_bits : ipv6_bits;
  int bits = most;
  if (slash != text.npos) {
    const std::string_view number = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bits);
    if (error != std::errc() || end != number.data() + number.size() || bits < 0 || bits > most) return std::nullopt;
  }
  return Network{.prefix = address->bytes, .bits = bits + ipv6_bits - most};
}

bool is_in(const Network& network, std::string_view bytes) {
  const std::size_t whole = as_size(network.bits / 8);
  if (bytes.substr(0, whole) != std::string_view(network.prefix).substr(0, whole)) return false;
  const int rest = network.bits % 8;
  return rest == 0 || ((bytes[whole] ^ network.prefix[whole]) & 0xff) >> (8 - rest) == 0;
}

// An entry without its port: "192.0.2.1:4711", "[2001:db8::1]:4711".
std::string_view without_port(std::string_view entry) {
  if (const std::size_t end = entry.find(']'); entry.starts_with('[') && end != entry.npos)
    return entry.substr(1, end - 1);
  const std::size_t colon = entry.find(':');
  return colon != entry.npos && entry.find(':', colon + 1) == entry.npos ? entry.substr(0, colon) : entry;
}

}  // namespace

TrustedProxies::TrustedProxies(const std::vector<std::string>& addresses) {
  for (const std::string& text : addresses) {
    std::optional<Network> network = network_of(text);
    if (!network)
      fail_usage("trusted_proxies", "expected an address or a network, got \"" + printable(text, 80) + "\"",
                 "for example 127.0.0.1, 10.0.0.0/8 or fd00::/8");
    networks_.push_back(*std::move(network));
  }
}

bool TrustedProxies::trusts(std::string_view address) const {
  const std::optional<Address> parsed = address_of(address.substr(0, address.find('%')));  // "fe80::1%eth0"
  return parsed && std::any_of(networks_.begin(), networks_.end(),
                               [&](const Network& network) { return is_in(network, parsed->bytes); });
}

std::string TrustedProxies::client_of(const std::string& peer, const Headers& headers) const {
  std::string client = peer;
  if (networks_.empty()) return client;
  for (auto header = headers.rbegin(); header != headers.rend(); ++header) {
    if (header->first != "x-forwarded-for") continue;
    std::string_view rest = header->second;
    for (bool more = true; more;) {
      if (!trusts(client)) return client;
      const std::size_t comma = rest.rfind(',');
      const std::string_view entry = without_port(trim(comma == rest.npos ? rest : rest.substr(comma + 1)));
      if (!address_of(entry)) return client;
      client = entry;
      more = comma != rest.npos;
      rest = rest.substr(0, more ? comma : 0);
    }
  }
  return client;
}

}  // namespace tril::serve
