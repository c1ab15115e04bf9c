// SPDX-License-Identifier: Apache-2.0
// What the web_parse*.c files share and nobody else may include.
#pragma once

#include "common/web_parse.h"

enum web_parse_line { LINE_NONE, LINE_FOUND, LINE_BROKEN };
// Finds the line that starts at pos, without its CR LF; a bare LF is broken.
enum web_parse_line web_parse_find_line(struct web_parse *p, const char *bytes, size_t len, size_t *out_line_len);
void web_parse_next_line(struct web_parse *p, size_t line_len);
enum web_parse_step web_parse_fault(struct web_parse *p, int status, const char *text);

// WEB_PARSE_HEAD: the line at pos is a header with a valid name and value.
enum web_parse_step web_parse_split_header(struct web_parse *p, const char *bytes, size_t line_len,
                                           struct web_header_line *out);

// One step in a state from WEB_AT_BODY_START to WEB_AT_TRAILER; WEB_PARSE_HEAD: go on with the next state.
enum web_parse_step web_parse_body(struct web_parse *p, char *bytes, size_t *io_len);
