#!/bin/sh
# Starts tril with the libraries of its own directory, the C library among them: those of the system may be older.
self=$(readlink -f "$0")
lib=${self%/*/*}/lib/tril

# libcurl looks for certificates where Debian has them.
if [ -z "${SSL_CERT_FILE-}${CURL_CA_BUNDLE-}" ] && [ ! -e /etc/ssl/certs/ca-certificates.crt ]; then
  for file in /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
    if [ -e "$file" ]; then
      export SSL_CERT_FILE="$file"
      break
    fi
  done
fi
exec "$lib"/ld-linux-*.so.* --library-path "$lib" "$lib/tril" "$@"
