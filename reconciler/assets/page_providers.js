// SPDX-License-Identifier: Apache-2.0
// Providers: their state, breaker, limits; pausing and resuming; what was changed. And the webhooks that we call.
import {get, path, post} from './api.js';
import {openAction} from './action.js';
import {h} from './dom.js';
import {number, t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, empty, facts, head, none, note, tabs, time, timeAgo} from './parts.js';
import {to} from './router.js';
import {webhookActions, webhookTable} from './webhook_parts.js';

const limit = (l) =>
  h(
    'span',
    {class: 'num'},
    l.inForce === 0 ? t('unlimited') : number(l.inForce),
    l.override !== null ? h('span', {class: 'muted'}, ` (${t('configured: {n}', {n: l.configured === 0 ? t('unlimited') : number(l.configured)})})`) : null,
  );

function pause(p, again) {
  openAction({
    title: t('Pause {name}', {name: p.name}),
    confirm: t('Pause'),
    kind: 'danger',
    after: again,
    intro: h('p', {}, t('Nothing is sent there; waiting burns no attempts. What is due waits.')),
    fields: [
      {
        name: 'until',
        label: t('Until'),
        placeholder: '30m',
        help: t('A time such as 30m or 2h, or an instant; empty: until it is resumed.'),
      },
    ],
    run: (values) => post(path(['v1/providers', p.name, 'pause']), {until: values.until || undefined, reason: values.reason}),
  });
}
const resume = (p, again) =>
  openAction({
    title: t('Resume {name}', {name: p.name}),
    confirm: t('Resume'),
    after: again,
    intro: h('p', {}, t('What is due is sent again, within its limits.')),
    run: (values) => post(path(['v1/providers', p.name, 'resume']), {reason: values.reason}),
  });

function limits(p, again) {
  const given = (text) => (text === '' ? undefined : text === '-' ? null : Number(text));
  openAction({
    title: t('Limits of {name}', {name: p.name}),
    confirm: t('Set'),
    after: again,
    fields: [
      {
        name: 'concurrency',
        label: t('Calls at the same time'),
        placeholder: String(p.concurrency.inForce),
        help: t('Empty: unchanged; -: as configured ({n}).', {n: p.concurrency.configured}),
      },
      {
        name: 'rate',
        label: t('Calls a second'),
        placeholder: String(p.rate.inForce),
        help: t('Empty: unchanged; -: as configured ({n}).', {n: p.rate.configured}),
      },
      {
        name: 'breaker',
        label: t('Breaker'),
        value: '',
        options: [
          ['', t('unchanged')],
          ['auto', t('by itself')],
          ['open', t('held open: nothing is sent')],
          ['closed', t('held closed')],
        ],
      },
    ],
    preview: async ({concurrency, rate, breaker}) => {
      const bad = [concurrency, rate].some((text) => text !== '' && text !== '-' && !(Number(text) > 0));
      return {
        ok: !bad && (concurrency !== '' || rate !== '' || breaker !== ''),
        node: bad ? note('bad', t('A limit is a number above 0.')) : '',
      };
    },
    run: (values) =>
      post(path(['v1/providers', p.name, 'set']), {
        concurrency: given(values.concurrency),
        rate: given(values.rate),
        breaker: values.breaker || undefined,
        reason: values.reason,
      }),
  });
}

const actions = (p, again) => [
  p.paused
    ? button(t('Resume'), ['review'], () => resume(p, again), {kind: 'primary', small: true, id: 'action-resume'})
    : button(t('Pause'), ['review'], () => pause(p, again), {small: true, id: 'action-pause'}),
  button(t('Limits'), ['review'], () => limits(p, again), {small: true, id: 'action-limits'}),
];
const able = (p) =>
  [p.canInquire ? t('can be asked') : null, p.canReverse ? t('can take back') : null, p.repeatIsSafe ? t('repeating is safe') : null]
    .filter(Boolean)
    .join(', ');
const change = (c) =>
  c
    ? h(
        'div',
        {},
        `${c.what}: ${c.from ?? '–'} → ${c.to ?? '–'}`,
        h('div', {class: 'muted small'}, c.by, ' · ', timeAgo(c.at), c.reason ? ` · ${c.reason}` : ''),
      )
    : none();

const top = (tab) => [
  head(t('Providers'), {sub: t('Who delivers, and how they are protected; and who is told of events.')}),
  tabs(
    [
      ['providers', t('Providers'), to('providers')],
      ['webhooks', t('Webhooks'), to('providers', {view: 'webhooks'})],
    ],
    tab,
  ),
];

