// Reverse proxies in front of the server: which address a request comes from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/http/http.h"

namespace tril::serve {

/// A network of addresses, as 16 bytes of IPv6: an IPv4 address is ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
struct Network {
  std::string prefix;  ///< 16 bytes
  int bits = 128;      ///< of the prefix that count
};

/// The proxies whose header X-Forwarded-For is believed. Anybody can send that header, so only these may name a client.
class TrustedProxies {
 public:
  TrustedProxies() = default;
  /// @param addresses  such as 192.0.2.1, 10.0.0.0/8, ::1 or fd00::/8
  /// @throws Error (usage) naming one that is no address
  explicit TrustedProxies(const std::vector<std::string>& addresses);

  /// The client of a request: the nearest address that is no trusted proxy. Each proxy appends the address that it was called from,
  /// so the list of X-Forwarded-For is read from its end. An entry that is no address ends it.
  /// @param peer  the address at the other end of the connection
  std::string client_of(const std::string& peer, const Headers& headers) const;

 private:
  bool trusts(std::string_view address) const;

  std::vector<Network> networks_;
};

}  // namespace tril::serve
