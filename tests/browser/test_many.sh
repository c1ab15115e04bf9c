#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The console at a hundred thousand dead letters.
. "$(dirname "$0")/browser.sh"
start_console world.sql
run_in_browser many.mjs
