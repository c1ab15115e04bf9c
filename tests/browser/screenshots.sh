#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Takes the pictures that README shows, into tests/browser/screenshots: make screenshots.
. "$(dirname "$0")/browser.sh"
export LARGESSE_SCREENSHOTS=$ROOT/tests/browser/screenshots
mkdir -p "$LARGESSE_SCREENSHOTS" || exit 1
start_console world.sql demo.sql
run_in_browser showcase.mjs
