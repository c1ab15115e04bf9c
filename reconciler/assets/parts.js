// SPDX-License-Identifier: Apache-2.0
// Small things that pages are made of.
import {ApiError, serverNow} from './api.js';
import {fragment, h, newId, svg} from './dom.js';
import {ago, dateTime, money, number, percent, t, word} from './i18n.js';
import {may, whyNot} from './session.js';

const TONES = {
  ongoing: 'good',
  succeeded: 'good',
  serving: 'good',
  enabled: 'good',
  done: 'good',
  clean: 'good',
  delivered: 'good',
  matched: 'good',
  allowed: 'good',
  published: 'info',
  issuing: 'info',
  held: 'info',
  offered: 'info',
  running: 'info',
  retry: 'warn',
  pending: 'info',
  reversing: 'info',
  waiting: 'info',
  paused: 'warn',
  opened: 'bad',
  open: 'warn',
  unknown: 'warn',
  medium: 'warn',
  high: 'bad',
  critical: 'bad',
  failing: 'warn',
  breaker_half_open: 'warn',
  failed: 'bad',
  refused: 'bad',
  dead: 'bad',
  breaker_open: 'bad',
  rolled_back: 'warn',
  expired: 'mute',
  cancelled: 'mute',
  finished: 'mute',
  archived: 'mute',
  gone: 'mute',
  closed: 'mute',
  draft: 'mute',
  disabled: 'bad',
  removed: 'mute',
};
export const tone = (value) => TONES[value] ?? 'mute';
// A state: its colour is never the only sign.
export const badge = (set, value, as) => (value ? h('span', {class: `tag tag-${as ?? tone(value)}`}, word(set, value)) : null);
export const code = (text) => (text === null || text === undefined ? null : h('code', {class: 'code'}, String(text)));
export const muted = (...text) => h('span', {class: 'muted'}, ...text);
export const none = () => muted('–');

export const time = (iso, zone) =>
  iso ? h('time', {datetime: iso, title: `${ago(iso, serverNow())} · ${iso}`}, dateTime(iso, zone)) : none();
export const timeAgo = (iso) => (iso ? h('time', {datetime: iso, title: `${dateTime(iso)} · ${iso}`}, ago(iso, serverNow())) : none());
export const amount = (value) => (value ? money(value.amount, value.currency) : none());

const ICONS = {
  alert: 'M12 3 2 20h20zM12 10v4m0 3v.01',
  check: 'M4 12l5 5L20 6',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5',
  empty: 'M4 7h16v12H4zM4 7l3-3h10l3 3M9 12h6',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zm0 4v5l4 2',
  lock: 'M6 11h12v9H6zm2 0V8a4 4 0 0 1 8 0v3',
  down: 'M12 4v12m-5-5 5 5 5-5M4 20h16',
};
export const icon = (name, size = 20) =>
  svg(
    'svg',
    {viewBox: '0 0 24 24', width: size, height: size, class: 'icon', 'aria-hidden': 'true', focusable: 'false'},
    svg('path', {
      d: ICONS[name],
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': 2,
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    }),
  );

export const empty = (title, help, ...more) =>
  h(
    'div',
    {class: 'empty'},
    icon('empty', 36),
    h('p', {class: 'empty-title'}, title),
    help ? h('p', {class: 'muted'}, help) : null,
    ...more,
  );
export const loading = () =>
  h('div', {class: 'loading', role: 'status'}, h('span', {class: 'spinner', 'aria-hidden': 'true'}), t('Loading …'));

// What went wrong and what to do about it.
export function fault(error, again) {
  if (!(error instanceof ApiError)) console.error(error);
  const title = error instanceof ApiError ? error.title || error.code : t('The page has a fault');
  const detail = error instanceof ApiError ? error.detail : String(error.message ?? error);
  return h(
    'div',
    {class: 'note note-bad', role: 'alert'},
    icon('alert'),
    h(
      'div',
      {},
      h('strong', {}, title),
      detail && detail !== title ? h('div', {}, detail) : null,
      again ? h('button', {type: 'button', class: 'btn btn-sm btn-quiet mt-2', onclick: again}, t('Try again')) : null,
    ),
  );
}
export const note = (kind, ...content) =>
  h('div', {class: `note note-${kind}`}, icon(kind === 'good' ? 'check' : 'alert'), h('div', {}, ...content));

export const head = (title, {crumbs = [], sub, actions = []} = {}) =>
  h(
    'header',
    {class: 'page-head'},
    h(
      'div',
      {},
      crumbs.length
        ? h(
            'nav',
            {class: 'crumbs', 'aria-label': t('You are here')},
            crumbs.map(([text, href]) => [h('a', {href}, text), ' / ']),
          )
        : null,
      h('h1', {id: 'title', tabindex: '-1'}, title),
      sub ? h('p', {class: 'sub'}, sub) : null,
    ),
    actions.length ? h('div', {class: 'head-actions'}, actions) : null,
  );
