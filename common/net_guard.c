// SPDX-License-Identifier: Apache-2.0
// May a request leave for this address: see net_guard.h.
// Pure; any thread.
#include "common/net_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "common/text.h"

#define V4_AT 12  // where an IPv4 address lies in ::ffff:0:0/96
enum { ADDRESS_BYTES = 16, V4_BITS = 96 };

static const uint8_t mapped_prefix[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

// What is not the public internet (IANA special-purpose registries). Relays of the old 6to4 are refused whole.
#define V4(a, b, c, bits)                                                    \
  {                                                                          \
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, 0}, V4_BITS + (bits) \
  }
static const struct net_block internal_v4[] = {
    V4(0, 0, 0, 8),     V4(10, 0, 0, 8),      V4(100, 64, 0, 10),  V4(127, 0, 0, 8),    V4(169, 254, 0, 16),
    V4(172, 16, 0, 12), V4(192, 0, 0, 24),    V4(192, 0, 2, 24),   V4(192, 88, 99, 24), V4(192, 168, 0, 16),
    V4(198, 18, 0, 15), V4(198, 51, 100, 24), V4(203, 0, 113, 24), V4(224, 0, 0, 4),    V4(240, 0, 0, 4),
};
static const struct net_block global_v6 = {{0x20}, 3};
static const struct net_block internal_v6[] = {
    {{0x20, 0x01, 0x00, 0x00}, 23},  // protocol assignments, Teredo among them
    {{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    {{0x3f, 0xff, 0x00}, 20},        // documentation
};
static const struct net_block six_to_four = {{0x20, 0x02}, 16};
static const struct net_block nat64 = {{0x00, 0x64, 0xff, 0x9b}, 96};

static bool is_in(const struct net_block *b, const uint8_t address[ADDRESS_BYTES])
{
  size_t whole = (size_t)b->bits / 8;
  int rest = b->bits % 8;
  if (memcmp(b->bytes, address, whole) != 0) return false;
  return rest == 0 || (b->bytes[whole] ^ address[whole]) >> (8 - rest) == 0;
}

static bool is_in_any(const struct net_block *blocks, size_t count, const uint8_t address[ADDRESS_BYTES])
{
  for (size_t i = 0; i < count; i++)
    if (is_in(&blocks[i], address)) return true;
  return false;
}

static void map_v4(const void *v4, uint8_t out[ADDRESS_BYTES])
{
  memcpy(out, mapped_prefix, V4_AT);
  memcpy(out + V4_AT, v4, 4);
}

// The bytes that decide: an IPv6 address that only carries an IPv4 one is that one.
static void unwrap(const uint8_t address[ADDRESS_BYTES], uint8_t out[ADDRESS_BYTES])
{
  if (is_in(&six_to_four, address))
    map_v4(address + 2, out);
  else if (is_in(&nat64, address))
    map_v4(address + V4_AT, out);
  else
    memcpy(out, address, ADDRESS_BYTES);
}

static bool is_public(const uint8_t address[ADDRESS_BYTES])
{
  if (memcmp(address, mapped_prefix, V4_AT) == 0) return !is_in_any(internal_v4, ARRAY_LEN(internal_v4), address);
  return is_in(&global_v6, address) && !is_in_any(internal_v6, ARRAY_LEN(internal_v6), address);
}

bool net_guard_allows(const struct net_guard *guard, const struct sockaddr *address)
{
  uint8_t given[ADDRESS_BYTES], bytes[ADDRESS_BYTES];
  if (address->sa_family == AF_INET)
    map_v4(&((const struct sockaddr_in *)(const void *)address)->sin_addr, given);
  else if (address->sa_family == AF_INET6)
    memcpy(given, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, ADDRESS_BYTES);
  else
    return false;
  unwrap(given, bytes);
  return is_public(bytes) || is_in_any(guard->allowed, guard->allowed_count, given) ||
         is_in_any(guard->allowed, guard->allowed_count, bytes);
}

static bool has_bits_beyond(const struct net_block *b)
{
  for (int i = b->bits; i < 8 * ADDRESS_BYTES; i++)
    if (b->bytes[i / 8] & (0x80 >> (i % 8))) return true;
  return false;
}

enum result net_block_parse(const char *text, struct net_block *out_block)
{
  char host[INET6_ADDRSTRLEN];
  size_t host_len = strcspn(text, "/");
  struct net_block b = {.bits = 8 * ADDRESS_BYTES};
  struct in_addr v4;
  if (host_len >= sizeof host) return RESULT_INVALID;
  memcpy(host, text, host_len);
  host[host_len] = '\0';
  bool is_v4 = inet_pton(AF_INET, host, &v4) == 1;
  if (is_v4)
    map_v4(&v4, b.bytes);
  else if (inet_pton(AF_INET6, host, b.bytes) != 1)
    return RESULT_INVALID;
  if (text[host_len] == '/') {
    int64_t bits = -1;
    const char *digits = text + host_len + 1;
    if (text_to_i64(digits, strlen(digits), &bits) != RESULT_OK || bits < 0 || bits > (is_v4 ? 32 : 128))
      return RESULT_INVALID;
    b.bits = (int)bits + (is_v4 ? V4_BITS : 0);
  }
  if (has_bits_beyond(&b)) return RESULT_INVALID;
  *out_block = b;
  return RESULT_OK;
}
