# SPDX-License-Identifier: Apache-2.0
# Turns .sql files into C, so that they can be read and tried in psql and still travel inside the binary.
#   awk -v form=statements -f sql/embed.awk sql/queries/scheduler/*.sql   -> static const struct db_statement SQL_<NAME>
#   awk -v form=files      -f sql/embed.awk sql/schema/*.sql ...          -> rows {"schema/0001_base.sql", "..."},
function base(path) { sub(/^.*\//, "", path); sub(/\.sql$/, "", path); return path }
function close_file() {
  if (!open) return
  print (form == "statements") ? "};\n" : "},"
  open = 0
}
FNR == 1 {
  close_file()
  if (form == "statements") {
    name = base(FILENAME)
    printf "UNUSED static const struct db_statement SQL_%s = {\n  \"%s\",\n", toupper(name), name
  } else {
    path = FILENAME
    sub(/^.*sql\//, "", path)
    printf "{\"%s\",\n", path
  }
  open = 1
}
{
  line = $0
  gsub(/\\/, "\\\\\\\\", line)  # twice: once for awk, once for gsub
  gsub(/"/, "\\\"", line)
  printf "  \"%s\\n\"\n", line
}
END { close_file() }
