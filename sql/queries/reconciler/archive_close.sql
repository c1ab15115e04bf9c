-- SPDX-License-Identifier: Apache-2.0
close archive_rows
