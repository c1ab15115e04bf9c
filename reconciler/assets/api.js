// SPDX-License-Identifier: Apache-2.0
// Calls to the reconciler: JSON in and out, the session's token, faults as one kind of error.
import {language, t} from './i18n.js';

const state = {csrf: null, offset: 0};  // null: nobody is signed in

const SESSION = 'v1/session';

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? String(status));
    this.status = status;
    this.code = problem.code ?? '';
    this.title = problem.title ?? '';
    this.detail = problem.detail ?? '';
    this.problem = problem;
  }
}

export const setToken = (csrf) => {
  state.csrf = csrf ?? null;
};

// The database's clock, as far as this browser knows it.
export const serverNow = () => Date.now() + state.offset;
export const hearServerTime = (text) => {
  const at = Date.parse(text);
  if (Number.isFinite(at)) state.offset = at - Date.now();
};

async function problemOf(response) {
  const type = response.headers.get('Content-Type') ?? '';
  if (type.includes('json')) {
    try {
      return await response.json();
    } catch {
      /* what it says is not JSON: tell the status */
    }
  }
  return {title: t('The server answered {status}', {status: response.status})};
}

export const path = (parts, query) => {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given).toString();
  return (
    parts.map((part, i) => (i === 0 ? part : encodeURIComponent(part).replaceAll('%3A', ':'))).join('/') + (text === '' ? '' : `?${text}`)
  );
};

// options: method, body (an object: JSON; a string or file: as it is, with type), headers, signal. The answer's JSON; with
// whole: {status, headers, body}.
export async function call(url, options = {}) {
  const {method = options.body === undefined ? 'GET' : 'POST', body, type, headers = {}, signal, whole = false} = options;
  const init = {
    method,
    signal,
    credentials: 'same-origin',
    cache: 'no-store',
    headers: {Accept: 'application/json', 'Accept-Language': language(), ...headers},
  };
  if (method !== 'GET' && state.csrf === null && url !== SESSION)
    // Heard of by another call, while a dialog was open.
    throw new ApiError(401, {title: t('The session has ended'), detail: t('Nothing was done. Close this and sign in again.')});
  if (method !== 'GET' && state.csrf) init.headers['X-CSRF-Token'] = state.csrf;
  if (body !== undefined) {
    init.headers['Content-Type'] = type ?? 'application/json';
    init.body = type === undefined ? JSON.stringify(body) : body;
  }
  let response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError(0, {title: t('The reconciler cannot be reached'), detail: t('It may be restarting. What is shown may be old.')});
  }
  if (!response.ok) {
    const error = new ApiError(response.status, await problemOf(response));
    if (response.status === 401) document.dispatchEvent(new CustomEvent('signed-out'));
    throw error;
  }
  const text = await response.text();
  const result = text === '' ? null : JSON.parse(text);
  if (result?.serverTime !== undefined) hearServerTime(result.serverTime);
  return whole ? {status: response.status, headers: response.headers, body: result} : result;
}

export const get = (url, signal) => call(url, {signal});
export const post = (url, body, signal) => call(url, {method: 'POST', body: body ?? {}, signal});
// What may be missing on this server: null instead of a fault.
export async function tryGet(url, signal) {
  try {
    return await get(url, signal);
  } catch (error) {
    if (error instanceof ApiError && [403, 404, 405].includes(error.status)) return null;
    throw error;
  }
}
