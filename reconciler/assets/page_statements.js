// SPDX-License-Identifier: Apache-2.0
// Statements of providers: which there are, what their lines came to, and giving one in.
import {call, get, path} from './api.js';
import {openAction} from './action.js';
import {h} from './dom.js';
import {day, money, number, t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, card, code, facts, head, none, note, time} from './parts.js';
import {to} from './router.js';

const TONES = {
  matched: 'good',
  missing_here: 'bad',
  missing_at_provider: 'bad',
  amount_differs: 'bad',
  status_differs: 'bad',
  duplicate_effect: 'bad',
  duplicate_line: 'warn',
  reversed: 'warn',
  not_yet_due: 'info',
  ignored: 'mute',
};
const OUTCOMES = ['finding', ...Object.keys(TONES)];
const verdict = (s) =>
  s.state === 'superseded'
    ? badge('statement', s.state, 'mute')
    : s.clean
      ? badge('night', 'clean', 'good')
      : badge('night', 'findings', 'bad');

function give(providers, again) {
  openAction({
    title: t('Give in a statement'),
    confirm: t('Import'),
    wide: true,
    after: again,
    intro: h(
      'p',
      {},
      t(
        'The file is read by the provider’s profile in the configuration. A bad line refuses all of it with its number; the same file twice is one.',
      ),
    ),
    fields: [
      {name: 'provider', label: t('Provider'), required: true, ...(providers.length ? {options: providers.map((p) => [p, p])} : {})},
      {name: 'date', label: t('Date'), type: 'date', help: t('The business date that it covers; empty: as the file or the profile says.')},
      {name: 'file', label: t('File'), type: 'file', required: true},
    ],
    preview: async ({file}) =>
      file ? {ok: true, node: h('p', {}, h('b', {}, file.name), ` · ${number(file.size)} ${t('bytes')}`)} : {ok: false, node: ''},
    run: (values) =>
      call(path(['v1/statements', values.provider], {date: values.date, reason: values.reason, file: values.file.name}), {
        method: 'POST',
        body: values.file,
        type: 'application/octet-stream',
      }),
    done: (s) =>
      h(
        'div',
        {},
        note(
          s.clean === false ? 'warn' : 'good',
          h('strong', {}, t('Statement {id}', {id: s.statementId})),
          ` · ${number(s.lines)} ${t('lines')}`,
        ),
        counts(s),
        s.statementId
          ? h(
              'p',
              {},
              h(
                'a',
                {href: to('statements', s.statementId), onclick: (event) => event.target.closest('dialog').close()},
                t('Line by line'),
              ),
            )
          : null,
      ),
  });
}

// What the counts of a statement are called among the outcomes of its lines.
const COUNTED = {
  missingHere: 'missing_here',
  missingAtProvider: 'missing_at_provider',
  amountDiffers: 'amount_differs',
  duplicates: 'duplicate_line',
  statusDiffers: 'status_differs',
  notYetDue: 'not_yet_due',
};
const counts = (s) =>
  Object.entries(s.counts ?? {})
    .filter(([, n]) => typeof n === 'number' && n > 0)
    .map(([name, n]) => h('span', {class: 'chip'}, word('line', COUNTED[name] ?? name), ' ', h('b', {}, number(n))));

