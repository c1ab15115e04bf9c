// SPDX-License-Identifier: Apache-2.0
// Endpoints that are told of events, and what can be done with them.
import {path, post} from './api.js';
import {openAction} from './action.js';
import {h} from './dom.js';
import {number, t, tn} from './i18n.js';
import {badge, button, none, note, table, timeAgo} from './parts.js';
import {to} from './router.js';

const turn = (w, what, again) =>
  openAction({
    title: what === 'enable' ? t('Enable {name}', {name: w.name}) : t('Disable {name}', {name: w.name}),
    confirm: what === 'enable' ? t('Enable') : t('Disable'),
    kind: what === 'enable' ? 'primary' : 'danger',
    after: again,
    intro: h('p', {}, what === 'enable' ? t('What waits is told to it again.') : t('It is told nothing until it is enabled.')),
    run: (values) => post(path(['v1/webhooks', w.name, what]), {reason: values.reason}),
  });

const replay = (w, again) =>
  openAction({
    title: t('Tell {name} again', {name: w.name}),
    confirm: t('Tell again'),
    after: again,
    fields: [
      {name: 'since', label: t('Since'), required: true, value: '1h', help: t('An instant, or a time ago such as 1h.')},
      {
        name: 'all',
        label: t('Which'),
        value: '',
        options: [
          ['', t('Those that were given up')],
          ['true', t('All, also what it has heard')],
        ],
      },
    ],
    run: (values) =>
      post(path(['v1/webhooks', w.name, 'replay']), {
        since: values.since,
        all: values.all === 'true' ? true : undefined,
        reason: values.reason,
      }),
    done: (r) => note('good', tn(r.replayed, '{n} is told again', '{n} are told again')),
  });

export const webhookActions = (w, again) =>
  [
    w.status === 'disabled'
      ? button(t('Enable'), ['review'], () => turn(w, 'enable', again), {small: true, kind: 'primary'})
      : w.status !== undefined
        ? button(t('Disable'), ['review'], () => turn(w, 'disable', again), {small: true})
        : null,
    button(t('Tell again'), ['review'], () => replay(w, again), {small: true}),
  ].filter(Boolean);

export const webhookTable = (items, again) =>
  table(
    [
      {
        label: t('Endpoint'),
        show: (w) =>
          h(
            'div',
            {},
            h('a', {class: 'main-link', href: to('providers', w.name, 'webhook')}, w.name),
            h('div', {class: 'muted small'}, w.origin ?? ''),
          ),
      },
      {
        label: t('State'),
        show: (w) => badge('webhook', w.status, {enabled: 'good', failing: 'warn', disabled: 'bad', removed: 'mute'}[w.status]),
      },
      {label: t('Events'), show: (w) => (w.types ?? []).map((type) => h('span', {class: 'chip'}, type))},
      {label: t('Waiting'), class: 'num', show: (w) => number(w.waiting)},
      {label: t('Given up'), class: 'num', show: (w) => number(w.dead)},
      {label: t('Last success'), show: (w) => (w.lastSuccessAt ? timeAgo(w.lastSuccessAt) : none())},
      {
        label: t('Last failure'),
        show: (w) => (w.lastFailureAt ? h('div', {}, timeAgo(w.lastFailureAt), h('div', {class: 'muted small'}, w.lastFailure)) : none()),
      },
      {label: t('Actions'), class: 'col-actions', show: (w) => webhookActions(w, again)},
    ],
    items,
    {rowKey: (w) => w.name},
  );
