// SPDX-License-Identifier: Apache-2.0
// Addresses: #/dead-letters/17?state=open. Everything that is filtered or opened stands in the address, so that it can be
// linked and survives a reload.

export function parse(hash) {
  const [path, query = ''] = hash.replace(/^#/, '').split('?', 2);
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  return {parts, path: `/${parts.join('/')}`, query: Object.fromEntries(new URLSearchParams(query)), hash};
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// to('dead-letters', '17', {state: 'open'}) → "#/dead-letters/17?state=open"; empty values are left out.
export function to(...parts) {
  const query = typeof parts.at(-1) === 'object' ? parts.pop() : {};
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`;
}

export const current = () => parse(location.hash || '#/now');
export const go = (hash, replace = false) => {
  if (hash === location.hash) window.dispatchEvent(new HashChangeEvent('hashchange'));
  else if (replace) {
    history.replaceState(null, '', hash);
    window.dispatchEvent(new HashChangeEvent('hashchange'));
  } else location.hash = hash;
};
// The present address with some members of its query changed; what is undefined goes.
export const withQuery = (route, changes) => to(...route.parts, {...route.query, ...changes});
