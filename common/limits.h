// SPDX-License-Identifier: Apache-2.0
// Every fixed cap of the suite in one place. What an operator may want to change is configuration instead.
#pragma once

#define WEB_HEADER_BYTES_MAX  (16 * 1024)  // request line and headers together
#define WEB_HEADERS_MAX       64
#define WEB_URI_BYTES_MAX     4096
#define WEB_PATH_PARAMS_MAX   4
#define WEB_QUERY_PARAMS_MAX  16
#define WEB_REPLY_HEADERS_MAX 12
#define WEB_REPLY_BYTES_MAX   (64 * 1024 * 1024)
#define REASON_CHARS_MAX      500  // why somebody does something
#define WEB_ROUTES_MAX        128
#define WEB_LARGE_BODIES_MAX  4  // requests that may have a body over body_max, as their routes allow, at one time

#define JSON_DEPTH_MAX 32
#define JSON_BYTES_MAX (16 * 1024 * 1024)

#define CONF_FILE_BYTES_MAX   (1024 * 1024)
#define CONF_KEYS_MAX         512
#define CONF_LIST_ITEMS_MAX   64
#define CONF_SECRET_BYTES_MAX (64 * 1024)

#define LOG_LINE_BYTES_MAX   8192
#define LOG_BUFFER_BYTES_MAX (4 * 1024 * 1024)
#define LOG_FIELD_BYTES_MAX  1024

#define METRIC_SERIES_MAX     4096  // per metric; the rest is counted in one series "other"
#define METRIC_PAGE_BYTES_MAX (8 * 1024 * 1024)

#define DB_ARGS_MAX       32
#define DB_ARGS_BYTES_MAX (64 * 1024 * 1024)
#define DB_STATEMENTS_MAX 128

#define MQ_BODY_BYTES_MAX (1024 * 1024)
#define MQ_HEADERS_MAX    16

#define HTTP_CALL_HEADERS_MAX 32

#define BIZ_ID_BYTES_MAX     64
#define CODE_BYTES_MAX       64
#define NAME_CHARS_MAX       128
#define CLAIM_BATCH_ROWS_MAX 1024
#define CHANNEL_CHARS_MAX    64
#define STOCK_UNITS_MAX      INT64_C(1000000000000)  // largest total of an activity
#define NUMBER_MAX           INT64_C(999999999999)   // largest number of a number activity
#define POINTS_GRANT_MAX     INT64_C(1000000000000)  // of one grant of points
#define MESSAGE_CLAIMS_MAX   100                     // claims in one message of a lane
#define PRICE_MAX            INT64_C(1000000000000)  // of one unit, in minor units
#define POINTS_MAX           INT64_C(1000000000)     // of one unit
