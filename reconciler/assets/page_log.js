// SPDX-License-Identifier: Apache-2.0
// What people and programs did, by whom and why: append-only, each act chained to the one before.
import {h} from './dom.js';
import {t, word} from './i18n.js';
import {showList} from './list.js';
import {head, json, muted, none, time} from './parts.js';
import {to} from './router.js';

const NOUNS = [
  'activity',
  'stock',
  'numbers',
  'qualifications',
  'points',
  'user',
  'reward',
  'discount_rule',
  'event',
  'provider',
  'webhook',
  'dead_letters',
  'claims',
  'findings',
  'finding',
  'operation',
  'statement',
  'night',
  'audit',
  'key',
  'session',
];
const PLACES = {
  activity: 'activities',
  stock: 'activities',
  numbers: 'activities',
  qualifications: 'activities',
  provider: 'providers',
  claims: 'claims',
  operation: 'operations',
  dead_letters: 'operations',
  findings: 'operations',
  finding: 'findings',
  night: 'reports',
};

function target(item) {
  const page = PLACES[item.action.split('.')[0]];
  if (!item.target) return none();
  if ((page === 'operations' || page === 'claims') && !/^[0-9-]+$/.test(item.target)) return item.target;
  return page ? h('a', {href: to(page, item.target)}, item.target) : item.target;
}

export async function show(view) {
  view.title(t('Log'));
  await showList(view, {
    id: 'log',
    title: t('Log'),
    url: ['v1/log'],
    key: (l) => l.seq,
    above: () =>
      head(t('Log'), {
        sub: t('What was done, by whom and why; newest first. “reconciler log verify” proves that nothing was changed or taken out.'),
      }),
    filters: [
      {name: 'actor', label: t('By'), placeholder: t('any')},
      {
        name: 'action',
        label: t('Action'),
        default: 'any',
        options: [['any', t('All')], ...NOUNS.map((noun) => [noun, word('noun', noun)])],
      },
      {name: 'target', label: t('About'), placeholder: t('code, claim, provider …')},
    ],
    columns: [
      {label: t('No.'), class: 'num', show: (l) => l.seq},
      {label: t('At'), show: (l) => time(l.at)},
      {label: t('By'), show: (l) => l.actor},
      {label: t('Action'), show: (l) => h('code', {class: 'code nowrap'}, l.action)},
      {label: t('About'), show: target},
      {label: t('Reason'), show: (l) => l.reason ?? muted(t('none given'))},
      {
        label: t('Detail'),
        show: (l) => h('details', {}, h('summary', {}, t('Show')), json(l.detail), h('div', {class: 'muted small wrap'}, l.hash)),
      },
    ],
    empty: [t('Nothing was done yet'), t('Every change by a person or a program is kept here.')],
  });
}
