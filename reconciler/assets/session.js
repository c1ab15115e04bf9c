// SPDX-License-Identifier: Apache-2.0
// Who is signed in and what they may do. The server decides; what is hidden or greyed here only saves a refusal.
import {call, setToken} from './api.js';
import {t, word} from './i18n.js';

const state = {who: null};

function hear(who) {
  state.who = who;
  setToken(who?.csrf);
  return who;
}

export const who = () => state.who;
export const forget = () => hear(null);
export async function load() {
  try {
    return hear(await call('v1/session'));
  } catch (error) {
    if (error.status === 401) return hear(null);
    throw error;
  }
}
export const signIn = async (key) => hear(await call('v1/session', {method: 'POST', body: {key}}));
export async function signOut() {
  await call('v1/session', {method: 'DELETE'});
  hear(null);
}
export const isAnonymous = () => state.who?.name === 'anonymous' && state.who?.csrf === '';

// Any one of these scopes, or admin.
export const may = (...scopes) => (state.who?.scopes ?? []).some((scope) => scope === 'admin' || scopes.includes(scope));
export const whyNot = (...scopes) =>
  t('Your role is {role}; this needs the right “{scope}”.', {
    role: word('role', state.who?.role ?? 'none'),
    scope: scopes.map((scope) => word('scope', scope)).join(', '),
  });
