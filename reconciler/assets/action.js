// SPDX-License-Identifier: Apache-2.0
// Everything that a person changes goes through this dialog: what it will do (asked of the server where it can say), why, a
// confirmation, progress, and what came of it.
import {call, post} from './api.js';
import {openDialog} from './dialog.js';
import {h, newId} from './dom.js';
import {number, t, tn, word} from './i18n.js';
import {code, fault, loading, note} from './parts.js';
import {counts, countsText, follow, progressBar, title, watchSoon} from './progress.js';
import {to} from './router.js';
import {say} from './view.js';

const REASON_MAX = 500;

function field(spec) {
  const id = newId(spec.name);
  const common = {id, name: spec.name, required: spec.required, 'aria-describedby': spec.help ? `${id}-help` : null};
  const control = spec.options
    ? h(
        'select',
        {...common, class: 'form-select', value: spec.value},
        spec.options.map(([value, label]) => h('option', {value}, label)),
      )
    : spec.type === 'textarea'
      ? h('textarea', {...common, class: 'form-control', rows: '3', maxlength: spec.max, value: spec.value ?? ''})
      : h('input', {
          ...common,
          class: 'form-control',
          type: spec.type ?? 'text',
          min: spec.min,
          max: spec.max,
          step: spec.step,
          placeholder: spec.placeholder,
          accept: spec.accept,
          autocomplete: 'off',
          ...(spec.type === 'file' ? {} : {value: spec.value ?? ''}),
        });
  return h(
    'div',
    {class: 'field'},
    h('label', {for: id, class: 'form-label'}, spec.label, spec.required ? h('span', {class: 'muted'}, ` (${t('needed')})`) : null),
    control,
    spec.help ? h('div', {id: `${id}-help`, class: 'form-text'}, spec.help) : null,
  );
}

const reasonField = () =>
  field({
    name: 'reason',
    label: t('Reason'),
    type: 'textarea',
    required: true,
    max: REASON_MAX,
    help: t('Why? It is kept for ever with your name in the log.'),
  });

function valuesOf(form) {
  const values = {};
  for (const el of form.elements)
    if (el.name) values[el.name] = el.type === 'file' ? el.files[0] : el.type === 'checkbox' ? el.checked : el.value.trim();
  return values;
}

