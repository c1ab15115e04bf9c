// SPDX-License-Identifier: Apache-2.0
// The simulator's table of routes. A static table; any thread.
#include "tests/simulator/sim.h"

#define SCRIPT_BODY_BYTES_MAX (4 * 1024 * 1024)

const struct web_routes *sim_routes(void)
{
  static const struct web_route items[] = {
      {"POST", "/credits", WEB_OPEN, WEB_BODY_JSON, 0, sim_credit_create, "credit_create"},
      {"GET", "/credits/{requestId}", WEB_OPEN, WEB_BODY_NONE, 0, sim_credit_show, "credit_show"},
      {"POST", "/credits/{requestId}/reverse", WEB_OPEN, WEB_BODY_JSON, 0, sim_credit_reverse, "credit_reverse"},
      {"GET", "/credits/{requestId}/reverse/{refundId}", WEB_OPEN, WEB_BODY_NONE, 0, sim_credit_reverse_show,
       "credit_reverse_show"},
      {"POST", "/payments", WEB_OPEN, WEB_BODY_JSON, 0, sim_payment_create, "payment_create"},
      {"GET", "/payments/{requestId}", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_show, "payment_show"},
      {"GET", "/payments/{requestId}/page", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_page, "payment_page"},
      {"POST", "/payments/{requestId}/pay", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_pay, "payment_pay"},
      {"POST", "/payments/{requestId}/fail", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_fail, "payment_fail"},
      {"POST", "/payments/{requestId}/close", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_close, "payment_close"},
      {"POST", "/payments/{requestId}/refund", WEB_OPEN, WEB_BODY_JSON, 0, sim_payment_refund, "payment_refund"},
      {"GET", "/payments/{requestId}/refund/{refundId}", WEB_OPEN, WEB_BODY_NONE, 0, sim_payment_refund_show,
       "payment_refund_show"},
      {"GET", "/sim/config", WEB_OPEN, WEB_BODY_NONE, 0, sim_control_config_show, "sim_config_show"},
      {"POST", "/sim/config", WEB_OPEN, WEB_BODY_JSON, 0, sim_control_config, "sim_config"},
      {"POST", "/sim/reset", WEB_OPEN, WEB_BODY_NONE, 0, sim_control_reset, "sim_reset"},
      {"POST", "/sim/script", WEB_OPEN, WEB_BODY_JSON, SCRIPT_BODY_BYTES_MAX, sim_control_script, "sim_script"},
      {"POST", "/sim/chaos", WEB_OPEN, WEB_BODY_JSON, 0, sim_control_chaos, "sim_chaos"},
      {"GET", "/sim/ledger", WEB_OPEN, WEB_BODY_NONE, 0, sim_report_ledger, "sim_ledger"},
      {"GET", "/sim/stats", WEB_OPEN, WEB_BODY_NONE, 0, sim_report_stats, "sim_stats"},
      {"GET", "/sim/statement.csv", WEB_OPEN, WEB_BODY_NONE, 0, sim_report_statement, "sim_statement"},
  };
  static const struct web_routes routes = {items, ARRAY_LEN(items)};
  return &routes;
}
