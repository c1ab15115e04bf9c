// SPDX-License-Identifier: Apache-2.0
// What papers of several documents have in common: reading members by JSON pointer, money, providers, times.
// Pure; any thread.
#pragma once

#include <jansson.h>

#include "reconciler/paper.h"

const char *paper_doc_text(const json_t *doc, const char *pointer);  // NULL: not there
int64_t paper_doc_number(const json_t *doc, const char *pointer);    // 0: not there
int64_t paper_doc_millis(const json_t *doc, const char *pointer);    // -1: not there
double paper_doc_real(const json_t *doc, const char *pointer);       // NAN: not there
int64_t paper_doc_sum(const json_t *object);                         // of all members

// A row of two cells, of tables of tiles.
void paper_doc_tile(struct paper *p, const char *name, int64_t number);
void paper_doc_tile_if(struct paper *p, const char *name, int64_t number);  // nothing: no tile
void paper_doc_tile_millis(struct paper *p, const char *name, int64_t ms);  // -1: no tile

void paper_doc_add_money(struct paper *p, const json_t *money, const json_t *net);  // both may be NULL
void paper_doc_add_providers(struct paper *p, const json_t *providers);
void paper_doc_add_counts(struct paper *p, const struct paper_table *table, const json_t *object);
