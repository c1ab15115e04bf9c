// SPDX-License-Identifier: Apache-2.0
// May a request leave for this address? Judges addresses after resolution, so that no name leads into our own network.
// Pure: no I/O; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/result.h"

struct sockaddr;

// A block of addresses; IPv4 is held as ::ffff:a.b.c.d.
struct net_block {
  uint8_t bytes[16];
  int bits;
};
// "10.0.0.0/8", "fd00::/8", or an address alone. RESULT_INVALID for anything else, bits beyond the prefix included.
MUST_CHECK enum result net_block_parse(const char *text, struct net_block *out_block);

struct net_guard {
  const struct net_block *allowed;  // these pass although they are internal
  size_t allowed_count;
};
// Only addresses of the public internet pass: not loopback, private, link-local, unique-local, shared (CGNAT),
// multicast, unspecified, reserved or documentation ones, and not those that carry such an IPv4 address (mapped, 6to4,
// NAT64).
bool net_guard_allows(const struct net_guard *guard, const struct sockaddr *address);
