// SPDX-License-Identifier: Apache-2.0
// A configuration with webhook endpoints for a test: the simulator as provider, secrets in files of their own.
#pragma once

// The text follows `fulfiller:`; "$PORT", "$DIR" and "$PROVIDER" in it become the receiver's port, the folder of the
// secrets, and the block of the provider `simulator`. Returns the path of the file; heap.
char *hook_config_write(const char *name, const char *text, int port);
// Writes a file of that folder, readable by its owner only.
void hook_config_secret(const char *name, const char *content);
