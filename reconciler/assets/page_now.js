// SPDX-License-Identifier: Apache-2.0
// What is going on now, every two seconds.
import {get, serverNow} from './api.js';
import {h} from './dom.js';
import {ago, clock, dateTime, number, seconds, shortTime, span, t, tn, word} from './i18n.js';
import {badge, empty, head, sparkline, stat, stockBar, time} from './parts.js';
import {to} from './router.js';

const EVERY = 2000;

function countdown(activity) {
  const now = serverNow(),
    start = Date.parse(activity.startAt),
    end = Date.parse(activity.endAt);
  if (activity.status === 'finished')
    return h(
      'div',
      {class: 'countdown'},
      h('span', {class: 'countdown-label'}, t('ended')),
      h('span', {class: 'countdown-value'}, ago(activity.endAt, now)),
    );
  const [label, until] = now < start ? [t('opens in'), start] : [t('ends in'), end];
  return h(
    'div',
    {class: 'countdown'},
    h('span', {class: 'countdown-label'}, label),
    h('span', {class: 'countdown-value', 'data-until': String(until)}, span(until - now)),
  );
}

function rates({perMinute, lastMinutes}) {
  const accepted = lastMinutes.map((m) => m.accepted),
    refused = lastMinutes.map((m) => m.refused);
  return h(
    'div',
    {class: 'rates'},
    h(
      'div',
      {class: 'rate'},
      h('div', {}, h('b', {}, number(perMinute.accepted)), h('span', {class: 'muted small'}, ` ${t('taken/min')}`)),
      sparkline(accepted, t('Units taken in each of the last 30 minutes, at most {n}', {n: number(Math.max(...accepted))})),
    ),
    h(
      'div',
      {class: 'rate rate-refused'},
      h('div', {}, h('b', {}, number(perMinute.refused)), h('span', {class: 'muted small'}, ` ${t('refused/min')}`)),
      sparkline(refused, t('Refusals in each of the last 30 minutes, at most {n}', {n: number(Math.max(...refused))})),
    ),
  );
}

// By the clocks of its zone; with dates where it is longer than a day.
function windowText({startAt, endAt, timeZone}) {
  const write = Date.parse(endAt) - Date.parse(startAt) >= 86400000 ? shortTime : clock;
  return `${write(startAt, timeZone)} – ${write(endAt, timeZone)} ${timeZone}`;
}

const activityCard = (activity) =>
  h(
    'article',
    {class: `activity-card is-${activity.status}`, 'data-key': activity.code, 'aria-label': activity.name},
    h(
      'div',
      {class: 'activity-top'},
      h(
        'div',
        {class: 'activity-names'},
        h('h3', {}, h('a', {href: to('activities', activity.code)}, activity.name)),
        h('div', {class: 'muted small'}, h('code', {class: 'code'}, activity.code), ` · ${word('kind', activity.kind)}`),
      ),
      badge('status', activity.status),
    ),
    h(
      'div',
      {class: 'activity-mid'},
      countdown(activity),
      h('div', {class: 'muted small', title: `${dateTime(activity.startAt)} – ${dateTime(activity.endAt)}`}, windowText(activity)),
    ),
    stockBar(activity.availability),
    activity.status === 'published' && activity.perMinute.refused === 0 ? null : rates(activity),
  );

