// SPDX-License-Identifier: Apache-2.0
// Answers to callbacks: nothing for most, {"code","message"} for WeChat Pay, a word for Alipay. Loop thread.
#include "fulfiller/callback_reply.h"

#include <string.h>

#define RETRY_AFTER_S 1

void callback_reply_taken(struct web_request *req, enum callback_scheme scheme)
{
  if (scheme == CALLBACK_ALIPAY)
    web_reply(req, 200, "text/plain", "success", strlen("success"));  // exactly these seven bytes
  else
    web_reply_empty(req, 204);
}

static const char *code_of(int status)
{
  switch (status) {
    case 400: return "INVALID_REQUEST";
    case 401: return "UNAUTHENTICATED";
    case 415: return "UNSUPPORTED_MEDIA_TYPE";
    default: return "UNAVAILABLE";
  }
}

void callback_reply_not_taken(struct web_request *req, enum callback_scheme scheme, int status, const char *detail)
{
  if (scheme != CALLBACK_WECHATPAY_V3 && scheme != CALLBACK_ALIPAY) {
    web_reply_problem(req, &(struct web_problem){.code = code_of(status),
                                                 .status = status,
                                                 .detail = detail,
                                                 .retry_after_s = status == 503 ? RETRY_AFTER_S : 0});
    return;
  }
  if (status == 503) web_reply_header(req, "Retry-After", "1");
  if (scheme == CALLBACK_ALIPAY) {
    web_reply(req, status, "text/plain", "failure", strlen("failure"));
    return;
  }
  struct buf body;
  buf_init(&body, 1024);
  buf_puts(&body, "{\"code\":\"FAIL\",\"message\":");
  buf_put_json(&body, detail, strlen(detail));
  buf_putc(&body, '}');
  web_reply_json(req, status, buf_text(&body), body.len);
  buf_release(&body);
}
