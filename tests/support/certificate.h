// A certificate for a server of the tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>
#include <string>

#include "serve/http/http_server.h"

namespace tril::serve::testing {

/// Frees what a C library made.
template <auto F>
struct Free {
  template <class T>
  void operator()(T* p) const {
    F(p);
  }
};

/// Options with a key and its certificate, which is signed by the key itself; both are written into the folder.
inline HttpServerOptions with_certificate(const std::string& directory) {
  using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
  using Certificate = std::unique_ptr<X509, Free<X509_free>>;
  using File = std::unique_ptr<std::FILE, Free<std::fclose>>;
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  X509_set_pubkey(certificate.get(), key.get());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  HttpServerOptions o{.certificate_file = directory + "/certificate.pem", .key_file = directory + "/key.pem"};
  PEM_write_X509(File(std::fopen(o.certificate_file.c_str(), "w")).get(), certificate.get());
  PEM_write_PrivateKey(File(std::fopen(o.key_file.c_str(), "w")).get(), key.get(), nullptr, nullptr, 0, nullptr,
                       nullptr);
  return o;
}

}  // namespace tril::serve::testing