function figures(now) {
  const letters = Object.values(now.deadLetters).reduce((sum, n) => sum + n, 0);
  const byProvider = Object.entries(now.deadLetters).sort((a, b) => b[1] - a[1]);
  const perMinute = now.activities.reduce((sum, a) => sum + a.perMinute.accepted, 0),
    refused = now.activities.reduce((sum, a) => sum + a.perMinute.refused, 0);
  const isLate = now.lag.transitionSeconds >= 2;
  return h(
    'div',
    {class: 'stats'},
    stat(t('Taken a minute'), number(perMinute), t('{n} refused', {n: number(refused)})),
    stat(
      t('Dead letters'),
      h('a', {href: to('dead-letters')}, number(letters)),
      byProvider
        .slice(0, 3)
        .map(([provider, n], i) => [i > 0 ? ', ' : '', h('a', {href: to('dead-letters', {provider})}, `${provider} ${number(n)}`)]),
      letters > 0 ? 'warn' : 'good',
    ),
    stat(
      t('Findings'),
      h('a', {href: to('findings')}, number(now.findings)),
      now.findings === 0 ? t('everything adds up') : t('something does not add up'),
      now.findings > 0 ? 'bad' : 'good',
    ),
    stat(t('Operations'), h('a', {href: to('operations', {state: 'running'})}, number(now.operations)), t('under way')),
    stat(
      t('Deliveries due'),
      now.lag.deliveriesDue >= 1000 ? `≥ ${number(1000)}` : number(now.lag.deliveriesDue),
      now.lag.queued > 0 ? t('{n} requests queued', {n: number(now.lag.queued)}) : t('nothing is queued'),
      now.lag.deliveriesDue > 0 ? 'warn' : null,
    ),
    stat(
      t('Opening and closing'),
      isLate ? seconds(now.lag.transitionSeconds) : t('on time'),
      `${tn(now.lag.schedulers, '{n} scheduler', '{n} schedulers')}, ${tn(now.lag.fulfillers, '{n} fulfiller', '{n} fulfillers')}`,
      isLate || now.lag.schedulers === 0 || now.lag.fulfillers === 0 ? 'bad' : 'good',
    ),
  );
}

function lastNight(night) {
  if (!night) return null;
  return h(
    'p',
    {class: 'sub'},
    t('Last night: '),
    h('a', {href: to('reports', night.date)}, night.date),
    ' ',
    badge(
      'night',
      night.state === 'running' ? 'running' : night.clean ? 'clean' : 'findings',
      night.state === 'running' ? 'info' : night.clean ? 'good' : 'bad',
    ),
    night.findings > 0 ? ` ${tn(night.findings, '{n} finding', '{n} findings')}` : null,
  );
}

function group(title, activities, total) {
  if (activities.length === 0) return null;
  return h(
    'section',
    {class: 'group', 'data-key': title},
    h('h2', {}, title, h('span', {class: 'count'}, number(total ?? activities.length))),
    h('div', {class: 'activity-cards'}, activities.map(activityCard)),
  );
}

function page(now, night) {
  const begun = (a) => Date.parse(a.startAt) <= Date.parse(now.serverTime);
  const running = now.activities.filter((a) => a.status === 'ongoing' || (a.status === 'paused' && begun(a)));
  const ended = now.activities.filter((a) => a.status === 'finished');
  const coming = now.activities.filter((a) => !running.includes(a) && !ended.includes(a));
  return [
    head(t('Now'), {sub: h('span', {}, t('Server time '), time(now.serverTime))}),
    lastNight(night),
    figures(now),
    now.activities.length === 0
      ? empty(
          t('Nothing runs and nothing is to come'),
          t('Activities appear here when they are published.'),
          h('a', {class: 'btn btn-primary', href: to('activities')}, t('Go to the activities')),
        )
      : null,
    group(t('Running'), running),
    group(t('Coming'), coming, now.counts.published),
    group(t('Just ended'), ended),
  ];
}

export async function show(view) {
  view.title(t('Now'));
  let night = null,
    now = null;
  const load = async () => {
    now = await get('v1/now', view.signal);
    view.show(...page(now, night));
  };
  const nights = async () => {
    night = (await get('v1/reports?limit=1', view.signal)).items[0] ?? null;
  };
  await nights();
  await load();
  view.every(EVERY, load);
  view.every(60000, nights);
  // Countdowns run on between the answers.
  view.every(250, () => {
    for (const el of document.querySelectorAll('[data-until]')) {
      const text = span(Number(el.dataset.until) - serverNow());
      if (el.firstChild?.nodeValue !== text) el.firstChild.nodeValue = text;
    }
  });
}
