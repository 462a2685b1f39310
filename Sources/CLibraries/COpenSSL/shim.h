#pragma once
// RAND_METHOD and HMAC are marked deprecated since 3.0 and have no replacement that serves here.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/time.h>

// Swift imports neither function-like macros nor variadic functions: these give them a callable name.

static inline EVP_PKEY *COpenSSL_generate_P256(void) { return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256"); }

static inline int COpenSSL_CTX_set_proto_versions(SSL_CTX *context, int lowest, int highest) {
  return SSL_CTX_set_min_proto_version(context, lowest) == 1 && SSL_CTX_set_max_proto_version(context, highest) == 1;
}

static inline int COpenSSL_CTX_set_groups_list(SSL_CTX *context, const char *groups) {
  return (int)SSL_CTX_set1_groups_list(context, groups);
}

// One datagram is one call: never ask the kernel for an MTU, never resume, never renegotiate.
static inline void COpenSSL_CTX_set_datagram_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_read_ahead(context, 1);
}

static inline int COpenSSL_set_link_mtu(SSL *ssl, long mtu) { return (int)DTLS_set_link_mtu(ssl, mtu); }

static inline int COpenSSL_get_timeout(SSL *ssl, struct timeval *remaining) {
  return (int)DTLSv1_get_timeout(ssl, remaining);
}

static inline int COpenSSL_handle_timeout(SSL *ssl) { return (int)DTLSv1_handle_timeout(ssl); }

static inline void COpenSSL_BIO_retry_read(BIO *bio) {
  BIO_clear_retry_flags(bio);
  BIO_set_retry_read(bio);
}

static inline int COpenSSL_error_reason(unsigned long error) { return ERR_GET_REASON(error); }
