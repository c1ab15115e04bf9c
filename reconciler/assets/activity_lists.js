// SPDX-License-Identifier: Apache-2.0
// The lists that belong to an activity.
import {h} from './dom.js';
import {number, t, word} from './i18n.js';
import {showList} from './list.js';
import {badge, button, none, time} from './parts.js';
import {to} from './router.js';
import {blockUser, unblockUser} from './activity_actions.js';
import {openImport, openNumbers} from './activity_import.js';

export const CLAIM_STATES = ['waiting', 'offered', 'held', 'issuing', 'succeeded', 'cancelled', 'expired', 'failed', 'rolled_back'];
export const claimColumns = (withActivity) =>
  [
    {label: t('Claim'), show: (c) => h('a', {class: 'main-link', href: to('claims', c.claimId)}, c.claimId)},
    {label: t('State'), show: (c) => [badge('claim', c.status), c.review ? [' ', badge('claim', 'review', 'warn')] : null]},
    withActivity ? {label: t('Activity'), show: (c) => h('a', {href: to('activities', c.activityCode)}, c.activityCode)} : null,
    {label: t('User'), class: 'num', show: (c) => h('a', {href: to('claims', {user: c.userId})}, c.userId)},
    {label: 'bizId', show: (c) => h('code', {class: 'code'}, c.bizId)},
    {label: t('Quantity'), class: 'num', show: (c) => number(c.quantity)},
    {label: t('Attempts'), class: 'num', show: (c) => (c.delivery ? number(c.delivery.attempts) : none())},
    {label: t('Made'), show: (c) => time(c.createdAt)},
  ].filter(Boolean);

export const showClaims = (view, above, a) =>
  showList(view, {
    id: 'activity-claims',
    title: t('Claims'),
    above,
    url: ['v1/activities', a.code, 'claims'],
    key: (c) => c.claimId,
    poll: 10000,
    filters: [
      {name: 'status', label: t('State'), default: 'any', options: [['any', t('All')], ...CLAIM_STATES.map((s) => [s, word('claim', s)])]},
    ],
    columns: claimColumns(false),
    empty: [t('Nobody has claimed yet'), null],
  });

export const showRefusals = (view, above, a) =>
  showList(view, {
    id: 'refusals',
    title: t('Refusals'),
    above,
    url: ['v1/activities', a.code, 'refusals'],
    key: (m) => m.minute,
    poll: 5000,
    filters: [],
    columns: [
      {label: t('Minute'), show: (m) => time(m.minute)},
      {label: t('Refused'), class: 'num', show: (m) => number(m.total)},
      {
        label: t('Why'),
        show: (m) => Object.entries(m.codes).map(([code, n]) => h('span', {class: 'chip'}, word('code', code), ' ', h('b', {}, number(n)))),
      },
    ],
    empty: [t('Nobody was refused'), t('Refusals are counted here by minute and reason.')],
  });

export const showHistory = (view, above, a) =>
  showList(view, {
    id: 'history',
    title: t('History'),
    above,
    url: ['v1/activities', a.code, 'history'],
    key: (i) => `${i.at}${i.to}`,
    filters: [],
    columns: [
      {label: t('At'), show: (i) => time(i.at)},
      {label: t('Change'), show: (i) => [i.from ? badge('status', i.from) : t('created'), ' → ', badge('status', i.to)]},
      {label: t('By'), show: (i) => i.actor},
      {label: t('Reason'), show: (i) => i.reason ?? none()},
    ],
    below: () => h('p', {class: 'mt-3'}, h('a', {href: to('log', {target: a.code})}, t('Everything that people did with it, in the log'))),
    empty: [t('Nothing changed yet'), null],
  });

export const showNumbers = (view, above, a) =>
  showList(view, {
    id: 'numbers',
    title: t('Numbers'),
    above,
    url: ['v1/activities', a.code, 'numbers'],
    key: (n) => String(n.number),
    filters: [
      {
        name: 'status',
        label: t('State'),
        default: 'any',
        options: [['any', t('All')], ...['available', 'held', 'sold'].map((s) => [s, word('number', s)])],
      },
    ],
    extra: button(t('Add numbers'), ['activities'], () => openNumbers(a, () => view.again()), {small: true}),
    columns: [
      {label: t('Number'), class: 'num', show: (n) => String(n.number)},
      {label: t('State'), show: (n) => badge('number', n.status, n.status === 'sold' ? 'good' : n.status === 'held' ? 'info' : 'mute')},
      {label: t('Claim'), show: (n) => (n.claimId ? h('a', {href: to('claims', n.claimId)}, n.claimId) : none())},
    ],
    empty: [t('There are no numbers yet'), t('Add a range or import a CSV file.')],
  });

export const showPeople = (view, above, a, tab) =>
  tab === 'blocked-users'
    ? showList(view, {
        id: 'blocked',
        title: t('Blocked users'),
        above,
        url: ['v1/activities', a.code, 'blocked-users'],
        key: (u) => u.userId,
        filters: [],
        extra: null,
        keepEmpty: true,
        below: () =>
          h(
            'p',
            {class: 'mt-3'},
            button(t('Block a user'), ['activities'], () => blockUser(a, () => view.again()), {small: true, id: 'action-block'}),
          ),
        columns: [
          {label: t('User'), class: 'num', show: (u) => u.userId},
          {label: t('Reason'), show: (u) => u.reason ?? none()},
          {label: t('Since'), show: (u) => time(u.at ?? u.since ?? u.blockedAt)},
          {
            label: t('Actions'),
            class: 'col-actions',
            show: (u) => button(t('Unblock'), ['activities'], () => unblockUser(a, u.userId, () => view.again()), {small: true}),
          },
        ],
        empty: [t('Nobody is blocked'), t('Claims of a blocked user are refused in this activity.')],
      })
    : showList(view, {
        id: 'qualifications',
        title: t('Qualified users'),
        above,
        url: ['v1/activities', a.code, 'qualifications'],
        key: (q) => q.userId,
        filters: [
          {
            name: 'status',
            label: t('State'),
            default: 'any',
            options: [
              ['any', t('All')],
              ['unused', word('qualification', 'unused')],
              ['used', word('qualification', 'used')],
            ],
          },
        ],
        extra: button(t('Import qualified users'), ['activities'], () => openImport(a, 'qualifications', () => view.again()), {
          small: true,
        }),
        columns: [
          {label: t('User'), class: 'num', show: (q) => q.userId},
          {label: t('State'), show: (q) => badge('qualification', q.status, q.status === 'used' ? 'good' : 'mute')},
          {label: t('Source'), show: (q) => q.source ?? none()},
          {label: t('Batch'), show: (q) => q.batch ?? none()},
          {label: t('Claim'), show: (q) => (q.claimId ? h('a', {href: to('claims', q.claimId)}, q.claimId) : none())},
        ],
        empty: [t('Nobody is on the list yet'), t('Import a CSV file with the users who may claim.')],
      });