async function showProviders(view) {
  const load = async () => {
    const [{items}, now] = await Promise.all([get('v1/providers', view.signal), get('v1/now', view.signal)]);
    const again = () => load().catch(view.fail);
    view.show(
      ...top('providers'),
      items.length === 0
        ? empty(
            t('No fulfiller has served a provider yet'),
            t('Providers are configured in fulfiller.providers and appear with the first fulfiller that serves them.'),
          )
        : h(
            'div',
            {class: 'provider-cards'},
            items.map((p) =>
              h(
                'article',
                {class: 'panel', 'data-key': p.name, 'aria-label': p.name},
                h(
                  'div',
                  {class: 'activity-top'},
                  h('h2', {}, h('a', {href: to('providers', p.name)}, p.name)),
                  badge('provider', p.state, {serving: 'good', paused: 'warn', breaker_open: 'bad', breaker_half_open: 'warn'}[p.state]),
                ),
                p.instances === 0 ? note('warn', t('No fulfiller serves it now.')) : null,
                facts([
                  [t('Paused until'), p.paused ? (p.pausedUntil ? time(p.pausedUntil) : t('resumed')) : null],
                  [
                    t('Breaker'),
                    h(
                      'span',
                      {},
                      word('breaker', p.breaker.state),
                      p.breaker.held ? ` · ${t('held')}` : '',
                      p.breaker.until ? [' · ', time(p.breaker.until)] : null,
                    ),
                  ],
                  [t('Calls at the same time'), limit(p.concurrency)],
                  [t('Calls a second'), limit(p.rate)],
                  [t('Fulfillers'), number(p.instances)],
                  [t('Abilities'), able(p)],
                  [t('Dead letters'), h('a', {href: to('dead-letters', {provider: p.name})}, number(now.deadLetters[p.name] ?? 0))],
                  [t('Last change'), change(p.lastChange)],
                ]),
                h('div', {class: 'toolbar'}, actions(p, again)),
              ),
            ),
          ),
    );
  };
  await load();
  view.every(3000, load);
}

async function showWebhooks(view) {
  const load = async () => {
    const {items} = await get('v1/webhooks', view.signal);
    view.show(
      ...top('webhooks'),
      items.length === 0
        ? empty(t('Nobody is told of events'), t('Endpoints are configured in the fulfiller’s webhooks.'))
        : webhookTable(items, () => load().catch(view.fail)),
    );
  };
  await load();
  view.every(5000, load);
}

const showDeliveries = (view, name) =>
  showList(view, {
    id: 'webhook-deliveries',
    title: name,
    url: ['v1/webhooks', name, 'deliveries'],
    key: (d) => d.id,
    poll: 5000,
    above: () =>
      head(name, {
        crumbs: [[t('Webhooks'), to('providers', {view: 'webhooks'})]],
        sub: t('What it was told, newest first.'),
        actions: webhookActions({name}, () => view.again()),
      }),
    filters: [
      {
        name: 'state',
        label: t('State'),
        default: 'any',
        options: [['any', t('All')], ...['waiting', 'done', 'dead'].map((s) => [s, word('state', s)])],
      },
    ],
    columns: [
      {label: t('Event'), show: (d) => h('code', {class: 'code'}, d.type ?? d.eventType ?? '')},
      {label: t('About'), show: (d) => d.subject ?? none()},
      {label: t('State'), show: (d) => badge('state', d.state, {done: 'good', waiting: 'info', dead: 'bad'}[d.state])},
      {label: t('Attempts'), class: 'num', show: (d) => number(d.attempts)},
      {label: t('At'), show: (d) => time(d.createdAt ?? d.at)},
      {
        label: t('Last answer'),
        show: (d) => [d.httpStatus ?? d.lastStatus, d.detail ?? d.lastFailure ?? d.lastError].filter(Boolean).join(' · ') || none(),
      },
    ],
    empty: [t('It was told nothing yet'), null],
  });

const showHistory = (view, name) =>
  showList(view, {
    id: 'provider-history',
    title: name,
    url: ['v1/providers', name, 'history'],
    key: (c) => `${c.at}${c.what}`,
    filters: [],
    above: () => [head(name, {crumbs: [[t('Providers'), to('providers')]], sub: t('Every change, newest first.')})],
    columns: [
      {label: t('At'), show: (c) => time(c.at)},
      {label: t('What'), show: (c) => c.what},
      {label: t('From'), show: (c) => c.from ?? none()},
      {label: t('To'), show: (c) => c.to ?? none()},
      {label: t('By'), show: (c) => c.by},
      {label: t('Reason'), show: (c) => c.reason ?? none()},
    ],
    empty: [t('Nothing changed yet'), null],
  });

export function show(view, route) {
  view.title(t('Providers'));
  const [, first, second] = route.parts;
  if (first !== undefined && second === 'webhook') return showDeliveries(view, first);
  if (first !== undefined) return showHistory(view, first);
  return route.query.view === 'webhooks' ? showWebhooks(view) : showProviders(view);
}
