#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every page of the console with a festival's data: in light and dark, on a phone, in Chinese; without faults that axe-core
# knows. Keeps a picture of each in build/<variant>/screenshots.
. "$(dirname "$0")/browser.sh"
start_console world.sql demo.sql
run_in_browser pages.mjs
