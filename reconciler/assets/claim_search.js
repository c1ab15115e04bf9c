// SPDX-License-Identifier: Apache-2.0
// What somebody types to find a claim, as an address: 683000001-17 is a claim's id, digits a user's, anything with a slash an
// activity's code and a bizId.
import {to} from './router.js';

export function claimAddress(text) {
  if (/^[0-9]+-[0-9]+(-[pfr])?$/.test(text)) return to('claims', text.replace(/-[pfr]$/, ''));
  if (/^[0-9]+$/.test(text)) return to('claims', {user: text});
  const slash = text.indexOf('/');
  if (slash > 0) return to('claims', text.slice(0, slash), text.slice(slash + 1));
  return to('claims', {q: text});
}
