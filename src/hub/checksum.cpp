#include "hub/checksum.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/error.h"

namespace tril::hub {

struct Checksum::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

namespace {

// A system's OpenSSL may have SHA-1 switched off.
void check_sum(bool ok) {
  if (!ok)
    fail("OpenSSL", "cannot compute the checksum of a file", "check the settings of OpenSSL (FIPS mode has no SHA-1)");
}

}  // namespace

Checksum::Checksum(SumKind kind, std::uint64_t size) : state_(std::make_unique<State>()) {
  check_sum(state_->context &&
            EVP_DigestInit_ex(state_->context, kind == SumKind::git ? EVP_sha1() : EVP_sha256(), nullptr) == 1);
  if (kind == SumKind::sha256) return;
  const std::string head = fmt::format("blob {}", size);
  add(std::as_bytes(std::span(head.c_str(), head.size() + 1)));
}

Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

void Checksum::add(std::span<const std::byte> bytes) {
  check_sum(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

std::string Checksum::digits() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned int size = 0;
  check_sum(EVP_DigestFinal_ex(state_->context, sum.data(), &size) == 1);
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", sum[i]);
  return text;
}

}  // namespace tril::hub
