// SPDX-License-Identifier: Apache-2.0
// The nights, newest first.
import {h} from './dom.js';
import {day, number, t} from './i18n.js';
import {showList} from './list.js';
import {badge, head, time} from './parts.js';
import {to} from './router.js';

export const verdict = (night) =>
  night.state === 'running'
    ? badge('night', 'running', 'info')
    : night.clean
      ? badge('night', 'clean', 'good')
      : badge('night', 'findings', 'bad');

export async function show(view) {
  view.title(t('Reports'));
  await showList(view, {
    id: 'reports',
    title: t('Reports'),
    url: ['v1/reports'],
    key: (n) => n.date,
    filters: [],
    limit: 31,
    above: () =>
      head(t('Reports'), {
        sub: t('One for each business date: what happened, from rows that are never written again, and what the audit found.'),
      }),
    columns: [
      {label: t('Night of'), show: (n) => h('a', {class: 'main-link', href: to('reports', n.date)}, day(n.date))},
      {label: t('Verdict'), show: verdict},
      {label: t('Findings'), class: 'num', show: (n) => number(n.findings)},
      {label: t('Audits not run'), class: 'num', show: (n) => number(n.failed)},
      {label: t('Claims'), class: 'num', show: (n) => number(n.claims)},
      {label: t('Units'), class: 'num', show: (n) => number(n.quantity)},
      {label: t('Zone'), show: (n) => n.timeZone},
      {label: t('Made'), show: (n) => time(n.finishedAt ?? n.startedAt)},
    ],
    empty: [
      t('No night has been reported yet'),
      t('The first report is made after midnight of the report zone, or by “reconciler report night”.'),
    ],
  });
}
