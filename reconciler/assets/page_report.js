// SPDX-License-Identifier: Apache-2.0
// One night: figures, charts, findings, and how it differs from another night.
import {get, path, tryGet} from './api.js';
import {chart} from './charts.js';
import {h} from './dom.js';
import {day, money, number, t, word} from './i18n.js';
import {badge, card, empty, facts, head, note, stat, table, tabs, time} from './parts.js';
import {verdict} from './page_reports.js';
import {delays, downloads, moneyTable, ms, providersTable, refusalChart} from './review_parts.js';
import {go, to} from './router.js';

const OUTCOMES = [
  ['succeeded', 'good'],
  ['cancelled', 'mute'],
  ['expired', 'chart-3'],
  ['failed', 'bad'],
  ['rolledBack', 'warn'],
];
const name = (key) => word('claim', key === 'rolledBack' ? 'rolled_back' : key);

function totals(f) {
  return h(
    'div',
    {class: 'stats'},
    stat(t('Claims'), number(f.claims.count), t('{n} units', {n: number(f.claims.quantity)})),
    OUTCOMES.map(([key, as]) =>
      stat(
        name(key),
        number(f[key].count),
        f[key].quantity !== f[key].count ? t('{n} units', {n: number(f[key].quantity)}) : null,
        f[key].count > 0 && ['good', 'bad', 'warn'].includes(as) ? as : null,
      ),
    ),
    f.points ? stat(t('Points taken'), number(f.points.taken), t('{n} returned', {n: number(f.points.returned)})) : null,
    f.stockAdjusted ? stat(t('Stock adjusted'), number(f.stockAdjusted)) : null,
  );
}

const hours = (list) =>
  list?.some((n) => n > 0)
    ? chart({
        title: t('Claims by hour'),
        axis: t('Hour'),
        labels: list.map((_, i) => String(i)),
        series: [{label: t('Claims'), values: list}],
      })
    : null;
const activities = (items) =>
  items.length === 0
    ? empty(t('Nothing happened on this date'))
    : table(
        [
          {label: t('Activity'), show: (a) => h('a', {href: to('activities', a.code)}, a.code)},
          {label: t('Kind'), show: (a) => word('kind', a.kind)},
          {label: t('Claims'), class: 'num', show: (a) => number(a.claims.count)},
          ...OUTCOMES.map(([key]) => ({label: name(key), class: 'num', show: (a) => number(a[key].count)})),
          {label: t('Refused'), class: 'num', show: (a) => number(Object.values(a.refusals ?? {}).reduce((sum, n) => sum + n, 0))},
        ],
        items,
        {rowKey: (a) => a.code},
      );

const findings = (m) =>
  m.findings.length === 0
    ? note('good', t('Nothing was found.'))
    : [
        m.findingCount > m.findings.length
          ? h('p', {class: 'muted'}, t('The first {n} of {all}', {n: number(m.findings.length), all: number(m.findingCount)}))
          : null,
        table(
          [
            {label: t('Finding'), class: 'col-mid', show: (f) => h('a', {href: to('findings', f.key)}, word('finding', f.kind))},
            {label: t('Severity'), show: (f) => badge('severity', f.severity)},
            {label: t('Where'), show: (f) => f.activityCode ?? f.claimId ?? '–'},
            {label: t('Expected'), show: (f) => f.expected},
            {label: t('Actual'), show: (f) => f.actual},
            {label: t('Next step'), class: 'col-wide', show: (f) => f.nextStep},
            {
              label: t('State'),
              show: (f) => badge('finding-state', f.state, f.state === 'opened' ? 'bad' : f.state === 'open' ? 'warn' : 'mute'),
            },
          ],
          m.findings,
          {rowKey: (f) => f.key},
        ),
      ];

function report(night) {
  const r = night.report,
    m = night.moment;
  if (!r) return [note('info', t('This night is being audited; its report comes when that is done.'))];
  const f = r.totals;
  return [
    m && !m.figuresUnchanged
      ? note(
          'bad',
          h('strong', {}, t('Figures changed')),
          ` – ${t('made once more, other figures came out: somebody has changed rows of that time.')}`,
        )
      : null,
    totals(f),
    h('div', {class: 'charts'}, hours(f.claimsByHour), refusalChart(f.refusals)),
    r.timeToDelivery ? card(t('Time to delivery'), delays(r.timeToDelivery)) : null,
    m
      ? card(
          t('What the audit found'),
          h(
            'p',
            {},
            t('{n} activities audited; {opened} opened, {open} still open, {gone} gone.', {
              n: number(m.audited),
              opened: number(m.opened),
              open: number(m.open),
              gone: number(m.gone),
            }),
          ),
          findings(m),
        )
      : null,
    card(t('By activity'), activities(r.activities)),
    moneyTable(f.money),
    providersTable(r.providers),
    r.deadLetters.length
      ? card(
          t('Dead letters opened'),
          table(
            [
              {label: t('Provider'), show: (d) => d.provider},
              {label: t('Cause'), show: (d) => badge('cause', d.cause, 'warn')},
              {label: t('Opened'), class: 'num', show: (d) => number(d.opened)},
            ],
            r.deadLetters,
          ),
        )
      : null,
    r.redemptions?.length
      ? card(
          t('Discounts on orders'),
          table(
            [
              {label: t('What'), show: (d) => word('redemption', d.what)},
              {label: t('Orders'), class: 'num', show: (d) => number(d.count)},
              {label: t('Total'), class: 'num', show: (d) => money(d.total, d.currency)},
              {label: t('Discount'), class: 'num', show: (d) => money(d.discount, d.currency)},
              {label: t('Payable'), class: 'num', show: (d) => money(d.payable, d.currency)},
            ],
            r.redemptions,
          ),
        )
      : null,
    card(
      t('How it was made'),
      facts([
        [t('From'), time(night.from, night.timeZone)],
        [t('Until'), time(night.until, night.timeZone)],
        [t('Time zone'), night.timeZone],
        [t('Made'), time(night.finishedAt)],
        [t('Found at'), m ? time(m.at) : null],
        [t('Log at that time'), m?.log ? h('span', {class: 'wrap'}, h('code', {class: 'code'}, `${m.log.seq} ${m.log.hash}`)) : null],
      ]),
    ),
  ];
}

