// SPDX-License-Identifier: Apache-2.0
// Which users, bizIds and numbers a batch holds, as hashes: a false "yes" only makes a request wait for the next batch.
// Owner: a batch.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_set {
  uint64_t *slots;  // 0: empty
  size_t mask, count;
};

void key_set_init(struct key_set *s, size_t keys_max);  // room for so many keys at half load
void key_set_release(struct key_set *s);
void key_set_clear(struct key_set *s);
bool key_set_has(const struct key_set *s, uint64_t key);
bool key_set_has_room(const struct key_set *s, size_t keys);
bool key_set_add(struct key_set *s, uint64_t key);  // false: it was there, or the set is full

uint64_t key_of_user(int64_t user_id);
uint64_t key_of_biz_id(const char *bytes, size_t len);
uint64_t key_of_number(int64_t number);
