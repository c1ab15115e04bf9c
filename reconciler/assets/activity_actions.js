// SPDX-License-Identifier: Apache-2.0
// What can be done with an activity, each with what it will do and a reason.
import {call, path, post} from './api.js';
import {openAction} from './action.js';
import {h} from './dom.js';
import {number, t, word} from './i18n.js';
import {button, note, table} from './parts.js';
import {openImport, openNumbers} from './activity_import.js';

const MOVES = {
  publish: {
    from: ['draft'],
    kind: 'primary',
    label: () => t('Publish'),
    tell: (a) =>
      t(
        '“{name}” becomes visible and opens by itself at its start. Kind, time zone, event, segments, qualification, group and price can not be changed any more.',
        {name: a.name},
      ),
  },
  pause: {
    from: ['published', 'ongoing'],
    kind: 'quiet',
    label: () => t('Pause'),
    tell: () => t('Claims are refused from now on until it is resumed. What was accepted goes on to be delivered.'),
  },
  resume: {from: ['paused'], kind: 'primary', label: () => t('Resume'), tell: () => t('Claims are judged again.')},
  finish: {
    from: ['ongoing', 'paused'],
    kind: 'danger-quiet',
    label: () => t('Finish'),
    danger: true,
    tell: () => t('It ends now, before its time, and cannot be opened again.'),
  },
  archive: {from: ['finished'], kind: 'quiet', label: () => t('Archive'), tell: () => t('It leaves the lists of what is live.')},
};

function move(a, name, again) {
  const m = MOVES[name];
  openAction({
    title: `${m.label()}: ${a.name}`,
    kind: m.danger ? 'danger' : 'primary',
    confirm: m.label(),
    after: again,
    intro: [
      h('p', {}, m.tell(a)),
      h(
        'p',
        {class: 'muted'},
        t('State now: {state}. Issued: {n}.', {state: word('status', a.status), n: number(a.availability.issued + a.availability.held)}),
      ),
    ],
    run: (values) => post(path(['v1/activities', a.code, name]), {reason: values.reason}),
  });
}

// What is there stands in the dialog; the server guards what is taken meanwhile.
function adjust(a, again) {
  const v = a.availability;
  openAction({
    title: t('Adjust the stock of {name}', {name: a.name}),
    confirm: t('Adjust'),
    after: again,
    fields: [
      {
        name: 'by',
        label: t('Change'),
        type: 'number',
        required: true,
        step: '1',
        value: '',
        help: t('More: 100. Fewer: -100; only free units can be taken away.'),
      },
    ],
    preview: async ({by}) => {
      const n = Number(by);
      if (by === '' || !Number.isSafeInteger(n) || n === 0)
        return {
          ok: false,
          node: h('p', {class: 'muted'}, t('Total {total}, remaining {left}', {total: number(v.total), left: number(v.remaining)})),
        };
      const fits = v.remaining === null || v.remaining + n >= 0;
      return {
        ok: fits,
        confirm: t('Change by {n}', {n: n > 0 ? `+${number(n)}` : number(n)}),
        node: h(
          'div',
          {class: 'preview'},
          table(
            [
              {label: '', show: (r) => r[0]},
              {label: t('Before'), class: 'num', show: (r) => number(r[1])},
              {label: t('After'), class: 'num', show: (r) => number(r[2])},
            ],
            [
              [t('Total'), v.total, v.total + n],
              [t('Remaining'), v.remaining, v.remaining + n],
            ],
          ),
          fits ? null : note('bad', t('So many are not free.')),
        ),
      };
    },
    run: (values, key) => post(path(['v1/activities', a.code, 'stock-adjustments']), {key, by: Number(values.by), reason: values.reason}),
    done: (result) => note('good', t('Total {total}, remaining {left}', {total: number(result.total), left: number(result.remaining)})),
  });
}

async function warmUp(a) {
  openAction({
    title: t('Warm up {name}', {name: a.name}),
    confirm: t('Warm up'),
    wide: true,
    intro: h('p', {}, t('Loads what the first second needs and tells what an operator should see before it opens.')),
    run: (values) => post(path(['v1/activities', a.code, 'warm-up']), {reason: values.reason}),
    done: (r) =>
      h(
        'div',
        {},
        (r.warnings ?? []).length === 0
          ? note('good', t('Ready: nothing to warn of.'))
          : r.warnings.map((w) => note('warn', h('strong', {}, w.code), ` ${w.detail}`)),
        table(
          [
            {label: t('What'), show: (row) => row[0]},
            {label: t('How many'), class: 'num', show: (row) => row[1]},
          ],
          [
            [t('Stock'), number(r.capacity?.stock?.remaining)],
            [t('Qualified users'), number(r.capacity?.qualifications)],
            [t('Claims a second, estimated'), number(r.estimatedClaimsPerSecond)],
            [t('Rows loaded'), number(Object.values(r.loaded?.rows ?? {}).reduce((s, n) => s + n, 0))],
          ].filter((row) => row[1] !== '–'),
        ),
      ),
  });
}

export function blockUser(a, again) {
  openAction({
    title: t('Block a user in {name}', {name: a.name}),
    confirm: t('Block'),
    kind: 'danger',
    after: again,
    fields: [{name: 'userId', label: t('User id'), required: true}],
    run: (values) =>
      call(path(['v1/activities', a.code, 'blocked-users', values.userId], {reason: values.reason}), {
        method: 'PUT',
        body: {reason: values.reason},
      }),
  });
}
export function unblockUser(a, userId, again) {
  openAction({
    title: t('Serve user {id} again', {id: userId}),
    confirm: t('Unblock'),
    after: again,
    run: (values) => call(path(['v1/activities', a.code, 'blocked-users', userId], {reason: values.reason}), {method: 'DELETE'}),
  });
}

export function activityActions(a, again) {
  const moves = Object.entries(MOVES)
    .filter(([, m]) => m.from.includes(a.status))
    .map(([name, m]) => button(m.label(), ['activities'], () => move(a, name, again), {kind: m.kind, small: true, id: `action-${name}`}));
  const isOver = ['finished', 'archived'].includes(a.status);
  return [
    ...moves,
    isOver || a.availability.total === null || a.kind === 'number'
      ? null
      : button(t('Adjust stock'), ['activities'], () => adjust(a, again), {
          small: true,
          id: 'action-stock',
          disabled: a.status === 'draft' ? t('A draft: change its total in the form.') : null,
        }),
    a.kind === 'number' && !isOver
      ? button(t('Add numbers'), ['activities'], () => openNumbers(a, again), {small: true, id: 'action-numbers'})
      : null,
    a.needsQualification && !isOver
      ? button(t('Import qualified users'), ['activities'], () => openImport(a, 'qualifications', again), {
          small: true,
          id: 'action-qualifications',
        })
      : null,
    ['published', 'ongoing', 'paused'].includes(a.status)
      ? button(t('Warm up'), ['activities'], () => warmUp(a), {small: true, id: 'action-warm-up'})
      : null,
  ].filter(Boolean);
}
