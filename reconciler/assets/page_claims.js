// SPDX-License-Identifier: Apache-2.0
// Claims: finding one by its id, by activity and bizId, or by user; and everything about one of them.
import {ApiError, get, path, tryGet} from './api.js';
import {openOrder} from './action.js';
import {claimColumns} from './activity_lists.js';
import {claimAddress} from './claim_search.js';
import {h} from './dom.js';
import {dryRunForm} from './dry_run.js';
import {number, t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, card, code, empty, facts, head, json, note, time, tone} from './parts.js';
import {go, to} from './router.js';

function search(value = '') {
  return card(
    t('Find a claim'),
    h(
      'form',
      {
        class: 'claim-search',
        'data-key': 'claim-search',
        onsubmit: (event) => {
          event.preventDefault();
          const text = event.currentTarget.elements.q.value.trim();
          if (text !== '') go(claimAddress(text));
        },
      },
      h('label', {for: 'claim-q', class: 'form-label'}, t('Claim id, user id, or activity/bizId')),
      h(
        'div',
        {class: 'input-row'},
        h('input', {
          id: 'claim-q',
          name: 'q',
          class: 'form-control',
          value,
          autocomplete: 'off',
          spellcheck: 'false',
          placeholder: '683000001-17 · 42 · festival-2026-20261001-1100/click-7f3a',
        }),
        h('button', {class: 'btn btn-primary'}, t('Find')),
      ),
    ),
  );
}

const start = (view, route) => {
  view.title(t('Claims'));
  view.show(
    head(t('Claims'), {sub: t('Everything about one click: what became of it, what was sent and answered, and why it would be refused.')}),
    route.query.q ? note('warn', t('“{text}” is no claim id, user id or activity/bizId.', {text: route.query.q})) : null,
    search(route.query.q),
    dryRunForm({activityCode: route.query.activity, userId: route.query.userId}),
  );
};

function showUser(view, user) {
  view.title(t('Claims of user {id}', {id: user}));
  return showList(view, {
    id: 'user-claims',
    title: t('Claims'),
    url: ['v1/users', user, 'claims'],
    key: (c) => c.claimId,
    filters: [],
    columns: claimColumns(true),
    keepEmpty: true,
    above: () => [head(t('Claims of user {id}', {id: user}), {crumbs: [[t('Claims'), to('claims')]]})],
    below: () => dryRunForm({userId: user}),
    empty: [
      t('This user has claimed nothing'),
      t('A refused claim leaves nothing behind; the dry run below tells why it would be refused now.'),
    ],
  });
}

const due = (c) => (c.delivery?.nextAttemptAt ? time(c.delivery.nextAttemptAt) : null);
const claimFacts = (c) =>
  facts([
    [t('Activity'), h('a', {href: to('activities', c.activityCode)}, c.activityCode)],
    [t('User'), h('a', {href: to('claims', {user: c.userId})}, c.userId)],
    ['bizId', code(c.bizId)],
    [t('Reward'), c.rewardCode ? code(c.rewardCode) : null],
    [t('Quantity'), number(c.quantity)],
    [t('Numbers'), c.numbers?.join(', ')],
    [t('Channel'), c.channel],
    [t('Points'), c.points ? number(c.points) : null],
    [t('Made'), time(c.createdAt)],
    [t('Changed'), time(c.updatedAt)],
    [t('Held until'), c.holdUntil ? time(c.holdUntil) : null],
    [t('Accept until'), c.acceptUntil ? time(c.acceptUntil) : null],
    [t('Attempts'), c.delivery ? number(c.delivery.attempts) : null],
    [t('Next attempt'), due(c)],
    [t('Last outcome'), c.delivery?.outcome ? badge('outcome', c.delivery.outcome) : null],
    [t('Provider’s reference'), c.delivery?.ref ? code(c.delivery.ref) : null],
    [t('Payment'), c.payment ? h('span', {}, badge('outcome', c.payment.status), ' ', code(c.payment.requestId)) : null],
    [t('Refund'), c.refund ? h('span', {}, badge('outcome', c.refund.status), ' ', code(c.refund.requestId)) : null],
    [
      t('Reversal'),
      c.reversal ? h('span', {}, badge('outcome', c.reversal.status), ` · ${number(c.reversal.attempts)} ${t('attempts')}`) : null,
    ],
    [t('Failure'), c.failure ? h('span', {}, code(c.failure.code), c.failure.detail ? ` ${c.failure.detail}` : '') : null],
  ]);

