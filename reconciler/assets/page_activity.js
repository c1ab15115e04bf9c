// SPDX-License-Identifier: Apache-2.0
// One activity: its figures, and what can be done with it.
import {get, path, serverNow} from './api.js';
import {h} from './dom.js';
import {money, number, span, t, word} from './i18n.js';
import {badge, card, code, empty, facts, head, none, note, sparkline, stat, stockBar, table, tabs, time} from './parts.js';
import {activityActions} from './activity_actions.js';
import {showClaims, showHistory, showPeople, showNumbers, showRefusals} from './activity_lists.js';
import {showReview} from './activity_review.js';
import {showForm} from './activity_edit.js';
import {to} from './router.js';

const limitText = (limits) =>
  limits.length === 0 ? t('none') : limits.map((l) => `${number(l.count)} ${word('period', l.period)}`).join(', ');
const bucket = (b) => (b ? t('{rate} a second, burst {burst}', {rate: number(b.rate), burst: number(b.burst)}) : null);

const settings = (a) =>
  facts([
    [t('Kind'), word('kind', a.kind)],
    [t('Opens'), h('span', {}, time(a.startAt, a.timeZone))],
    [t('Ends'), time(a.endAt, a.timeZone)],
    [t('Time zone'), a.timeZone],
    [t('Event'), a.eventCode ? h('a', {href: to('events', a.eventCode)}, a.eventCode) : null],
    [t('Venue'), a.venue],
    [t('Reward'), a.rewardCode ? code(a.rewardCode) : null],
    [t('Limits for one user'), limitText(a.limits)],
    [t('Qualification list'), a.needsQualification ? t('needed') : null],
    [t('Eligibility'), a.eligibility ? code(a.eligibility) : null],
    [t('Channels'), a.channels?.join(', ')],
    [t('Exclusive group'), a.exclusiveGroup],
    [t('Points for one'), a.pointsCost ? number(a.pointsCost) : null],
    [t('Price'), a.price ? h('span', {class: 'num'}, moneyOf(a.price)) : null],
    [t('Payment provider'), a.paymentProvider],
    [t('Numbers are held for'), a.holdFor],
    [t('Late payment'), a.latePayment ? word('latePayment', a.latePayment) : null],
    [t('When the provider refuses'), word('onRefused', a.onRefused)],
    [t('Sign up again after a cancel'), a.signUpAgain === undefined ? null : a.signUpAgain ? t('yes') : t('no')],
    [
      t('Waiting list'),
      a.waitingList
        ? t('up to {n}', {n: number(a.waitingList.max)}) +
          (a.waitingList.acceptWithin ? ` · ${t('accept within {span}', {span: a.waitingList.acceptWithin})}` : '')
        : null,
    ],
    [t('Rate for one user'), bucket(a.rateLimit?.perUser)],
    [t('Rate in total'), bucket(a.rateLimit?.total)],
    [t('Intake'), word('intake', a.intake)],
    [t('Stock segments'), a.stock.segments ? number(a.stock.segments) : null],
    [t('Attributes'), a.attributes ? code(JSON.stringify(a.attributes)) : null],
  ]);

const moneyOf = (m) => money(m.amount, m.currency);

function live(a, now) {
  const v = a.availability,
    mine = now?.activities.find((each) => each.code === a.code);
  const start = Date.parse(a.startAt),
    end = Date.parse(a.endAt),
    at = serverNow();
  const left = ['published', 'ongoing', 'paused'].includes(a.status)
    ? at < start
      ? [t('Opens in'), span(start - at)]
      : [t('Ends in'), span(end - at)]
    : null;
  return h(
    'div',
    {'data-key': 'live'},
    h(
      'div',
      {class: 'stats'},
      left ? stat(left[0], left[1], null) : null,
      stat(t('Issued'), number(v.issued), v.held > 0 ? t('{n} held', {n: number(v.held)}) : null),
      stat(
        t('Remaining'),
        v.remaining === null ? '∞' : number(v.remaining),
        v.total === null ? t('unlimited') : t('of {n}', {n: number(v.total)}),
        v.remaining === 0 ? 'warn' : null,
      ),
      stat(t('Waiting'), number(v.waiting)),
      mine
        ? stat(
            t('Taken a minute'),
            number(mine.perMinute.accepted),
            sparkline(
              mine.lastMinutes.map((m) => m.accepted),
              t('Units taken in each of the last 30 minutes'),
            ),
          )
        : null,
      mine
        ? stat(
            t('Refused a minute'),
            number(mine.perMinute.refused),
            sparkline(
              mine.lastMinutes.map((m) => m.refused),
              t('Refusals in each of the last 30 minutes'),
            ),
          )
        : null,
    ),
    card(null, stockBar(v)),
  );
}

const TABS = (a) =>
  [
    ['overview', t('Overview')],
    ['review', t('Review')],
    ['claims', t('Claims')],
    ['refusals', t('Refusals')],
    ['history', t('History')],
    a.kind === 'number' ? ['numbers', t('Numbers')] : null,
    a.needsQualification ? ['qualifications', t('Qualified users')] : null,
    ['blocked-users', t('Blocked users')],
    ['edit', t('Edit')],
  ].filter(Boolean);

const above = (view, a, tab) => () => [
  head(a.name, {
    crumbs: [[t('Activities'), to('activities')]],
    sub: h('span', {}, badge('status', a.status), ' ', h('code', {class: 'code'}, a.code)),
    actions: activityActions(a, () => view.again()),
  }),
  tabs(
    TABS(a).map(([name, label]) => [name, label, name === 'overview' ? to('activities', a.code) : to('activities', a.code, name)]),
    tab,
  ),
];

async function showOverview(view, code0, first) {
  let a = first,
    now = null,
    history = {items: []};
  const hint = () =>
    a.status === 'draft'
      ? note('info', t('A draft: nobody can claim yet. Check it, then publish it.'))
      : a.status === 'paused'
        ? note('warn', t('Paused: claims are refused until it is resumed. What was accepted is delivered.'))
        : null;
  const paint = () =>
    view.show(
      above(view, a, 'overview')(),
      hint(),
      live(a, now),
      card(t('Configuration'), settings(a)),
      card(
        t('Last changes'),
        history.items.length
          ? table(
              [
                {label: t('At'), show: (i) => time(i.at)},
                {label: t('Change'), show: (i) => [i.from ? badge('status', i.from) : null, ' → ', badge('status', i.to)]},
                {label: t('By'), show: (i) => i.actor},
                {label: t('Reason'), show: (i) => i.reason ?? none()},
              ],
              history.items.slice(-5).reverse(),
            )
          : empty(t('Nothing changed yet')),
      ),
    );
  const load = async () => {
    [a, now] = await Promise.all([get(path(['v1/activities', code0]), view.signal), get('v1/now', view.signal)]);
    paint();
  };
  history = await get(path(['v1/activities', code0, 'history'], {limit: 1000}), view.signal);
  await load();
  view.every(2000, load);
}

export async function show(view, route) {
  const [, code0, tab = 'overview'] = route.parts;
  const a = await get(path(['v1/activities', code0]), view.signal);
  view.title(a.name);
  const top = above(view, a, tab);
  if (tab === 'overview') return showOverview(view, code0, a);
  if (tab === 'edit') return showForm(view, top, a.code);
  if (tab === 'review') return showReview(view, top, a);
  if (tab === 'claims') return showClaims(view, top, a);
  if (tab === 'refusals') return showRefusals(view, top, a);
  if (tab === 'history') return showHistory(view, top, a);
  if (tab === 'numbers') return showNumbers(view, top, a);
  return showPeople(view, top, a, tab);
}
