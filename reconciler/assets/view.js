// SPDX-License-Identifier: Apache-2.0
// What a page gets to work with: a place to show things, a signal that ends its calls when the person goes elsewhere, and
// timers that end with it. A page is a function (view, route) that shows itself; it is called again for each address.
import {h, renewChildren} from './dom.js';
import {fault} from './parts.js';
import {t} from './i18n.js';

export function makeView(main, route) {
  const leaving = new AbortController();
  const timers = new Set();
  const view = {
    route,
    signal: leaving.signal,
    isLeft: () => leaving.signal.aborted,
    title(text) {
      document.title = text ? `${text} · largesse` : 'largesse';
    },
    show(...nodes) {
      if (leaving.signal.aborted) return;
      const next = h('div', {}, ...nodes);
      renewChildren(main, [...next.childNodes]);
      main.removeAttribute('aria-busy');
    },
    // Runs now and then again and again; not while the window is hidden, nor twice at once.
    every(ms, run) {
      let busy = false;
      const turn = async () => {
        if (busy || document.hidden || leaving.signal.aborted) return;
        busy = true;
        try {
          await run();
        } catch (error) {
          view.fail(error);
        } finally {
          busy = false;
        }
      };
      const timer = setInterval(turn, ms);
      timers.add(timer);
      document.addEventListener('visibilitychange', turn, {signal: leaving.signal});
      return turn();
    },
    // A fault while something is shown already: said above it, and taken away by the next success.
    fail(error) {
      if (leaving.signal.aborted || error.name === 'AbortError' || error.status === 401) return;
      if (main.querySelector('#title') === null)
        view.show(
          h('h1', {id: 'title', tabindex: '-1'}, t('This cannot be shown')),
          fault(error, () => view.again()),
        );
      else say(error.detail || error.message, 'bad');
    },
    again: () => window.dispatchEvent(new HashChangeEvent('hashchange')),
    leave() {
      leaving.abort();
      for (const timer of timers) clearInterval(timer);
    },
  };
  return view;
}

// Tells something in passing, also to who listens to the page.
export function say(text, kind = 'good') {
  const place = document.getElementById('toasts');
  if (place === null || [...place.children].some((toast) => toast.firstChild?.textContent === text)) return;
  const toast = h(
    'div',
    {class: `toast-item toast-${kind}`},
    h('span', {}, text),
    h('button', {type: 'button', class: 'toast-close', 'aria-label': t('Close'), onclick: () => toast.remove()}, '×'),
  );
  place.append(toast);
  setTimeout(() => toast.remove(), kind === 'bad' ? 12000 : 6000);
}
