# SPDX-License-Identifier: Apache-2.0
# Lengths: files over 500 lines and C functions over 120 are faults; over 300 and 60 a note.
function end_file() {
  if (lines > 500) print file ":1: " lines " lines; split it at a seam (500)"
  else if (lines > 300) print "note: " file ": " lines " lines"
}
FNR == 1 { end_file(); file = FILENAME; lines = 0; start = 0 }
{ lines = FNR }
FILENAME ~ /\.[ch]$/ && /^{$/ { start = FNR }
FILENAME ~ /\.[ch]$/ && /^}/ && start {
  long = FNR - start - 1
  if (long > 120) print FILENAME ":" start ": a function of " long " lines (120)"
  else if (long > 60) print "note: " FILENAME ":" start ": a function of " long " lines"
  start = 0
}
END { end_file() }
