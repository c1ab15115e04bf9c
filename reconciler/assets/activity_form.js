// SPDX-License-Identifier: Apache-2.0
// An activity as a form, and a form as an activity: every member of the document. What a kind does not have is hidden.
import {h, newId} from './dom.js';
import {t, word} from './i18n.js';
import {toInstant, toLocal} from './zoned.js';

const KINDS = ['reward', 'registration', 'number', 'exchange'];
const PERIODS = ['total', 'day', 'week', 'month', 'event'];
const zones = () => Intl.supportedValuesOf?.('timeZone') ?? ['UTC', 'Asia/Shanghai'];

function row(label, control, help, kinds) {
  const id = newId('f');
  control.id = id;
  if (help) control.setAttribute('aria-describedby', `${id}-help`);
  return h(
    'div',
    {class: 'field', 'data-kinds': kinds ?? null},
    h('label', {for: id, class: 'form-label'}, label),
    control,
    help ? h('div', {id: `${id}-help`, class: 'form-text'}, help) : null,
  );
}
const input = (name, value, more = {}) =>
  h('input', {class: 'form-control', name, autocomplete: 'off', spellcheck: 'false', value: value ?? '', ...more});
const whole = (name, value, more = {}) => input(name, value ?? '', {type: 'number', min: '0', step: '1', ...more});
const select = (name, value, set, options) =>
  h(
    'select',
    {class: 'form-select', name, value},
    options.map((code) => h('option', {value: code}, word(set, code))),
  );
const check = (name, label, isOn, kinds) => {
  const id = newId('c');
  return h(
    'div',
    {class: 'form-check field', 'data-kinds': kinds ?? null},
    h('input', {type: 'checkbox', class: 'form-check-input', id, name, checked: isOn}),
    h('label', {class: 'form-check-label', for: id}, label),
  );
};
const part = (legend, kinds, ...rows) =>
  h('fieldset', {class: 'panel form-part', 'data-kinds': kinds ?? null}, h('legend', {}, legend), h('div', {class: 'form-grid'}, rows));

function limitRow(limit) {
  const line = h(
    'div',
    {class: 'limit-row'},
    h('input', {
      class: 'form-control',
      type: 'number',
      min: '1',
      step: '1',
      'aria-label': t('How many'),
      'data-limit': 'count',
      value: limit.count ?? 1,
    }),
    h(
      'select',
      {class: 'form-select', 'aria-label': t('In which time'), 'data-limit': 'period', value: limit.period ?? 'total'},
      PERIODS.map((p) => h('option', {value: p}, word('period', p))),
    ),
    h('button', {type: 'button', class: 'btn btn-sm btn-quiet', 'aria-label': t('Remove this limit'), onclick: () => line.remove()}, '×'),
  );
  return line;
}

function limits(doc) {
  const list = h('div', {class: 'limit-list'}, (doc.limits ?? [{count: 1, period: 'total'}]).map(limitRow));
  return h(
    'div',
    {class: 'field field-wide', role: 'group', 'aria-label': t('Limits for one user')},
    h('div', {class: 'form-label'}, t('Limits for one user')),
    list,
    h(
      'button',
      {
        type: 'button',
        class: 'btn btn-sm btn-quiet',
        onclick: () => {
          if (list.children.length < PERIODS.length) list.append(limitRow({}));
        },
      },
      t('Add a limit'),
    ),
    h('div', {class: 'form-text'}, t('By quantity; without any limit a user may take as much as there is.')),
  );
}

const bucketRows = (name, label, b) => [
  row(t('{what}: a second', {what: label}), whole(`${name}.rate`, b?.rate, {min: '1'})),
  row(t('{what}: burst', {what: label}), whole(`${name}.burst`, b?.burst, {min: '1'})),
];

