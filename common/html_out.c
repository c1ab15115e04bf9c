// SPDX-License-Identifier: Apache-2.0
// Text inside HTML: content of elements and of quoted attributes.
// Pure; any thread.
#include "common/html_out.h"

void html_put_text(struct buf *out, const char *text)
{
  for (; *text != '\0'; text++) {
    switch (*text) {
      case '<': buf_puts(out, "&lt;"); break;
      case '>': buf_puts(out, "&gt;"); break;
      case '&': buf_puts(out, "&amp;"); break;
      case '"': buf_puts(out, "&quot;"); break;
      case '\'': buf_puts(out, "&#39;"); break;
      default: buf_putc(out, *text);
    }
  }
}