// spec: title, intro (nodes), fields, confirm (text), kind ('primary' or 'danger'), preview (values, signal) → {node, ok, confirm?}, run (values, key, signal) →
// result, done (result, values) → node, isOperation, after (result).
export function openAction(spec) {
  const leaving = new AbortController();
  const key = `console-${crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`}`;
  const said = h('div', {class: 'action-said', 'aria-live': 'polite'});
  const preview = h('div', {class: 'action-preview', role: 'status', 'aria-live': 'polite'});
  const submit = h('button', {class: `btn btn-${spec.kind ?? 'primary'}`, id: 'action-confirm'}, spec.confirm);
  const form = h(
    'form',
    {
      class: 'action',
      onsubmit: (event) => {
        event.preventDefault();
        run();
      },
    },
    spec.intro ? h('div', {class: 'action-intro'}, spec.intro) : null,
    preview,
    (spec.fields ?? []).map(field),
    reasonField(),
    said,
    h(
      'div',
      {class: 'dialog-actions'},
      h('button', {type: 'button', class: 'btn btn-quiet', onclick: () => dialog.close()}, t('Cancel')),
      submit,
    ),
  );
  const state = {asked: 0, ok: spec.preview === undefined, ended: null};
  const allow = (ok) => {
    state.ok = ok;
    submit.disabled = !ok;
  };

  async function ask() {
    if (!spec.preview) return;
    const turn = ++state.asked;
    allow(false);
    preview.replaceChildren(loading());
    try {
      const answer = await spec.preview(valuesOf(form), leaving.signal);
      if (turn !== state.asked) return;
      preview.replaceChildren(answer?.node ?? '');
      if (answer?.confirm) submit.textContent = answer.confirm;
      allow(answer?.ok ?? true);
    } catch (error) {
      if (error.name !== 'AbortError' && turn === state.asked) preview.replaceChildren(fault(error, ask));
    }
  }

  async function run() {
    const values = valuesOf(form);
    if (!state.ok) return;
    allow(false);
    said.replaceChildren(h('div', {class: 'loading'}, h('span', {class: 'spinner', 'aria-hidden': 'true'}), t('Working …')));
    try {
      const result = await spec.run(values, key, leaving.signal);
      state.ended = result ?? true;
      if (result?.operationId && spec.isOperation !== false) await showOperation(dialog, result, leaving.signal);
      else if (spec.done) showEnd(dialog, spec.done(result, values));
      else dialog.close();
    } catch (error) {
      if (error.name === 'AbortError') return;
      said.replaceChildren(fault(error), ...(spec.refused?.(error) ?? []));
      allow(true);
    }
  }

  const dialog = openDialog(spec.title, form, {
    wide: spec.wide,
    onClose: () => {
      leaving.abort();
      if (state.ended !== null) spec.after?.(state.ended);
    },
  });
  const first = form.querySelector('input, select, textarea');
  first?.focus();
  form.addEventListener('change', (event) => {
    if (event.target.name !== 'reason') ask();
  });
  ask();
  return dialog;
}

function showEnd(dialog, node) {
  const close = h('button', {type: 'button', class: 'btn btn-primary', id: 'action-close', onclick: () => dialog.close()}, t('Close'));
  dialog.querySelector('.dialog-body').replaceChildren(h('div', {role: 'status'}, node), h('div', {class: 'dialog-actions'}, close));
  close.focus();
}

const outcomeTable = (items) =>
  h(
    'div',
    {class: 'table-wrap'},
    h(
      'table',
      {class: 'grid grid-small'},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          [t('Item'), t('Outcome')].map((label) => h('th', {scope: 'col'}, label)),
        ),
      ),
      h(
        'tbody',
        {},
        items.map((item) =>
          h(
            'tr',
            {},
            h('td', {'data-label': t('Item')}, code(item.claimId ?? item.key ?? item.id)),
            h('td', {'data-label': t('Outcome')}, word('outcome', item.outcome)),
          ),
        ),
      ),
    ),
  );

// What came of it, or how far it is.
export function operationNode(operation) {
  const isOver = operation.state !== 'running';
  const odd = (operation.items ?? [])
    .filter((item) => item.outcome && !/^(retried|refunded|resolved|rolled_back|reversing|repaired|explained)$/.test(item.outcome))
    .slice(0, 20);
  return h(
    'div',
    {},
    isOver
      ? note(operation.state === 'done' ? 'good' : 'warn', h('strong', {}, `${title(operation)}: ${word('state', operation.state)}`))
      : h('p', {}, h('strong', {}, title(operation)), ` · ${t('goes on by itself, also when you leave')}`),
    isOver ? null : progressBar(operation),
    counts(operation).length
      ? h(
          'ul',
          {class: 'counts'},
          counts(operation).map(([name, n]) => h('li', {}, h('b', {}, number(n)), ` ${word('count', name)}`)),
        )
      : null,
    odd.length ? [h('p', {class: 'mt-2 mb-1'}, t('Where nothing was done:')), outcomeTable(odd)] : null,
    operation.operationId
      ? h(
          'p',
          {class: 'mt-2'},
          h('a', {href: to('operations', operation.operationId)}, t('Operation {id}, item by item', {id: operation.operationId})),
        )
      : null,
  );
}

async function showOperation(dialog, began, signal) {
  const body = dialog.querySelector('.dialog-body');
  const place = h('div', {role: 'status', 'aria-live': 'polite'}, operationNode(began));
  const close = h('button', {type: 'button', class: 'btn btn-primary', id: 'action-close', onclick: () => dialog.close()}, t('Close'));
  const cancel = h(
    'button',
    {
      type: 'button',
      class: 'btn btn-quiet',
      id: 'action-stop',
      onclick: async () => {
        cancel.disabled = true;
        await post(`v1/operations/${began.operationId}/cancel`, {reason: t('ended early in the console')}).catch((error) =>
          say(error.message, 'bad'),
        );
      },
    },
    t('End early'),
  );
  const actions = h('div', {class: 'dialog-actions'}, cancel, close);
  body.replaceChildren(place, actions);
  close.focus();
  body.addEventListener('click', (event) => {
    if (event.target.localName === 'a') dialog.close();
  });
  if (began.state === 'running') watchSoon(began.operationId);
  const end =
    began.state === 'running'
      ? await follow(began.operationId, (operation) => place.replaceChildren(operationNode(operation)), signal)
      : began;
  cancel.remove();
  document.dispatchEvent(new CustomEvent('operation-ended', {detail: end}));
}

// A dry run's answer: how many, and what would become of them.
function previewNode(answer) {
  const n = answer.total ?? 0;
  const text = countsText(answer);
  const items = (answer.items ?? []).filter((item) => item.before !== undefined || item.after !== undefined).slice(0, 50);
  return h(
    'div',
    {class: 'preview'},
    h('p', {class: 'preview-count'}, h('b', {id: 'preview-count'}, number(n)), ` ${n === 1 ? t('item is meant') : t('items are meant')}`),
    answer.previewed !== undefined ? h('p', {class: 'muted'}, t('The first {n} were looked at.', {n: number(answer.previewed)})) : null,
    text && n > 0 ? h('p', {}, t('What becomes of them, as things are now: {text}', {text})) : null,
    items.length
      ? h(
          'div',
          {class: 'table-wrap'},
          h(
            'table',
            {class: 'grid grid-small'},
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                [t('Item'), t('Before'), t('After'), t('Outcome')].map((label) => h('th', {scope: 'col'}, label)),
              ),
            ),
            h(
              'tbody',
              {},
              items.map((item) =>
                h(
                  'tr',
                  {},
                  h('td', {'data-label': t('Item')}, code(item.key ?? item.id)),
                  h('td', {'data-label': t('Before')}, item.before ?? '–'),
                  h('td', {'data-label': t('After')}, item.after ?? '–'),
                  h('td', {'data-label': t('Outcome')}, word('outcome', item.outcome)),
                ),
              ),
            ),
          ),
        )
      : null,
  );
}

// An order over letters, findings or a claim: the server counts first (dryRun), then does it as an operation.
// order: {url, body: {ids} or {filter} or {}, title, verb ('Retry {n}'), kind, intro, fields, bodyOf (values) → further members, after}
export function openOrder(order) {
  const body = (values) => ({...order.body, ...(order.bodyOf?.(values) ?? {})});
  return openAction({
    title: order.title,
    intro: order.intro,
    fields: order.fields,
    kind: order.kind,
    confirm: order.verb.replace('{n}', '…'),
    wide: order.wide,
    preview: async (values, signal) => {
      const answer = await call(order.url, {method: 'POST', body: {...body(values), dryRun: true}, signal});
      const n = answer.total ?? 1;
      return {node: previewNode({total: n, ...answer}), ok: n > 0, confirm: order.verb.replace('{n}', number(n))};
    },
    run: (values, key, signal) => call(order.url, {method: 'POST', body: {...body(values), reason: values.reason, key}, signal}),
    after: order.after,
  });
}
export const selectedText = (selection) =>
  selection.ids ? tn(selection.ids.length, '{n} selected', '{n} selected') : t('Everything that the filter means');
