// SPDX-License-Identifier: Apache-2.0
// Files of lines, compressed with gzip, written and read as a stream. The only user of zlib.h.
// Owner: the caller; blocking, one thread per file.
#pragma once

#include "common/buf.h"
#include "common/result.h"

#define GZIP_WHY_BYTES 256

struct gzip_writer;
// Creates the file, which must not exist. RESULT_UNAVAILABLE with the reason otherwise.
MUST_CHECK enum result gzip_writer_open(const char *path, struct gzip_writer **out_writer,
                                        char out_why[GZIP_WHY_BYTES]);
// Faults of writing are remembered and told at the end.
void gzip_writer_put(struct gzip_writer *w, const void *bytes, size_t len);
// Everything is on the disk. The writer is gone, also after a failure.
MUST_CHECK enum result gzip_writer_end(struct gzip_writer *w, char out_why[GZIP_WHY_BYTES]);
// Without an end; the file is left as it is. NULL is allowed.
void gzip_writer_free(struct gzip_writer *w);

struct gzip_reader;
// RESULT_UNAVAILABLE: it cannot be opened.
MUST_CHECK enum result gzip_reader_open(const char *path, struct gzip_reader **out_reader,
                                        char out_why[GZIP_WHY_BYTES]);
// Replaces line by the next one, without its line end. RESULT_NOT_FOUND: there is none, and the file is whole;
// RESULT_INVALID: it is no gzip file, damaged, cut, or its last line has no end; RESULT_TOO_BIG: line has no room.
MUST_CHECK enum result gzip_reader_line(struct gzip_reader *r, struct buf *line, char out_why[GZIP_WHY_BYTES]);
void gzip_reader_free(struct gzip_reader *r);  // NULL is allowed