async function showAll(view) {
  const providers = (await get('v1/providers', view.signal)).items.map((p) => p.name);
  await showList(view, {
    id: 'statements',
    title: t('Statements'),
    url: ['v1/statements'],
    key: (s) => s.statementId,
    poll: 10000,
    above: () =>
      head(t('Statements'), {
        sub: t('What providers say they did, held against what we hold, line by line.'),
        actions: [
          button(t('Give in a statement'), ['review'], () => give(providers, () => view.again()), {
            kind: 'primary',
            id: 'action-statement',
          }),
        ],
      }),
    filters: [{name: 'provider', label: t('Provider'), default: 'any', options: [['any', t('All')], ...providers.map((p) => [p, p])]}],
    columns: [
      {label: t('Statement'), show: (s) => h('a', {class: 'main-link', href: to('statements', s.statementId)}, `#${s.statementId}`)},
      {label: t('Provider'), show: (s) => s.provider},
      {label: t('Date'), show: (s) => (s.date ? day(s.date) : none())},
      {label: t('Verdict'), show: verdict},
      {label: t('Lines'), class: 'num', show: (s) => number(s.lines)},
      {label: t('Findings'), class: 'num', show: (s) => number(s.findings)},
      {label: t('Came to'), show: counts},
      {label: t('File'), show: (s) => s.file ?? none()},
      {label: t('Imported'), show: (s) => h('div', {}, time(s.importedAt), h('div', {class: 'muted small'}, s.importedBy ?? ''))},
    ],
    empty: [t('There is no statement yet'), t('Give one in here, by “reconciler statement import”, or have it fetched by the profile.')],
  });
}

async function showOne(view, id) {
  const s = await get(path(['v1/statements', id]), view.signal);
  view.title(t('Statement {id}', {id}));
  await showList(view, {
    id: `statement-${id}`,
    title: t('Lines'),
    url: ['v1/statements', id, 'lines'],
    key: (l) => `${l.line ?? ''}-${l.claimId ?? ''}-${l.kind ?? ''}`,
    limit: 100,
    above: () => [
      head(t('Statement {id}', {id}), {
        crumbs: [[t('Statements'), to('statements')]],
        sub: h('span', {}, verdict(s), ' ', s.provider, ' · ', s.date ? day(s.date) : ''),
      }),
      card(
        null,
        facts([
          [t('From'), time(s.from, s.timeZone)],
          [t('Until'), time(s.until, s.timeZone)],
          [t('Time zone'), s.timeZone],
          [t('File'), s.file],
          [t('Bytes'), number(s.bytes)],
          ['SHA-256', s.sha256 ? h('span', {class: 'wrap'}, code(s.sha256)) : null],
          [t('Lines'), number(s.lines)],
          [t('Findings'), number(s.findings)],
          [t('Imported'), time(s.importedAt)],
          [t('By'), s.importedBy],
          [t('Matched'), s.matchedAt ? time(s.matchedAt) : null],
          [t('Replaced by'), s.supersededBy ? h('a', {href: to('statements', s.supersededBy)}, `#${s.supersededBy}`) : null],
        ]),
        h('div', {class: 'mt-3'}, counts(s)),
      ),
    ],
    filters: [
      {
        name: 'outcome',
        label: t('Came to'),
        default: s.findings > 0 ? 'finding' : 'any',
        options: [['any', t('All')], ...OUTCOMES.map((o) => [o, word('line', o)])],
      },
    ],
    columns: [
      {label: t('Line'), class: 'num', show: (l) => (l.line === undefined ? none() : number(l.line))},
      {label: t('Came to'), show: (l) => badge('line', l.outcome, TONES[l.outcome])},
      {label: t('Kind'), show: (l) => (l.kind ? word('money-kind', l.kind) : none())},
      {label: t('Request id'), show: (l) => (l.requestId ? code(l.requestId) : none())},
      {label: t('Claim'), show: (l) => (l.claimId ? h('a', {href: to('claims', l.claimId)}, l.claimId) : none())},
      {label: t('Amount'), class: 'num', show: (l) => (l.amount === undefined ? none() : money(l.amount, l.currency))},
      {label: t('At'), show: (l) => time(l.at)},
      {label: t('Reference'), show: (l) => l.ref ?? none()},
      {label: t('Differs'), class: 'col-mid', show: (l) => (l.expected ? `${l.expected} → ${l.actual}` : none())},
      {label: t('Finding'), show: (l) => (l.findingKey ? h('a', {href: to('findings', l.findingKey)}, t('open')) : none())},
    ],
    empty: [t('There are no such lines'), null],
  });
}

export const show = (view, route) => {
  view.title(t('Statements'));
  return route.parts[1] ? showOne(view, route.parts[1]) : showAll(view);
};
