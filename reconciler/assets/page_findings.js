// SPDX-License-Identifier: Apache-2.0
// What does not add up: cause and next step; repaired by the machine with a preview, or explained by a person.
import {get, path, tryGet} from './api.js';
import {openOrder} from './action.js';
import {h} from './dom.js';
import {money, t, word} from './i18n.js';
import {clearSelection, showList} from './list.js';
import {badge, button, card, code, facts, head, note, time, timeAgo} from './parts.js';
import {to} from './router.js';

const FILTERS = ['state', 'kind', 'severity', 'activityCode', 'provider', 'source'];
export const filterOf = (query) =>
  Object.fromEntries(FILTERS.filter((name) => query[name] && query[name] !== 'any').map((name) => [name, query[name]]));

const order = (name, body, after) =>
  openOrder(
    {
      repair: {
        url: 'v1/findings/repair',
        body,
        title: t('Repair'),
        verb: t('Repair {n}'),
        kind: 'primary',
        wide: true,
        after,
        intro: h(
          'p',
          {},
          t('Each difference is looked at again under lock; only what still differs is changed. Before and after are shown first.'),
        ),
      },
      resolve: {
        url: 'v1/findings/resolve',
        body,
        title: t('Resolve'),
        verb: t('Resolve {n}'),
        kind: 'primary',
        wide: true,
        after,
        intro: h('p', {}, t('You explain the difference. It stays gone as long as it says the same, and comes back when it changes.')),
      },
    }[name],
  );

export const findingActions = (body, after, why = null) =>
  [
    ['repair', t('Repair')],
    ['resolve', t('Resolve')],
  ].map(([name, label]) =>
    button(label, ['review'], () => order(name, body, after), {
      small: true,
      id: `action-${name}`,
      disabled: why?.[name] ?? (body === null ? t('Select something first') : null),
    }),
  );

const amountOf = (f) => (f.amount === undefined ? null : money(f.amount, f.currency));
const where = (f) => [
  f.activityCode ? h('a', {href: to('activities', f.activityCode)}, f.activityCode) : null,
  f.claimId ? h('div', {}, h('a', {href: to('claims', f.claimId)}, f.claimId)) : null,
  f.provider ? h('div', {class: 'muted'}, f.provider) : null,
];

const stateOf = (f) => badge('finding-state', f.state, f.state === 'opened' ? 'bad' : f.state === 'open' ? 'warn' : 'mute');
const columns = () => [
  {
    label: t('Finding'),
    class: 'col-wide',
    sort: ['key'],
    show: (f) =>
      h(
        'div',
        {},
        h('a', {class: 'main-link', href: to('findings', f.key)}, word('finding', f.kind)),
        h('div', {class: 'muted small wrap'}, f.key),
      ),
  },
  {label: t('Severity'), sort: ['severity'], show: (f) => h('div', {}, h('div', {}, badge('severity', f.severity)), stateOf(f))},
  {label: t('Where'), show: where},
  {label: t('Expected'), class: 'col-mid', show: (f) => h('span', {class: 'wrap'}, f.expected)},
  {label: t('Actual'), class: 'col-mid', show: (f) => h('b', {class: 'wrap'}, f.actual)},
  {
    label: t('Cause and next step'),
    class: 'col-wide',
    show: (f) =>
      h(
        'div',
        {},
        h('div', {}, f.cause),
        h('div', {class: 'muted clamped'}, f.nextStep),
        f.repair ? h('span', {class: 'tag tag-info'}, t('can be repaired')) : null,
      ),
  },
  {label: t('Opened'), sort: ['openedAt', '-openedAt'], show: (f) => timeAgo(f.openedAt)},
];