export const card = (title, ...content) =>
  h('section', {class: 'panel', 'aria-label': title ?? null}, title ? h('h2', {}, title) : null, ...content);

// Names and values; those without a value are left out.
export const facts = (rows) =>
  h(
    'dl',
    {class: 'facts'},
    rows
      .filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== '')
      .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
export const stat = (name, value, extra, as) =>
  h(
    'div',
    {class: `stat${as ? ` stat-${as}` : ''}`},
    h('div', {class: 'stat-name'}, name),
    h('div', {class: 'stat-value'}, value),
    extra ? h('div', {class: 'stat-extra'}, extra) : null,
  );
export const json = (value) =>
  h('pre', {class: 'json', tabindex: '0'}, typeof value === 'string' ? pretty(value) : JSON.stringify(value, null, 2));
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// A button that changes something: greyed with the reason for those who may not; it stays focusable, so that the reason is heard.
export function button(label, scopes, onclick, {kind = 'quiet', disabled = null, small = false, id} = {}) {
  const why = !may(...scopes) ? whyNot(...scopes) : disabled;
  const hint = why ? newId('why') : null;
  const el = h(
    'button',
    {
      type: 'button',
      id,
      class: `btn ${small ? 'btn-sm ' : ''}btn-${kind}`,
      'aria-disabled': why ? 'true' : null,
      'aria-describedby': hint,
      title: why,
      onclick: (event) => (why ? event.preventDefault() : onclick(event)),
    },
    !may(...scopes) ? icon('lock', 14) : null,
    label,
  );
  return why ? fragment(el, h('span', {id: hint, class: 'visually-hidden'}, why)) : el;
}

// Taken of the total, as a bar with its figures as text beside it.
export function stockBar({total, issued, held, remaining, waiting}, {labels = true} = {}) {
  const all = total ?? null;
  const width = (n) => ({width: `${all > 0 ? Math.min(100, (n / all) * 100) : 0}%`});
  const text =
    all === null
      ? t('{n} taken, unlimited', {n: number(issued + held)})
      : t('{taken} of {total} taken, {left} left', {taken: number(issued + held), total: number(all), left: number(remaining)});
  return h(
    'div',
    {class: 'stock'},
    all === null
      ? null
      : h(
          'div',
          {class: 'bar', role: 'img', 'aria-label': text},
          h('span', {class: 'bar-issued', style: width(issued)}),
          h('span', {class: 'bar-held', style: width(held)}),
        ),
    labels
      ? h(
          'div',
          {class: 'stock-text'},
          text,
          held > 0 ? ` · ${t('{n} held', {n: number(held)})}` : null,
          waiting > 0 ? ` · ${t('{n} waiting', {n: number(waiting)})}` : null,
          all > 0 ? h('span', {class: 'muted'}, ` · ${percent((issued + held) / all)}`) : null,
        )
      : null,
  );
}

// Values over time as a small line; the last one is written beside it by the caller.
export function sparkline(values, label) {
  const width = 120,
    height = 28,
    top = Math.max(1, ...values);
  const points = values.map((v, i) =>
    [(i / Math.max(1, values.length - 1)) * width, height - 2 - (v / top) * (height - 4)].map((n) => n.toFixed(1)).join(','),
  );
  return svg(
    'svg',
    {class: 'spark', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, preserveAspectRatio: 'none'},
    svg('polygon', {points: `0,${height} ${points.join(' ')} ${width},${height}`, class: 'spark-area'}),
    svg('polyline', {points: points.join(' '), class: 'spark-line', fill: 'none'}),
  );
}

export function tabs(items, active) {
  return h(
    'nav',
    {class: 'tabs', 'aria-label': t('Parts of this page')},
    items.map(([name, label, href, count]) =>
      h(
        'a',
        {href, class: 'tab', 'aria-current': name === active ? 'page' : null},
        label,
        count ? h('span', {class: 'count'}, number(count)) : null,
      ),
    ),
  );
}

// A table of things that are all there; on a phone each row is a card.
export function table(columns, items, {caption, rowKey} = {}) {
  return h(
    'div',
    {class: 'table-wrap'},
    h(
      'table',
      {class: 'grid'},
      caption ? h('caption', {class: 'visually-hidden'}, caption) : null,
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          columns.map((c) => h('th', {scope: 'col', class: c.class}, c.label)),
        ),
      ),
      h(
        'tbody',
        {},
        items.map((item, i) =>
          h(
            'tr',
            {'data-key': rowKey ? rowKey(item) : null},
            columns.map((c) => h('td', {class: c.class, 'data-label': c.label}, c.show(item, i))),
          ),
        ),
      ),
    ),
  );
}
