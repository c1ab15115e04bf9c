// SPDX-License-Identifier: Apache-2.0
// What machines could not finish: by one, or grouped by cause; retry, refund, resolve, one or many.
import {h} from './dom.js';
import {openOrder} from './action.js';
import {number, t, word} from './i18n.js';
import {clearSelection, showList} from './list.js';
import {badge, button, code, head, muted, none, tabs, timeAgo} from './parts.js';
import {to} from './router.js';

const FILTERS = ['provider', 'cause', 'activityCode', 'fingerprint'];
const filterOf = (query) => Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]));

const resolveFields = () => [
  {
    name: 'as',
    label: t('What happened really'),
    options: [
      ['delivered', t('It was delivered (or paid) by other means')],
      ['not-delivered', t('It was not, and will not be: give everything back')],
    ],
    value: 'delivered',
  },
  {name: 'proof', label: t('Proof'), max: 200, help: t('A receipt or reference; needed where it was delivered.')},
];

export const ORDERS = {
  retry: {
    title: () => t('Retry'),
    verb: () => t('Retry {n}'),
    kind: 'primary',
    intro: () => t('They go round again at once with a fresh ladder, under the same request id: nobody can be given twice.'),
  },
  refund: {
    title: () => t('Refund'),
    verb: () => t('Refund {n}'),
    kind: 'danger',
    intro: () => t('Gives up and returns everything. What may have been delivered is first reversed at its provider.'),
  },
  resolve: {
    title: () => t('Resolve'),
    verb: () => t('Resolve {n}'),
    kind: 'primary',
    intro: () => t('Closes them by what you know.'),
    fields: resolveFields,
    bodyOf: ({as, proof}) => ({as, proof: proof || undefined}),
  },
};

export function orderLetters(name, body, after) {
  const order = ORDERS[name];
  openOrder({
    url: `v1/dead-letters/${name}`,
    body,
    title: order.title(),
    verb: order.verb(),
    kind: order.kind,
    intro: h('p', {}, order.intro()),
    fields: order.fields?.(),
    bodyOf: order.bodyOf,
    after,
  });
}

export const letterActions = (body, after, why = null) =>
  Object.entries(ORDERS).map(([name, order]) =>
    button(order.title(), ['review'], () => orderLetters(name, body, after), {
      kind: name === 'refund' ? 'danger-quiet' : 'quiet',
      small: true,
      disabled: why ?? (body === null ? t('Select something first') : null),
      id: `action-${name}`,
    }),
  );

const filters = () => [
  {
    name: 'state',
    label: t('State'),
    default: 'open',
    options: [
      ['open', word('state', 'open')],
      ['closed', word('state', 'closed')],
      ['all', t('All')],
    ],
  },
  {name: 'provider', label: t('Provider'), placeholder: t('any')},
  {
    name: 'cause',
    label: t('Cause'),
    placeholder: t('any'),
    suggest: ['attempts_exhausted', 'unknown', 'refused', 'late_payment', 'unreadable'],
  },
  {name: 'activityCode', label: t('Activity'), placeholder: t('any')},
  {name: 'fingerprint', label: t('Fingerprint'), placeholder: t('any')},
];

const above = (view, isGrouped) => () => [
  head(t('Dead letters'), {sub: t('What machines could not finish. Each waits for a person and keeps what it holds meanwhile.')}),
  tabs(
    [
      ['list', t('One by one'), to('dead-letters', {...view.route.query, view: undefined, after: undefined})],
      ['groups', t('By cause'), to('dead-letters', {...view.route.query, view: 'groups', after: undefined, sort: undefined})],
    ],
    isGrouped ? 'groups' : 'list',
  ),
];

