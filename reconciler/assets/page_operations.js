// SPDX-License-Identifier: Apache-2.0
// What people ordered: all orders, or one, item by item.
import {get, post} from './api.js';
import {openAction, operationNode} from './action.js';
import {h} from './dom.js';
import {number, t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, card, code, facts, head, none, time, timeAgo} from './parts.js';
import {countsText, progressBar} from './progress.js';
import {to} from './router.js';

const KINDS = ['retry', 'refund', 'resolve', 'roll_back', 'repair', 'explain'];

const showAll = (view) =>
  showList(view, {
    id: 'operations',
    title: t('Operations'),
    url: ['v1/operations'],
    poll: 3000,
    key: (o) => o.operationId,
    above: () =>
      head(t('Operations'), {sub: t('What people ordered for many at once, newest first. An order goes on by itself, whoever watches.')}),
    filters: [
      {
        name: 'state',
        label: t('State'),
        default: 'all',
        options: [['all', t('All')], ...['running', 'done', 'cancelled'].map((s) => [s, word('state', s)])],
      },
      {name: 'kind', label: t('Kind'), default: 'any', options: [['any', t('All')], ...KINDS.map((k) => [k, word('operation', k)])]},
    ],
    columns: [
      {
        label: t('Operation'),
        show: (o) => h('a', {class: 'main-link', href: to('operations', o.operationId)}, `#${o.operationId} ${word('operation', o.kind)}`),
      },
      {label: t('State'), show: (o) => badge('state', o.state)},
      {label: t('Progress'), show: (o) => (o.state === 'running' ? progressBar(o) : h('span', {class: 'num'}, number(o.total)))},
      {label: t('Outcomes'), show: (o) => countsText(o) || none()},
      {label: t('By'), show: (o) => o.actor},
      {label: t('Reason'), show: (o) => o.reason ?? none()},
      {label: t('Begun'), show: (o) => timeAgo(o.createdAt)},
    ],
    empty: [
      t('Nobody has ordered anything yet'),
      t('Retries, refunds, repairs and roll-backs are kept here with their reason and outcome.'),
    ],
  });

function stop(operation, again) {
  openAction({
    title: t('End operation {id} early', {id: operation.operationId}),
    kind: 'danger',
    confirm: t('End early'),
    isOperation: false,
    intro: h('p', {}, t('What is done stays done; the rest is left alone.')),
    run: (values) => post(`v1/operations/${operation.operationId}/cancel`, {reason: values.reason}),
    after: again,
  });
}

async function showOne(view, id) {
  view.title(t('Operation {id}', {id}));
  const operation = await get(`v1/operations/${encodeURIComponent(id)}`, view.signal);
  let now = operation;
  const load = await showList(view, {
    id: `operation-${id}`,
    title: t('Items'),
    url: ['v1/operations', id, 'items'],
    key: (i) => i.key ?? i.id ?? i.claimId,
    limit: 100,
    above: () => [
      head(`${word('operation', now.kind)} #${id}`, {
        crumbs: [[t('Operations'), to('operations')]],
        sub: badge('state', now.state),
        actions:
          now.state === 'running' ? [button(t('End early'), ['review'], () => stop(now, () => view.again()), {kind: 'danger-quiet'})] : [],
      }),
      card(
        null,
        operationNode({...now, operationId: undefined}),
        facts([
          [t('By'), now.actor],
          [t('Reason'), now.reason],
          [t('Proof'), now.proof],
          [t('As'), now.as ? word('as', now.as) : null],
          [t('Key'), now.key ? code(now.key) : null],
          [t('Begun'), time(now.createdAt)],
          [t('Ended'), now.finishedAt ? time(now.finishedAt) : null],
          [t('Ended early by'), now.cancelledBy],
          [t('Why ended early'), now.cancelReason],
        ]),
      ),
      h('h2', {class: 'section'}, t('Item by item')),
    ],
    columns: [
      {
        label: t('Item'),
        show: (i) =>
          i.key ? h('a', {href: to('findings', i.key)}, i.key) : i.id ? h('a', {href: to('dead-letters', i.id)}, `#${i.id}`) : none(),
      },
      {label: t('Claim'), show: (i) => (i.claimId ? h('a', {href: to('claims', i.claimId)}, i.claimId) : none())},
      {label: t('Outcome'), show: (i) => (i.outcome ? word('outcome', i.outcome) : h('span', {class: 'muted'}, t('still to be done')))},
    ],
    empty: [t('Nothing was meant'), null],
  });
  if (operation.state === 'running') {
    view.every(1000, async () => {
      if (now.state !== 'running') return;
      now = await get(`v1/operations/${encodeURIComponent(id)}`, view.signal);
      await load();
    });
  }
}

export const show = (view, route) => {
  view.title(t('Operations'));
  return route.parts[1] ? showOne(view, route.parts[1]) : showAll(view);
};
