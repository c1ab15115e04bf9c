// SPDX-License-Identifier: Apache-2.0
// All activities.
import {h} from './dom.js';
import {t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, head, none, stockBar, time} from './parts.js';
import {go, to} from './router.js';

const STATES = ['draft', 'published', 'ongoing', 'paused', 'finished', 'archived'];
const KINDS = ['reward', 'registration', 'number', 'exchange'];

export async function show(view) {
  view.title(t('Activities'));
  await showList(view, {
    id: 'activities',
    title: t('Activities'),
    url: ['v1/activities'],
    key: (a) => a.code,
    sort: 'code',
    poll: 15000,
    above: () =>
      head(t('Activities'), {
        actions: [button(t('New activity'), ['activities'], () => go(to('activity-new')), {kind: 'primary', id: 'new-activity'})],
      }),
    filters: [
      {name: 'q', label: t('Text'), placeholder: t('in code or name'), type: 'search'},
      {name: 'status', label: t('State'), default: 'any', options: [['any', t('All')], ...STATES.map((s) => [s, word('status', s)])]},
      {name: 'kind', label: t('Kind'), default: 'any', options: [['any', t('All')], ...KINDS.map((k) => [k, word('kind', k)])]},
      {name: 'eventCode', label: t('Event'), placeholder: t('any')},
    ],
    columns: [
      {
        label: t('Activity'),
        sort: ['code'],
        show: (a) =>
          h(
            'div',
            {},
            h('a', {class: 'main-link', href: to('activities', a.code)}, a.name),
            h('div', {class: 'muted small'}, h('code', {class: 'code'}, a.code)),
          ),
      },
      {label: t('State'), show: (a) => badge('status', a.status)},
      {label: t('Kind'), show: (a) => word('kind', a.kind)},
      {label: t('Event'), show: (a) => (a.eventCode ? h('a', {href: to('events', a.eventCode)}, a.eventCode) : none())},
      {label: t('Opens'), sort: ['startAt', '-startAt'], show: (a) => time(a.startAt)},
      {label: t('Ends'), show: (a) => time(a.endAt)},
      {label: t('Stock'), class: 'col-stock', show: (a) => stockBar(a.availability)},
    ],
    empty: [t('There is no activity yet'), t('Create one here, or apply an event file with “scheduler apply”.')],
  });
}