async function showAll(view, route) {
  let load = null;
  const again = () => {
    clearSelection('findings');
    load?.().catch((error) => view.fail(error));
  };
  document.addEventListener('operation-ended', again, {signal: view.signal});
  const definitions = await tryGet('v1/audits/definitions?limit=500', view.signal);
  const kinds = (definitions?.items ?? []).map((d) => [d.name, word('finding', d.name)]);
  const isGone = route.query.state === 'gone';
  load = await showList(view, {
    id: 'findings',
    title: t('Findings'),
    url: ['v1/findings'],
    key: (f) => f.key,
    sort: 'severity',
    filterOf,
    poll: 15000,
    above: () => head(t('Findings'), {sub: t('What audits and statements proved not to add up. Each keeps its key from night to night.')}),
    filters: [
      {
        name: 'state',
        label: t('State'),
        default: 'any',
        options: [['any', t('All but gone')], ...['opened', 'open', 'gone'].map((s) => [s, word('finding-state', s)]), ['all', t('All')]],
      },
      {name: 'kind', label: t('Kind'), default: 'any', options: [['any', t('All')], ...kinds]},
      {
        name: 'severity',
        label: t('Severity'),
        default: 'any',
        options: [['any', t('All')], ...['critical', 'high', 'medium'].map((s) => [s, word('severity', s)])],
      },
      {name: 'activityCode', label: t('Activity'), placeholder: t('any')},
      {name: 'provider', label: t('Provider'), placeholder: t('any')},
      {
        name: 'source',
        label: t('Source'),
        default: 'any',
        options: [
          ['any', t('All')],
          ['audit', word('source', 'audit')],
          ['statement', word('source', 'statement')],
        ],
      },
    ],
    columns: columns(),
    canSelectAll: !isGone,
    actions: (selection) => findingActions(selection, again, isGone ? {repair: t('They are gone'), resolve: t('They are gone')} : null),
    empty: [t('Everything adds up'), t('No finding is open. Audits run every night, and by “reconciler audit”.')],
  });
}

async function showOne(view, key) {
  const load = async () => {
    const f = await get(path(['v1/findings', key]), view.signal);
    view.title(word('finding', f.kind));
    const again = () => load().catch(view.fail);
    const gone = f.state === 'gone' ? t('It is gone') : null;
    view.show(
      head(word('finding', f.kind), {
        crumbs: [[t('Findings'), to('findings')]],
        sub: h('span', {}, badge('severity', f.severity), ' ', badge('finding-state', f.state, f.state === 'gone' ? 'mute' : 'warn')),
        actions: findingActions({ids: [f.key]}, again, {
          repair: gone ?? (f.repair ? null : t('The machine has no repair for this; see the next step.')),
          resolve: gone,
        }),
      }),
      card(
        null,
        h(
          'div',
          {class: 'versus'},
          h('div', {}, h('div', {class: 'stat-name'}, t('Expected')), h('div', {class: 'versus-value'}, f.expected)),
          h('div', {}, h('div', {class: 'stat-name'}, t('Actual')), h('div', {class: 'versus-value is-bad'}, f.actual)),
        ),
        f.explanation ? h('p', {class: 'muted'}, f.explanation) : null,
      ),
      card(t('Cause'), h('p', {}, f.cause)),
      card(
        t('Next step'),
        h('p', {}, f.nextStep),
        f.repair ? note('info', h('strong', {}, t('The machine can repair this: ')), f.repair.text) : null,
      ),
      f.resolution
        ? card(
            t('Explained'),
            facts([
              [t('By'), f.resolution.by],
              [t('Reason'), f.resolution.reason],
              [t('At'), time(f.resolution.at)],
            ]),
          )
        : null,
      card(
        t('Where'),
        facts([
          [t('Activity'), f.activityCode ? h('a', {href: to('activities', f.activityCode)}, f.activityCode) : null],
          [t('Claim'), f.claimId ? h('a', {href: to('claims', f.claimId)}, f.claimId) : null],
          [t('Provider'), f.provider],
          [t('Amount'), amountOf(f)],
          [t('Source'), f.source ? word('source', f.source) : null],
          [t('Opened'), time(f.openedAt)],
          [t('Last seen'), time(f.lastSeenAt)],
          [t('Gone'), f.goneAt ? time(f.goneAt) : null],
          [t('Key'), code(f.key)],
        ]),
      ),
    );
  };
  document.addEventListener('operation-ended', () => load().catch(view.fail), {signal: view.signal});
  await load();
}

export function show(view, route) {
  view.title(t('Findings'));
  const key = route.parts.slice(1).join('/');
  return key ? showOne(view, key) : showAll(view, route);
}
