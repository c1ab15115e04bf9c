#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What people do in the console, from signing in to signing out.
. "$(dirname "$0")/browser.sh"
export LARGESSE_RECONCILER__FIGURES_EVERY=100ms
start_console world.sql
run_in_browser flows.mjs