const columns = () => [
  {label: t('Letter'), show: (d) => h('a', {href: to('dead-letters', d.id), class: 'main-link'}, `#${d.id}`)},
  {label: t('Claim'), show: (d) => (d.claimId ? h('a', {href: to('claims', d.claimId)}, d.claimId) : muted(t('not readable')))},
  {label: t('Activity'), show: (d) => (d.activityCode ? h('a', {href: to('activities', d.activityCode)}, d.activityCode) : none())},
  {label: t('User'), class: 'num', show: (d) => (d.userId ? h('a', {href: to('claims', {user: d.userId})}, d.userId) : none())},
  {label: t('Provider'), show: (d) => d.provider},
  {
    label: t('Cause'),
    show: (d) =>
      h(
        'div',
        {},
        badge('cause', d.cause, d.state === 'closed' ? 'mute' : 'warn'),
        d.code ? [' ', code(d.code)] : null,
        d.detail && d.detail !== d.code ? h('div', {class: 'detail muted'}, d.detail) : null,
      ),
  },
  {label: t('Attempts'), class: 'num', sort: ['attempts', '-attempts'], show: (d) => number(d.attempts ?? 0)},
  {label: t('Opened'), sort: ['openedAt', '-openedAt'], show: (d) => timeAgo(d.openedAt)},
  {
    label: t('State'),
    show: (d) =>
      d.state === 'open'
        ? badge('state', 'open')
        : h('span', {title: d.reason}, badge('resolution', d.resolution, 'mute'), h('div', {class: 'muted small'}, d.closedBy)),
  },
];

function showGroups(view, again) {
  const query = view.route.query;
  return showList(view, {
    id: 'dead-letter-groups',
    title: t('Dead letters by cause'),
    above: above(view, true),
    url: ['v1/dead-letters/groups'],
    filters: filters(),
    key: (g) => `${g.provider}/${g.fingerprint}`,
    columns: [
      {
        label: t('Letters'),
        class: 'num',
        show: (g) =>
          h(
            'a',
            {
              class: 'main-link',
              href: to('dead-letters', {...query, view: undefined, after: undefined, provider: g.provider, fingerprint: g.fingerprint}),
            },
            number(g.count),
          ),
      },
      {label: t('Provider'), show: (g) => g.provider ?? none()},
      {
        label: t('Cause'),
        show: (g) =>
          h(
            'div',
            {},
            badge('cause', g.cause, 'warn'),
            g.code ? [' ', code(g.code)] : null,
            g.example.detail ? h('div', {class: 'detail muted'}, g.example.detail) : null,
          ),
      },
      {label: t('Oldest'), show: (g) => timeAgo(g.oldest)},
      {label: t('Newest'), show: (g) => timeAgo(g.newest)},
      {label: t('Example'), show: (g) => h('a', {href: to('dead-letters', g.example.id)}, `#${g.example.id}`)},
      {
        label: t('Actions'),
        class: 'col-actions',
        show: (g) =>
          letterActions(
            {filter: {...filterOf(query), provider: g.provider, fingerprint: g.fingerprint}},
            again,
            (query.state ?? 'open') !== 'open' ? t('They are closed') : null,
          ),
      },
    ],
    empty: [t('Nothing waits for a person'), t('Dead letters appear here when deliveries ran out of retries or could not be read.')],
  });
}

export async function show(view, route) {
  view.title(t('Dead letters'));
  let load = null;
  const again = () => {
    clearSelection('dead-letters');
    load?.().catch((error) => view.fail(error));
  };
  document.addEventListener('operation-ended', again, {signal: view.signal});
  if (route.query.view === 'groups') {
    load = await showGroups(view, again);
    return;
  }
  load = await showList(view, {
    id: 'dead-letters',
    title: t('Dead letters'),
    above: above(view, false),
    url: ['v1/dead-letters'],
    sort: 'openedAt',
    filters: filters(),
    columns: columns(),
    key: (d) => d.id,
    filterOf,
    canSelectAll: (route.query.state ?? 'open') === 'open',
    actions: (selection) => letterActions(selection, again, (route.query.state ?? 'open') === 'closed' ? t('They are closed') : null),
    empty: [t('Nothing waits for a person'), t('Dead letters appear here when deliveries ran out of retries or could not be read.')],
    poll: 10000,
  });
}
