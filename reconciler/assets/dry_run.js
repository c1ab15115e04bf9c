// SPDX-License-Identifier: Apache-2.0
// What would a claim be told, now or at another time, rule by rule? Nothing is written.
import {call, path} from './api.js';
import {h} from './dom.js';
import {dateTime, language, number, t, word} from './i18n.js';
import {badge, card, code, fault, loading, note, table} from './parts.js';

const facts = (c) =>
  [
    c.limit !== undefined ? t('{count} of {limit} used', {count: number(c.count ?? 0), limit: number(c.limit)}) : null,
    c.resetsAt ? t('resets {at}', {at: dateTime(c.resetsAt)}) : null,
    c.startAt ? t('opens {at}', {at: dateTime(c.startAt)}) : null,
    c.endAt ? t('ends {at}', {at: dateTime(c.endAt)}) : null,
    c.status ? t('state {state}', {state: word('status', c.status)}) : null,
    c.channels ? t('channels {list}', {list: c.channels.join(', ')}) : null,
    c.eligibility ?? null,
    c.exclusiveGroup ? t('group {group}', {group: c.exclusiveGroup}) : null,
    c.balance !== undefined ? t('{balance} points, {needed} needed', {balance: number(c.balance), needed: number(c.needed ?? 0)}) : null,
    c.remaining !== undefined ? t('{n} left', {n: number(c.remaining)}) : null,
    c.wanted !== undefined ? t('{n} wanted', {n: number(c.wanted)}) : null,
    c.waiting !== undefined ? t('{n} waiting', {n: number(c.waiting)}) : null,
    c.numbers ? t('taken: {list}', {list: c.numbers.join(', ')}) : null,
    c.claim ? t('claim {id}', {id: c.claim.claimId}) : null,
  ].filter((text) => text !== null);

export const dryRunResult = (r) =>
  h(
    'div',
    {class: 'dry-run'},
    r.allowed
      ? note(
          'good',
          h('strong', {}, t('It would be accepted')),
          r.status ? ` (${word('claim', r.status)})` : '',
          r.replayed ? ` · ${t('the same click again: its claim is shown')}` : '',
        )
      : note('bad', h('strong', {}, t('It would be refused: {why}', {why: word('code', r.code)})), ' ', code(r.code)),
    table(
      [
        {label: t('Rule'), show: (c) => word('rule', c.rule)},
        {label: t('Verdict'), show: (c) => (c.ok ? badge('verdict', 'ok', 'good') : badge('verdict', 'refused', 'bad'))},
        {label: t('Why'), show: (c) => h('span', {}, c.code ? [code(c.code), ' '] : null, facts(c).join(' · '))},
      ],
      r.checks,
    ),
    h('p', {class: 'muted small'}, t('Judged for {at}.', {at: dateTime(r.at)})),
  );

const field = (name, label, value, more = {}) =>
  h(
    'div',
    {class: 'field'},
    h('label', {for: `dry-${name}`, class: 'form-label'}, label),
    h('input', {id: `dry-${name}`, name, class: 'form-control', value: value ?? '', autocomplete: 'off', spellcheck: 'false', ...more}),
  );

export function dryRunForm({activityCode, userId} = {}) {
  const result = h('div', {id: 'dry-run-result', 'aria-live': 'polite'});
  const send = async (event) => {
    event.preventDefault();
    const of = (name) => form.elements[name].value.trim();
    result.replaceChildren(loading());
    const numbers =
      of('numbers') === ''
        ? undefined
        : of('numbers')
            .split(/[\s,，]+/)
            .map(Number);
    const body = {
      activityCode: of('activityCode'),
      userId: of('userId'),
      bizId: of('bizId') || `dry-run-${Date.now()}`,
      channel: of('channel') || undefined,
      quantity: of('quantity') === '' ? undefined : Number(of('quantity')),
      numbers,
    };
    try {
      const at = of('at') === '' ? undefined : new Date(of('at')).toISOString();
      result.replaceChildren(dryRunResult(await call(path(['v1/claims'], {dryRun: 'true', at}), {method: 'POST', body})));
    } catch (error) {
      result.replaceChildren(fault(error));
    }
  };
  const form = h(
    'form',
    {class: 'form-grid', id: 'dry-run', onsubmit: send},
    field('activityCode', t('Activity'), activityCode, {required: true}),
    field('userId', t('User id'), userId, {required: true, inputmode: 'numeric'}),
    field('bizId', t('bizId (empty: a new click)'), ''),
    field('quantity', t('Quantity'), '', {type: 'number', min: '1'}),
    field('channel', t('Channel'), ''),
    field('numbers', t('Numbers'), ''),
    field('at', t('At (empty: now)'), '', {type: 'datetime-local', step: '1'}),
    h('div', {class: 'field field-button'}, h('button', {class: 'btn btn-primary'}, t('Ask'))),
  );
  const section = card(
    t('Why would a claim be refused?'),
    h('p', {class: 'muted'}, t('A dry run: the whole rule path, nothing is written.')),
    form,
    result,
  );
  section.setAttribute('data-key', `dry-run-${activityCode ?? ''}-${userId ?? ''}`);
  // What somebody has typed stays; in another language it stands in a new form.
  section.language = language();
  section.absorb = (next) => {
    if (next.language === section.language) return;
    for (const {name, value} of form.elements) if (name !== '') next.querySelector('form').elements[name].value = value;
    section.replaceWith(next);
  };
  return section;
}
