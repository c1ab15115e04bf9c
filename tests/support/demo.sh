# SPDX-License-Identifier: Apache-2.0
# The demonstration. Sourced (bash) by stack.sh.
demo() { start_all; print_urls; }
