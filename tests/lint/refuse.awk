# SPDX-License-Identifier: Apache-2.0
# Prints FILE:LINE: message for each line of C that matches `pattern` outside comments and strings.
FNR == 1 { inside = 0 }
{
  line = $0
  code = ""
  while (length(line)) {
    if (inside) {
      end = index(line, "*/")
      if (!end) { line = ""; break }
      line = substr(line, end + 2)
      inside = 0
    } else if (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\/.*|\/\*/)) {
      code = code substr(line, 1, RSTART - 1)
      token = substr(line, RSTART, RLENGTH)
      line = substr(line, RSTART + RLENGTH)
      if (token == "/*") inside = 1
      else if (token ~ /^["']/) code = code "\"\""
    } else {
      code = code line
      line = ""
    }
  }
  if (code ~ pattern) {
    match(code, pattern)
    found = substr(code, RSTART, RLENGTH)
    gsub(/^[^_A-Za-z]+|[^_A-Za-z0-9]+$/, "", found)
    print FILENAME ":" FNR ": " found ": " message
  }
}