export function formOf(doc, {isNew, onKind}) {
  const zone = doc.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const list = newId('zones');
  const form = h(
    'form',
    {class: 'activity-form', id: 'activity-form', novalidate: true},
    part(
      t('What and when'),
      null,
      row(
        t('Code'),
        input('code', doc.code, {required: true, readOnly: !isNew, pattern: '[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}'}),
        t('Letters, digits, dots, dashes; it stays for ever.'),
      ),
      row(t('Name'), input('name', doc.name, {required: true, maxlength: '128'})),
      row(t('Kind'), select('kind', doc.kind ?? 'reward', 'kind', KINDS)),
      row(t('Time zone'), input('timeZone', zone, {list, required: true}), t('Days, weeks and months of limits are those of this zone.')),
      row(
        t('Opens'),
        input('startAt', toLocal(doc.startAt, zone), {type: 'datetime-local', step: '1', required: true, 'data-was': doc.startAt}),
        t('By the clocks of the time zone.'),
      ),
      row(
        t('Ends'),
        input('endAt', toLocal(doc.endAt, zone), {type: 'datetime-local', step: '1', required: true, 'data-was': doc.endAt}),
        t('From this instant on it is over.'),
      ),
      row(t('Event'), input('eventCode', doc.eventCode)),
      row(t('Venue'), input('venue', doc.venue, {maxlength: '256'})),
      h(
        'datalist',
        {id: list},
        zones().map((z) => h('option', {value: z})),
      ),
    ),
    part(
      t('What there is'),
      null,
      row(
        t('Reward'),
        input('rewardCode', doc.rewardCode),
        t('Code of what is delivered; needed for rewards and exchanges.'),
        'reward registration exchange number',
      ),
      row(t('Stock'), whole('stock.total', doc.stock?.total), t('Empty: unlimited.'), 'reward registration exchange'),
      row(
        t('Stock segments'),
        whole('stock.segments', doc.stock?.segments, {min: '1', max: '64'}),
        t('More rows for very hot stock; 1 is right for most.'),
        'reward registration exchange',
      ),
      row(t('Points for one'), whole('pointsCost', doc.pointsCost, {min: '1'}), null, 'exchange'),
      row(t('Price in minor units'), whole('price.amount', doc.price?.amount), t('1299 is 12.99 CNY, and 1299 JPY.'), 'number'),
      row(t('Currency'), input('price.currency', doc.price?.currency, {maxlength: '3', placeholder: 'CNY'}), null, 'number'),
      row(t('Payment provider'), input('paymentProvider', doc.paymentProvider), null, 'number'),
      row(t('Numbers are held for'), input('holdFor', doc.holdFor, {placeholder: '15m'}), null, 'number'),
      row(
        t('Late payment'),
        select('latePayment', doc.latePayment ?? 'reallocate', 'latePayment', ['reallocate', 'refund', 'review']),
        null,
        'number',
      ),
      row(t('When the provider refuses'), select('onRefused', doc.onRefused ?? 'fail', 'onRefused', ['fail', 'review'])),
      row(
        t('Waiting list: how many'),
        whole('waitingList.max', doc.waitingList?.max, {min: '1'}),
        t('Empty: no waiting list.'),
        'registration',
      ),
      row(
        t('Waiting list: accept within'),
        input('waitingList.acceptWithin', doc.waitingList?.acceptWithin, {placeholder: '24h'}),
        t('Empty: the place is theirs at once.'),
        'registration',
      ),
      check('signUpAgain', t('Signing up again after a cancel is allowed'), doc.signUpAgain ?? true, 'registration'),
    ),
    part(
      t('Who may, and how much'),
      null,
      limits(doc),
      check('needsQualification', t('Only users on the qualification list'), doc.needsQualification ?? false),
      row(
        t('Eligibility'),
        input('eligibility', doc.eligibility, {maxlength: '2000', placeholder: '$.user.level >= 5'}),
        t('A jsonpath over user, progress and request; empty: everybody.'),
      ),
      row(t('Channels'), input('channels', doc.channels?.join(', '), {placeholder: 'APP, WEB'}), t('Separated by commas; empty: all.')),
      row(
        t('Exclusive group'),
        input('exclusiveGroup', doc.exclusiveGroup, {maxlength: '128'}),
        t('A user can have a claim in one activity of a group only.'),
      ),
    ),
    part(
      t('Rates and intake'),
      null,
      bucketRows('rateLimit.perUser', t('One user'), doc.rateLimit?.perUser),
      bucketRows('rateLimit.total', t('All users'), doc.rateLimit?.total),
      row(
        t('Intake'),
        select('intake', doc.intake ?? 'direct', 'intake', ['direct', 'queued']),
        t('Queued: requests wait and are judged at the back end’s pace.'),
      ),
    ),
    part(
      t('Further attributes'),
      null,
      h(
        'div',
        {class: 'field field-wide'},
        row(
          t('Attributes as JSON'),
          h('textarea', {
            class: 'form-control mono',
            name: 'attributes',
            rows: '4',
            spellcheck: 'false',
            value: doc.attributes ? JSON.stringify(doc.attributes, null, 2) : '',
          }),
          t('Free: an object of your own.'),
        ),
      ),
    ),
  );
  const kinds = () => {
    const kind = form.elements.kind.value;
    for (const el of form.querySelectorAll('[data-kinds]')) el.hidden = !el.dataset.kinds.split(' ').includes(kind);
  };
  form.elements.kind.onchange = () => {
    kinds();
    onKind?.();
  };
  kinds();
  return form;
}

