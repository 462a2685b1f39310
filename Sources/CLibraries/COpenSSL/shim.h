#pragma once
// RAND_METHOD, HMAC, SHA1_* and EC_KEY are marked deprecated since 3.0, and have no replacement that serves here: the new
// ones allocate for every use.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

// Swift imports neither function-like macros nor variadic functions: these give them a callable name.

// As an EC_KEY: X509_set_pubkey would print and parse a key of a provider, which costs more than to make it.
static inline EVP_PKEY *COpenSSL_generate_P256(void) {
  EC_KEY *key = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
  EVP_PKEY *made = EVP_PKEY_new();
  if (key != NULL && made != NULL && EC_KEY_generate_key(key) == 1 && EVP_PKEY_assign_EC_KEY(made, key) == 1)
    return made;
  EC_KEY_free(key);
  EVP_PKEY_free(made);
  return NULL;
}

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

// Every connection is a whole handshake: no session is kept, no ticket given.
static inline void COpenSSL_CTX_set_stream_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
}

static inline void COpenSSL_CTX_set_alpn_select(
    SSL_CTX *context,
    int (*select)(SSL *, const unsigned char **, unsigned char *, const unsigned char *, unsigned int, void *)) {
  SSL_CTX_set_alpn_select_cb(context, select, NULL);
}

static inline int COpenSSL_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int COpenSSL_CTX_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// Extensions of an X.509 certificate as openssl.cnf writes them: `DNS:turn.test,IP:192.0.2.1`.
static inline int COpenSSL_add_extension(X509 *certificate, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  if (extension == NULL) return 0;
  int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}
