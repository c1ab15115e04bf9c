// SPDX-License-Identifier: Apache-2.0
// The keys that a server knows by their SHA-256, and some that it knows not to be any. Bounded. Pure: the caller says
// what time it is. Owner: the caller; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/compiler.h"
#include "common/result.h"

#define KEY_HASH_BYTES   32
#define KEY_NAME_BYTES   65
#define KEY_RING_MAX     1024  // the database holds fewer
#define KEY_REFUSED_MAX  256   // strangers that are remembered; of more the oldest is forgotten
#define KEY_CHARS        46    // "lg_" and 43 characters of base64url
#define KEY_SECRET_CHARS 43

struct key_entry {
  uint8_t hash[KEY_HASH_BYTES];
  int64_t id;
  unsigned scopes;
  bool has_end;
  struct mono_time ends;
  struct wall_time until;  // the same for people; 0: it has no end
  bool is_used;            // since the caller asked last
  char name[KEY_NAME_BYTES];
};

struct key_ring;
struct key_ring *key_ring_new(void);
void key_ring_free(struct key_ring *r);
void key_ring_clear(struct key_ring *r);  // before all keys are given anew; strangers may have become known
// RESULT_FULL: the rest is not known then.
MUST_CHECK enum result key_ring_add(struct key_ring *r, const struct key_entry *entry);
void key_ring_ready(struct key_ring *r);  // all are added
size_t key_ring_count(const struct key_ring *r);
// NULL: no such key, or it has ended. It counts as used.
const struct key_entry *key_ring_find(struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES], struct mono_time now);
// The next one that was used since it was asked for; false: there are no more.
bool key_ring_take_used(struct key_ring *r, int64_t *out_id);
void key_ring_refuse(struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES]);
bool key_ring_is_refused(const struct key_ring *r, const uint8_t hash[KEY_HASH_BYTES]);

// Whether this can be a key at all.
bool key_has_shape(const char *text, size_t len);
// 43 characters of base64url: 256 bits.
bool key_is_secret(const char *text, size_t len);
// The text of 256 bits. 44 bytes with NUL.
void key_secret_text(const uint8_t bytes[KEY_HASH_BYTES], char out_text[KEY_SECRET_CHARS + 1]);
