// SPDX-License-Identifier: Apache-2.0
// The parts of a review and of a night: figures, tables and charts.
import {chart} from './charts.js';
import {h} from './dom.js';
import {clock, language, money, number, percent, shortTime, t, word} from './i18n.js';
import {badge, card, empty, note, stat, table, time} from './parts.js';
import {to} from './router.js';

export const ms = (n) => (n === null || n === undefined ? '–' : n < 1000 ? `${number(n)} ms` : `${number(n / 1000, n < 10000 ? 2 : 1)} s`);
const DELAYS = [
  ['p50Ms', '50 %'],
  ['p90Ms', '90 %'],
  ['p99Ms', '99 %'],
  ['maxMs', '100 %'],
];
const COLOURS = {
  succeeded: 'good',
  issuing: 'info',
  held: 'chart-5',
  offered: 'chart-6',
  waiting: 'chart-4',
  failed: 'bad',
  rolled_back: 'warn',
  cancelled: 'mute',
  expired: 'chart-3',
};

// A link is asked for with the browser's language: it says which one the person chose here.
export const downloads = (url, formats = ['json', 'csv', 'html']) =>
  formats.map((format) =>
    h(
      'a',
      {
        class: 'btn btn-sm btn-quiet',
        href: `${url}${url.includes('?') ? '&' : '?'}format=${format}&language=${language()}`,
        download: format === 'html' ? null : true,
        target: format === 'html' ? '_blank' : null,
        rel: 'noopener',
      },
      format.toUpperCase(),
    ),
  );

export const moneyTable = (what) => {
  const rows = Object.entries(what ?? {}).flatMap(([name, items]) => items.map((item) => ({name, ...item})));
  return rows.length === 0
    ? null
    : card(
        t('Money'),
        table(
          [
            {label: t('What'), show: (r) => word('money', r.name)},
            {label: t('Provider'), show: (r) => r.provider},
            {label: t('Reward'), show: (r) => r.rewardCode ?? '–'},
            {label: t('Claims'), class: 'num', show: (r) => number(r.count)},
            {label: t('Units'), class: 'num', show: (r) => number(r.quantity)},
            {label: t('Amount'), class: 'num', show: (r) => (r.amount === undefined ? '–' : money(r.amount, r.currency))},
          ],
          rows,
        ),
      );
};

export const delays = (d) =>
  d
    ? h(
        'div',
        {class: 'stats'},
        DELAYS.map(([name, label]) => stat(t('{part} delivered within', {part: label}), ms(d[name]))),
        stat(t('Deliveries measured'), number(d.count)),
      )
    : null;

export const refusalChart = (refusals) => {
  const items = Object.entries(refusals ?? {}).sort((a, b) => b[1] - a[1]);
  return items.length
    ? chart({
        title: t('Refusals by reason'),
        isAcross: true,
        axis: t('Reason'),
        labels: items.map(([code]) => word('code', code)),
        series: [{label: t('Refusals'), values: items.map(([, n]) => n), colour: 'warn'}],
      })
    : null;
};

export function providersTable(providers) {
  if (!providers?.length) return null;
  return card(
    t('Providers'),
    table(
      [
        {label: t('Provider'), show: (p) => h('a', {href: to('providers', p.provider)}, p.provider)},
        {label: t('Calls'), class: 'num', show: (p) => number(p.calls)},
        {label: t('Again'), class: 'num', show: (p) => number(p.repeated ?? 0)},
        {
          label: t('Outcomes'),
          show: (p) =>
            Object.entries(p.outcomes ?? {}).map(([name, n]) =>
              h('span', {class: 'chip'}, word('outcome', name), ' ', h('b', {}, number(n))),
            ),
        },
        ...DELAYS.slice(0, 3).map(([name, label]) => ({label, class: 'num', show: (p) => ms(p.latency?.[name])})),
      ],
      providers,
    ),
  );
}