const trailItem = (i, n) =>
  h(
    'li',
    {class: `trail-item tone-${tone(i.detail?.outcome ?? i.detail?.to ?? '')}`, 'data-key': `${i.at}-${i.what}-${n}`},
    h('div', {class: 'trail-at'}, time(i.at)),
    h(
      'div',
      {class: 'trail-what'},
      h('div', {}, h('b', {}, word('trail', i.what)), i.by ? h('span', {class: 'muted'}, ` · ${i.by}`) : null),
      i.text ? h('div', {}, i.text) : null,
      i.detail && Object.keys(i.detail).length ? h('details', {}, h('summary', {}, t('Detail')), json(i.detail)) : null,
    ),
  );

function rollBack(claim, again) {
  openOrder({
    url: path(['v1/claims', claim.claimId, 'roll-back']),
    body: {},
    title: t('Roll back claim {id}', {id: claim.claimId}),
    verb: t('Roll back'),
    kind: 'danger',
    after: again,
    intro: h(
      'p',
      {},
      t('What was delivered is first reversed at the provider; then stock, allowance, qualification, points or number are given back.'),
    ),
  });
}

const stateNote = (c) =>
  c.review
    ? note(
        'warn',
        h('strong', {}, t('A person must decide')),
        c.review.cause ? `: ${word('cause', c.review.cause)}` : '',
        ' · ',
        h('a', {href: to('dead-letters', {activityCode: c.activityCode})}, t('Dead letters of this activity')),
      )
    : null;

async function trailOf(c, signal) {
  const trail = await tryGet(path(['v1/claims', c.claimId, 'trail']), signal);
  return trail;
}

async function showClaim(view, load) {
  const paint = async () => {
    const c = await load();
    const claim = c.claimId ? c : null;
    if (claim === null)
      return view.show(
        head(t('A queued request'), {crumbs: [[t('Claims'), to('claims')]], sub: badge('claim', c.status)}),
        card(null, json(c)),
      );
    view.title(t('Claim {id}', {id: claim.claimId}));
    const trail = await trailOf(claim, view.signal);
    const items = trail?.items ?? [];
    view.show(
      head(t('Claim {id}', {id: claim.claimId}), {
        crumbs: [[t('Claims'), to('claims')]],
        sub: h('span', {}, badge('claim', claim.status), claim.review ? [' ', badge('claim', 'review', 'warn')] : null),
        actions: [
          button(t('Roll back'), ['review'], () => rollBack(claim, () => paint().catch(view.fail)), {
            kind: 'danger-quiet',
            id: 'action-roll-back',
            disabled:
              claim.status === 'succeeded' ? null : t('Only what was delivered can be taken back; what waits for a person is refunded.'),
          }),
        ],
      }),
      stateNote(claim),
      card(null, claimFacts(claim)),
      card(t('What happened'), items.length ? h('ol', {class: 'trail'}, items.map(trailItem)) : empty(t('Nothing is recorded yet'))),
      dryRunForm({activityCode: claim.activityCode, userId: claim.userId}),
    );
    return claim;
  };
  const claim = await paint();
  if (claim && ['issuing', 'waiting', 'offered', 'held'].includes(claim.status)) view.every(3000, paint);
  document.addEventListener('operation-ended', () => paint().catch(view.fail), {signal: view.signal});
}

function notFound(view, text, why) {
  view.title(t('Claims'));
  const [activityCode] = text.includes('/') ? text.split('/') : [];
  view.show(
    head(t('There is no such claim'), {crumbs: [[t('Claims'), to('claims')]]}),
    note(
      'warn',
      t('“{text}” was not found. A refused click leaves no record: the dry run below tells what it would be told now.', {text}),
      ' ',
      why,
    ),
    search(text),
    dryRunForm({activityCode}),
  );
}

export async function show(view, route) {
  const [, first, second] = route.parts;
  if (first === undefined) return route.query.user ? showUser(view, route.query.user) : start(view, route);
  const url = second === undefined ? path(['v1/claims', first]) : path(['v1/claims', first, second]);
  try {
    return await showClaim(view, () => get(url, view.signal));
  } catch (error) {
    if (!(error instanceof ApiError) || ![400, 404].includes(error.status)) throw error;
    return notFound(view, second === undefined ? first : `${first}/${second}`, error.detail);
  }
}