export class FormFault extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

const OWN = {
  reward: ['stock'],
  registration: ['stock', 'signUpAgain', 'waitingList'],
  number: ['price', 'paymentProvider', 'holdFor', 'latePayment'],
  exchange: ['stock', 'pointsCost'],
};
const texts = ['name', 'kind', 'timeZone', 'eventCode', 'venue', 'rewardCode', 'eligibility', 'exclusiveGroup', 'onRefused', 'intake'];

function instant(form, name, zone) {
  const local = form.elements[name].value;
  if (local === '') throw new FormFault(name, t('{what} is needed.', {what: t(name === 'startAt' ? 'Opens' : 'Ends')}));
  // A field shows whole seconds, and what clocks show twice once: what nobody touched stays the instant that it was.
  const was = form.elements[name].dataset.was;
  if (was !== undefined && (local.length === 16 ? `${local}:00` : local) === toLocal(was, zone)) return was;
  const at = toInstant(local, zone);
  if (at === null)
    throw new FormFault(
      name,
      t('{local} does not exist in {zone}: clocks leave it out, or the zone is unknown.', {local: local.replace('T', ' '), zone}),
    );
  return at;
}

function count(form, name) {
  const text = form.elements[name].value.trim();
  if (text === '') return undefined;
  if (!/^[0-9]{1,15}$/.test(text)) throw new FormFault(name, t('{text} is not a whole number.', {text}));
  return Number(text);
}

function pair(form, first, second, make) {
  const [a, b] = [count(form, first), count(form, second)];
  if ((a === undefined) !== (b === undefined)) throw new FormFault(a === undefined ? first : second, t('Rate and burst go together.'));
  return a === undefined ? undefined : make(a, b);
}

function attributes(form) {
  const text = form.elements.attributes.value.trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new FormFault('attributes', `${t('The attributes are not JSON')}: ${error.message}`);
  }
}

// The document, without what the kind does not have. Throws FormFault at the first field that cannot be read; rules are the server's.
export function docOf(form) {
  const value = (name) => form.elements[name].value.trim() || undefined;
  const zone = value('timeZone') ?? '';
  const doc = {
    code: value('code'),
    ...Object.fromEntries(texts.map((name) => [name, value(name)])),
    startAt: instant(form, 'startAt', zone),
    endAt: instant(form, 'endAt', zone),
    limits: [...form.querySelectorAll('.limit-row')].map((line) => ({
      count: Number(line.querySelector('[data-limit=count]').value),
      period: line.querySelector('[data-limit=period]').value,
    })),
    needsQualification: form.elements.needsQualification.checked,
    channels: value('channels')
      ?.split(/[,，]/)
      .map((c) => c.trim())
      .filter((c) => c !== ''),
    attributes: attributes(form),
  };
  const perUser = pair(form, 'rateLimit.perUser.rate', 'rateLimit.perUser.burst', (rate, burst) => ({rate, burst})),
    total = pair(form, 'rateLimit.total.rate', 'rateLimit.total.burst', (rate, burst) => ({rate, burst}));
  if (perUser || total) doc.rateLimit = {perUser, total};
  const own = {
    stock: () => ({total: count(form, 'stock.total') ?? null, segments: count(form, 'stock.segments')}),
    pointsCost: () => count(form, 'pointsCost'),
    paymentProvider: () => value('paymentProvider'),
    holdFor: () => value('holdFor'),
    latePayment: () => value('latePayment'),
    price: () =>
      value('price.amount') === undefined && value('price.currency') === undefined
        ? undefined
        : {amount: count(form, 'price.amount') ?? 0, currency: value('price.currency')?.toUpperCase()},
    signUpAgain: () => form.elements.signUpAgain.checked,
    waitingList: () =>
      count(form, 'waitingList.max') === undefined
        ? undefined
        : {max: count(form, 'waitingList.max'), acceptWithin: value('waitingList.acceptWithin')},
  };
  for (const name of OWN[doc.kind] ?? []) doc[name] = own[name]();
  return doc;
}
