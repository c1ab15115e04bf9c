-- SPDX-License-Identifier: Apache-2.0
fetch forward 500 from archive_rows
