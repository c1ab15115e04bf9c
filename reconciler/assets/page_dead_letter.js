// SPDX-License-Identifier: Apache-2.0
// One dead letter with everything that is known about it: each call as sent and answered, callbacks, orders, its claim.
import {get} from './api.js';
import {h} from './dom.js';
import {number, seconds, t, word} from './i18n.js';
import {letterActions} from './page_dead_letters.js';
import {badge, card, code, empty, facts, head, json, none, table, time} from './parts.js';
import {to} from './router.js';

const attempt = (a) =>
  h(
    'details',
    {class: 'attempt', 'data-key': `${a.attempt}-${a.call}-${a.step}`},
    h(
      'summary',
      {},
      h('span', {class: 'attempt-n num'}, `${a.attempt}.${a.call}`),
      h('span', {}, word('step', a.step)),
      badge('outcome', a.outcome),
      a.httpStatus ? code(`HTTP ${a.httpStatus}`) : null,
      a.code ? code(a.code) : null,
      h('span', {class: 'muted grow'}, a.detail && a.detail !== a.code ? a.detail : ''),
      h('span', {class: 'num muted'}, seconds(a.durationMs / 1000)),
      time(a.startedAt),
    ),
    h(
      'div',
      {class: 'columns'},
      h('div', {}, h('h4', {}, t('Request')), a.request ? json(a.request) : none()),
      h('div', {}, h('h4', {}, t('Answer')), a.answer ? json(a.answer) : none()),
    ),
    facts([
      [t('Provider'), a.provider],
      [t('Trace'), a.trace ? code(a.trace) : null],
    ]),
  );

const callbacks = (items) =>
  table(
    [
      {label: t('Received'), show: (c) => time(c.receivedAt)},
      {label: t('Event'), show: (c) => code(c.eventId)},
      {label: t('Says'), show: (c) => badge('outcome', c.outcome)},
      {label: t('Applied as'), show: (c) => word('callback', c.state)},
      {label: t('Reference'), show: (c) => c.ref ?? none()},
      {
        label: t('Detail'),
        show: (c) => h('div', {}, c.detail ?? '', c.body ? h('details', {}, h('summary', {}, t('Body')), json(c.body)) : null),
      },
    ],
    items,
  );

export const operationsTable = (items) =>
  table(
    [
      {label: t('At'), show: (o) => time(o.at)},
      {label: t('Operation'), show: (o) => h('a', {href: to('operations', o.operationId)}, word('operation', o.kind))},
      {label: t('By'), show: (o) => o.actor},
      {label: t('Reason'), show: (o) => o.reason ?? none()},
      {label: t('Outcome'), show: (o) => word('outcome', o.outcome)},
    ],
    items,
  );

const others = (items) =>
  table(
    [
      {label: t('Letter'), show: (l) => h('a', {href: to('dead-letters', l.id)}, `#${l.id}`)},
      {label: t('Cause'), show: (l) => badge('cause', l.cause, 'mute')},
      {label: t('Opened'), show: (l) => time(l.openedAt)},
      {
        label: t('Closed'),
        show: (l) => (l.closedAt ? [time(l.closedAt), ' ', badge('resolution', l.resolution, 'mute')] : badge('state', 'open')),
      },
      {label: t('By'), show: (l) => l.closedBy ?? none()},
      {label: t('Reason'), show: (l) => l.reason ?? none()},
    ],
    items,
  );

function page(d, again) {
  const isOpen = d.state === 'open';
  return [
    head(t('Dead letter #{id}', {id: d.id}), {
      crumbs: [[t('Dead letters'), to('dead-letters')]],
      sub: h('span', {}, badge('state', d.state), ' ', badge('cause', d.cause, 'warn'), d.code ? [' ', code(d.code)] : null),
      actions: letterActions({ids: [d.id]}, again, isOpen ? null : t('It is closed')),
    }),
    card(
      null,
      d.detail && d.detail !== d.code ? h('p', {class: 'lead-detail'}, d.detail) : null,
      facts([
        [t('Claim'), d.claimId ? h('a', {href: to('claims', d.claimId)}, d.claimId) : null],
        [t('State of the claim'), d.claimStatus ? badge('claim', d.claimStatus) : null],
        [t('Activity'), d.activityCode ? h('a', {href: to('activities', d.activityCode)}, d.activityCode) : null],
        [t('User'), d.userId ? h('a', {href: to('claims', {user: d.userId})}, d.userId) : null],
        ['bizId', d.bizId ? code(d.bizId) : null],
        [t('Provider'), d.provider],
        [t('Attempts'), d.attempts !== undefined ? number(d.attempts) : null],
        [t('Opened'), time(d.openedAt)],
        [t('Closed'), d.closedAt ? time(d.closedAt) : null],
        [t('Closed as'), d.resolution ? word('resolution', d.resolution) : null],
        [t('By'), d.closedBy],
        [t('Reason'), d.reason],
        [
          t('Fingerprint'),
          d.fingerprint ? h('a', {href: to('dead-letters', {provider: d.provider, fingerprint: d.fingerprint})}, d.fingerprint) : null,
        ],
      ]),
    ),
    d.body ? card(t('The message that could not be read'), json(d.body)) : null,
    card(
      t('Every call at the provider'),
      d.history.length ? h('div', {class: 'attempts'}, d.history.map(attempt)) : empty(t('No call was made')),
    ),
    d.callbacks?.length ? card(t('What the provider told'), callbacks(d.callbacks)) : null,
    d.operations.length ? card(t('What people ordered'), operationsTable(d.operations)) : null,
    d.letters.length ? card(t('Other letters of this claim'), others(d.letters)) : null,
  ];
}

export async function show(view, route) {
  const id = route.parts[1];
  view.title(t('Dead letter #{id}', {id}));
  const load = async () => {
    const letter = await get(`v1/dead-letters/${encodeURIComponent(id)}`, view.signal);
    view.show(...page(letter, () => load().catch(view.fail)));
  };
  document.addEventListener('operation-ended', () => load().catch(view.fail), {signal: view.signal});
  await load();
}