function series(review, zone) {
  const points = review.series ?? [];
  if (points.length === 0) return null;
  const isLong = review.bucketSeconds >= 86400 || points.length * review.bucketSeconds > 86400 * 2;
  const labels = points.map((p) => (isLong ? shortTime(p.at, zone) : clock(p.at, zone, review.bucketSeconds % 60 !== 0)));
  const states = [...new Set(points.flatMap((p) => Object.keys(p.outcomes ?? {})))];
  const stock = points.some((p) => p.remaining !== undefined && p.remaining !== null);
  return [
    chart({
      title: t('Claims over time, by what became of them'),
      isStacked: true,
      axis: t('Time'),
      labels,
      series: states.length
        ? states.map((s) => ({label: word('claim', s), values: points.map((p) => p.outcomes?.[s] ?? 0), colour: COLOURS[s]}))
        : [{label: t('Claims'), values: points.map((p) => p.claims)}],
    }),
    stock
      ? chart({
          title: t('Stock left'),
          type: 'line',
          axis: t('Time'),
          labels,
          series: [{label: t('Remaining'), values: points.map((p) => p.remaining ?? null)}],
        })
      : null,
    chart({
      title: t('Refused and delivered over time'),
      type: 'line',
      axis: t('Time'),
      labels,
      series: [
        {label: t('Refused'), values: points.map((p) => p.refused), colour: 'warn'},
        {label: t('Delivered'), values: points.map((p) => p.succeeded), colour: 'good'},
      ],
    }),
  ];
}

function stockNode(stock) {
  if (!stock) return null;
  return note(
    stock.difference === 0 ? 'good' : 'bad',
    h(
      'span',
      {class: 'num'},
      t('Held {held} + remaining {left} = total {total} + adjustments {by}', {
        held: number(stock.held),
        left: number(stock.remaining),
        total: number(stock.total),
        by: number(stock.adjustments),
      }).replace('=', stock.difference === 0 ? '=' : '≠'),
    ),
    stock.difference === 0 ? ` · ${t('adds up')}` : ` · ${t('differs by {n}', {n: number(stock.difference)})}`,
  );
}

const sessions = (items) =>
  items?.length
    ? card(
        t('Sessions'),
        table(
          [
            {label: t('Activity'), show: (s) => h('a', {href: to('activities', s.code, 'review')}, s.name)},
            {label: t('State'), show: (s) => badge('status', s.status)},
            {label: t('Opens'), show: (s) => time(s.startAt)},
            {label: t('Claims'), class: 'num', show: (s) => number(s.claims)},
            {label: t('Delivered'), class: 'num', show: (s) => number(s.succeeded)},
            {label: t('Failed'), class: 'num', show: (s) => number(s.failed)},
            {label: t('Refused'), class: 'num', show: (s) => number(s.refused)},
            {label: t('Left'), class: 'num', show: (s) => (s.stock ? number(s.stock.remaining) : '–')},
          ],
          items,
        ),
      )
    : null;

function causes(c) {
  const failures = c?.failures ?? [],
    letters = c?.deadLetters ?? [];
  if (failures.length + letters.length === 0) return null;
  return card(
    t('What went wrong most'),
    failures.length
      ? table(
          [
            {label: t('Failure'), show: (f) => h('code', {class: 'code'}, f.code)},
            {label: t('Claims'), class: 'num', show: (f) => number(f.count)},
          ],
          failures,
        )
      : null,
    letters.length
      ? table(
          [
            {
              label: t('Dead letters'),
              show: (l) =>
                h(
                  'a',
                  {href: to('dead-letters', {provider: l.provider, fingerprint: l.fingerprint, state: 'all'})},
                  l.fingerprint ?? l.cause,
                ),
            },
            {label: t('Provider'), show: (l) => l.provider},
            {label: t('All'), class: 'num', show: (l) => number(l.count)},
            {label: t('Open'), class: 'num', show: (l) => number(l.open)},
          ],
          letters,
        )
      : null,
  );
}

// A review as helper routes give it (activity or event).
export function reviewNodes(review, zone, url) {
  const claims = review.claims ?? {count: 0, quantity: 0, byStatus: {}};
  const done = claims.byStatus?.succeeded?.count ?? 0;
  if (claims.count === 0 && (review.refused ?? 0) === 0)
    return empty(t('Nothing to review yet'), t('Figures appear with the first claim.'));
  return [
    h('div', {class: 'toolbar'}, h('span', {class: 'muted'}, t('As of '), time(review.at)), h('span', {class: 'grow'}), downloads(url)),
    h(
      'div',
      {class: 'stats'},
      stat(t('Claims'), number(claims.count), t('{n} units', {n: number(claims.quantity)})),
      stat(t('Delivered'), number(done), claims.count > 0 ? percent(done / claims.count) : null, 'good'),
      stat(t('Refused'), number(review.refused ?? 0)),
      stat(t('Waits for a person'), number(claims.underReview ?? 0), null, claims.underReview > 0 ? 'warn' : null),
    ),
    stockNode(review.stock),
    h('div', {class: 'charts'}, series(review, zone), refusalChart(review.refusals)),
    review.timeToDelivery ? card(t('Time to delivery'), delays(review.timeToDelivery)) : null,
    providersTable(review.providers),
    moneyTable(review.money),
    causes(review.causes),
    sessions(review.sessions),
  ];
}