// --- comparison

const figure = (value, isTime, currency) =>
  value === null || value === undefined ? '–' : isTime ? ms(value) : currency ? money(value, currency) : number(value);
function changeText(c, isTime, currency) {
  if (!c || c.change === 0) return h('span', {class: 'muted'}, t('same'));
  return h(
    'span',
    {class: 'num'},
    `${c.change > 0 ? '+' : ''}${figure(c.change, isTime, currency)}`,
    c.percent !== undefined ? h('span', {class: 'muted'}, ` ${c.percent > 0 ? '+' : ''}${number(c.percent, 1)} %`) : null,
  );
}
const compareTable = (label, rows, dates) =>
  rows.length
    ? table(
        [
          {label, show: (r) => r.label},
          {label: dates[0], class: 'num', show: (r) => figure(r.c.before, r.isTime, r.currency)},
          {label: dates[1], class: 'num', show: (r) => figure(r.c.after, r.isTime, r.currency)},
          {label: t('Change'), class: 'num', show: (r) => changeText(r.c, r.isTime, r.currency)},
        ],
        rows,
      )
    : null;

function comparison(c, dates) {
  const counts = Object.entries(c.totals ?? {}).map(([key, value]) => ({label: word('figure', key), c: value, isTime: key.endsWith('Ms')}));
  const sums = (c.money ?? []).map((m) => ({label: `${word('money', m.what)} · ${m.provider}`, c: m.amount, currency: m.currency}));
  const acts = (c.activities ?? []).map((a) => ({
    label: h('a', {href: to('activities', a.code)}, a.code),
    c: a.figures?.claims ?? a.claims,
  }));
  const calls = (c.providers ?? []).map((p) => ({label: p.provider, c: p.calls}));
  const f = c.findings;
  return [
    card(t('Figures'), compareTable(t('Figure'), counts, dates)),
    sums.length ? card(t('Money'), compareTable(t('What'), sums, dates)) : null,
    acts.length
      ? card(
          t('Claims by activity'),
          compareTable(
            t('Activity'),
            acts.filter((a) => a.c),
            dates,
          ),
        )
      : null,
    calls.length ? card(t('Calls by provider'), compareTable(t('Provider'), calls, dates)) : null,
    f
      ? card(
          t('Findings'),
          h(
            'p',
            {},
            t('{opened} opened, {open} still open, {gone} gone.', {opened: number(f.opened), open: number(f.open), gone: number(f.gone)}),
          ),
          f.items.length
            ? table(
                [
                  {label: t('Finding'), show: (i) => h('a', {href: to('findings', i.key)}, word('finding', i.kind))},
                  {label: t('Where'), show: (i) => i.activityCode ?? '–'},
                  {
                    label: t('State'),
                    show: (i) => badge('finding-state', i.state, i.state === 'opened' ? 'bad' : i.state === 'open' ? 'warn' : 'mute'),
                  },
                ],
                f.items,
                {rowKey: (i) => i.key},
              )
            : null,
        )
      : null,
  ];
}

const dayBefore = (date) => new Date(Date.parse(`${date}T00:00:00Z`) - 86400000).toISOString().slice(0, 10);

async function showComparison(view, date, above) {
  const other = view.route.query.with ?? dayBefore(date);
  const pick = h(
    'form',
    {class: 'filters', 'data-key': 'with', onsubmit: (event) => event.preventDefault()},
    h(
      'div',
      {class: 'filter'},
      h('label', {for: 'compare-with'}, t('Compare with')),
      h('input', {
        id: 'compare-with',
        type: 'date',
        class: 'form-control form-control-sm',
        value: other,
        max: '9999-12-31',
        onchange: (event) => {
          if (event.target.value) go(to('reports', date, 'comparison', {with: event.target.value}));
        },
      }),
    ),
  );
  const c = await tryGet(path(['v1/reports', date, 'comparison'], {with: view.route.query.with}), view.signal);
  view.show(
    above,
    pick,
    c === null
      ? empty(t('There is no report of {date}', {date: other}), t('Choose another night to compare with.'))
      : comparison(c, [c.with ?? c.before?.date ?? other, date]),
  );
}

export async function show(view, route) {
  const [, date, tab] = route.parts;
  view.title(t('Report of {date}', {date}));
  const url = path(['v1/reports', date]);
  const night = await get(url, view.signal);
  const above = h(
    'div',
    {'data-key': 'above'},
    head(day(date), {
      crumbs: [[t('Reports'), to('reports')]],
      sub: h('span', {}, verdict(night), night.findings > 0 ? ` ${t('{n} findings', {n: number(night.findings)})}` : null),
      actions: night.report ? downloads(url) : [],
    }),
    tabs(
      [
        ['report', t('Report'), to('reports', date)],
        ['comparison', t('Comparison'), to('reports', date, 'comparison')],
      ],
      tab ?? 'report',
    ),
  );
  if (tab === 'comparison') return showComparison(view, date, above);
  view.show(above, ...report(night));
  if (!night.report)
    view.every(5000, async () => {
      if ((await get(url, view.signal)).report) view.again();
    });
  return undefined;
}
