// SPDX-License-Identifier: Apache-2.0
// The keys of one statement profile. For config.c only.
#pragma once

#include "reconciler/statement_config.h"

#define STATEMENT_AT(member) offsetof(struct statement_conf, member)
#define STATEMENT_SECOND     INT64_C(1000000)
#define STATEMENT_DAY        (86400 * STATEMENT_SECOND)
#define STATEMENT_KINDS      "by_request_id|credit|reverse|payment|refund|ignored"

// clang-format off
#define STATEMENT_CONF_KEYS \
  {"format", CONF_CHOICE, STATEMENT_AT(format), "csv", 0, 0, 0, "csv|json|jsonl", NULL, "csv; json: an array of objects; jsonl: an object in each line"}, \
  {"items", CONF_TEXT, STATEMENT_AT(items), "", 0, 256, 0, NULL, NULL, "json: pointer to the array; empty: the document is the array"}, \
  {"delimiter", CONF_TEXT, STATEMENT_AT(delimiter), ",", 0, 8, 0, NULL, NULL, "csv: one character between columns, or `tab`"}, \
  {"encoding", CONF_TEXT, STATEMENT_AT(encoding), "utf-8", 0, 32, 0, NULL, NULL, "of the file, by its name in iconv: utf-8, utf-16 (with a byte order mark), utf-16le, gb18030, latin1, windows-1252; bytes that are none refuse the file"}, \
  {"header", CONF_BOOL, STATEMENT_AT(header), "true", 0, 0, 0, NULL, NULL, "csv: the first row names the columns"}, \
  {"skip_lines", CONF_INT, STATEMENT_AT(skip_lines), "0", 0, 1000, 0, NULL, NULL, "csv: lines before the header, or before the first row, that say something else"}, \
  {"footer_rows", CONF_INT, STATEMENT_AT(footer_rows), "0", 0, 8, 0, NULL, NULL, "csv: rows at the end that are no movements"}, \
  {"comment", CONF_TEXT, STATEMENT_AT(comment), "", 0, 8, 0, NULL, NULL, "csv: rows that begin with this are passed over"}, \
  {"strip", CONF_TEXT, STATEMENT_AT(strip), "", 0, 8, 0, NULL, NULL, "characters that stand before values and are no part of them, such as `"}, \
  {"columns.request_id", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_REQUEST_ID]), NULL, 0, 128, 0, NULL, NULL, "where our request id is: the name of a column, its number from 1, or a JSON pointer"}, \
  {"columns.user", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_USER]), NULL, 0, 128, 0, NULL, NULL, "our user id"}, \
  {"columns.type", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_TYPE]), NULL, 0, 128, 0, NULL, NULL, "what kind of movement it is, a word of `types`"}, \
  {"columns.status", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_STATUS]), NULL, 0, 128, 0, NULL, NULL, "what became of it, a word of `statuses`; left out: all are done"}, \
  {"columns.amount", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_AMOUNT]), NULL, 0, 128, 0, NULL, NULL, "the amount; left out: amounts are not compared"}, \
  {"columns.currency", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_CURRENCY]), NULL, 0, 128, 0, NULL, NULL, "its currency"}, \
  {"columns.at", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_AT]), NULL, 0, 128, 0, NULL, NULL, "when it was"}, \
  {"columns.ref", CONF_TEXT, STATEMENT_AT(columns[STATEMENT_REF]), NULL, 0, 128, 0, NULL, NULL, "the provider's own id of the movement; the same one twice is a duplicate"}, \
  {"decimal", CONF_TEXT, STATEMENT_AT(decimal), ".", 0, 1, 0, NULL, NULL, "decimal sign of amounts, . or ,"}, \
  {"grouping", CONF_TEXT, STATEMENT_AT(grouping), "", 0, 4, 0, NULL, NULL, "sign between groups of digits; empty: there is none, and one refuses the file"}, \
  {"unit", CONF_CHOICE, STATEMENT_AT(unit), "minor", 0, 0, 0, "minor|major", NULL, "minor: whole numbers of minor units; major: decimal numbers, with the places of their currency at most"}, \
  {"currency", CONF_TEXT, STATEMENT_AT(currency), NULL, 0, 3, 0, NULL, NULL, "of all amounts, where no column says it"}, \
  {"time_zone", CONF_TEXT, STATEMENT_AT(time_zone), "UTC", 0, 64, 0, NULL, NULL, "IANA zone of the statement's dates, and of times that name none"}, \
  {"time_format", CONF_TEXT, STATEMENT_AT(time_format), "rfc3339", 0, 64, 0, NULL, NULL, "rfc3339, unix, unix_ms, or as strptime reads it: %Y-%m-%d %H:%M:%S; fractions of a second may follow"}, \
  {"types", CONF_PAIRS, STATEMENT_AT(types), NULL, 0, 0, 0, NULL, NULL, "words of the type column: credit, reverse, payment, refund or ignored; `*`: all others; a word that is not here refuses the file"}, \
  {"statuses", CONF_PAIRS, STATEMENT_AT(statuses), NULL, 0, 0, 0, NULL, NULL, "words of the status column: done, pending, failed or ignored; `*`: all others; a word that is not here refuses the file"}, \
  {"positive", CONF_CHOICE, STATEMENT_AT(positive), "by_request_id", 0, 0, 0, STATEMENT_KINDS, NULL, "without a type column: what amounts above zero are"}, \
  {"negative", CONF_CHOICE, STATEMENT_AT(negative), "by_request_id", 0, 0, 0, STATEMENT_KINDS, NULL, "without a type column: what amounts below zero are"}, \
  {"covers", CONF_TEXTS, STATEMENT_AT(covers), "[credit, reverse, payment, refund]", 0, 16, 0, NULL, NULL, "kinds that the statement has, so that they can be missing in it"}, \
  {"fallback", CONF_TEXTS, STATEMENT_AT(fallback), NULL, 0, 32, 0, NULL, NULL, "how lines without our request id are matched, in this order: reference (the provider's id that we were told), user_amount_date"}, \
  {"shared_with", CONF_TEXTS, STATEMENT_AT(shared_with), NULL, 0, 64, 0, NULL, NULL, "other providers of ours whose movements stand in the same file; what is about their claims is ignored here, and judged by their own statements"}, \
  {"grace", CONF_SPAN, STATEMENT_AT(grace), "1h", 0, 31 * STATEMENT_DAY, 0, NULL, NULL, "what was done this near to the end of a statement may stand in the next one; until then it is not yet due"}, \
  {"trailer.row", CONF_INT, STATEMENT_AT(trailer.row), "1", 1, 8, 0, NULL, NULL, "which of the footer rows has the totals"}, \
  {"trailer.count", CONF_INT, STATEMENT_AT(trailer.count), "0", 0, 128, 0, NULL, NULL, "its column with the number of rows, from 1; 0: not checked"}, \
  {"trailer.total", CONF_INT, STATEMENT_AT(trailer.total), "0", 0, 128, 0, NULL, NULL, "its column with the sum of the amounts as they stand; 0: not checked"}, \
  {"fetch.url", CONF_TEXT, STATEMENT_AT(fetch.url), NULL, 0, 2048, 0, NULL, NULL, "address to fetch a date's statement from, with ${date} (2026-11-29) or ${date_compact} (20261129); left out: it is imported by hand"}, \
  {"fetch.headers", CONF_PAIRS, STATEMENT_AT(fetch.headers), NULL, 0, 0, 0, NULL, NULL, "headers of that request, with ${secret}"}, \
  {"fetch.secret", CONF_TEXT, STATEMENT_AT(fetch.secret), "", 0, 4096, 0, NULL, NULL, "file with the credential for ${secret}; not readable by others"}, \
  {"fetch.at", CONF_TEXT, STATEMENT_AT(fetch.at), "01:00", 0, 5, 0, NULL, NULL, "local time of the next day, in the profile's zone, from which it can be had"}, \
  {"fetch.total_timeout", CONF_SPAN, STATEMENT_AT(fetch.total_timeout), "2m", 100000, 3600 * STATEMENT_SECOND, 0, NULL, NULL, "a fetch is given up after this"}, \
  {"fetch.retry_every", CONF_SPAN, STATEMENT_AT(fetch.retry_every), "15m", 100000, STATEMENT_DAY, 0, NULL, NULL, "after a failed one"}, \
  {"fetch.catch_up", CONF_INT, STATEMENT_AT(fetch.catch_up), "7", 1, 366, 0, NULL, NULL, "days that are looked back for when some were missed"}
// clang-format on
