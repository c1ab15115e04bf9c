// SPDX-License-Identifier: Apache-2.0
// Creating and changing an activity: a form with a view of the same as JSON, checked by the server.
import {call, get, path, serverNow} from './api.js';
import {openAction} from './action.js';
import {docOf, FormFault, formOf} from './activity_form.js';
import {h} from './dom.js';
import {language, t} from './i18n.js';
import {button, fault, head, json, note} from './parts.js';
import {go, to} from './router.js';
import {say} from './view.js';

const SHOWN_ONLY = ['serverTime', 'availability', 'status'];
const without = (doc) => Object.fromEntries(Object.entries(doc).filter(([name]) => !SHOWN_ONLY.includes(name)));
const inHours = (n) => new Date(Math.ceil(serverNow() / 3600000) * 3600000 + n * 3600000).toISOString();

// What the two documents differ in, as lines.
function changes(before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const text = (value) => (value === undefined ? '–' : JSON.stringify(value));
  const same = (name, a, b) => (['startAt', 'endAt'].includes(name) ? Date.parse(a) === Date.parse(b) : text(a) === text(b));
  return names
    .filter((name) => !same(name, before[name], after[name]))
    .map((name) => h('li', {}, h('code', {class: 'code'}, name), ': ', text(before[name]), ' → ', h('b', {}, text(after[name]))));
}

// Members that only say what is built in are no change.
const BUILT_IN = {needsQualification: false, onRefused: 'fail', intake: 'direct', signUpAgain: true, latePayment: 'reallocate'};
const plain = (doc) =>
  JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(doc).filter(([name, value]) => BUILT_IN[name] !== value))));

async function save(edit, doc) {
  const isNew = edit.etag === null;
  const lines = isNew ? [] : changes(plain(without(edit.doc)), plain(doc));
  openAction({
    title: isNew ? t('Create {code}', {code: doc.code}) : t('Change {code}', {code: doc.code}),
    confirm: isNew ? t('Create') : t('Save'),
    wide: true,
    preview: async () =>
      isNew
        ? {ok: true, node: h('details', {}, h('summary', {}, t('As JSON')), json(doc))}
        : lines.length
          ? {ok: true, node: h('div', {class: 'preview'}, h('p', {}, t('What changes:')), h('ul', {}, lines))}
          : {ok: false, node: note('info', t('Nothing was changed.'))},
    run: (values) =>
      call(path(['v1/activities', doc.code], {reason: values.reason}), {
        method: 'PUT',
        body: doc,
        headers: isNew ? {} : {'If-Match': edit.etag},
      }),
    after: (saved) => {
      if (!saved?.code) return;
      say(isNew ? t('{code} was created as a draft', {code: saved.code}) : t('{code} was saved', {code: saved.code}));
      go(to('activities', saved.code));
    },
  });
}

// draft: what the form begins with.
function editor(edit, draft) {
  const state = {isJson: false};
  const place = h('div', {});
  const said = h('div', {id: 'form-fault', 'aria-live': 'assertive'});
  const make = (doc) => formOf(doc, {isNew: edit.etag === null});
  let form = make(draft);
  const area = h('textarea', {
    class: 'form-control mono',
    rows: '28',
    spellcheck: 'false',
    'aria-label': t('The activity as JSON'),
    id: 'activity-json',
  });
  const tell = (error) => {
    said.replaceChildren(
      error instanceof FormFault
        ? note('bad', error.message)
        : error instanceof SyntaxError
          ? note('bad', t('This is not JSON: {why}', {why: error.message}))
          : fault(error),
    );
    const field = error instanceof FormFault ? form.elements[error.field] : null;
    field?.focus();
    field?.setAttribute('aria-invalid', 'true');
  };
  const attempt = (run) => {
    said.replaceChildren();
    for (const el of form.querySelectorAll('[aria-invalid]')) el.removeAttribute('aria-invalid');
    try {
      return run();
    } catch (error) {
      return tell(error);
    }
  };
  const read = () => {
    if (!state.isJson) return docOf(form);
    const doc = JSON.parse(area.value);
    if (doc === null || typeof doc !== 'object' || Array.isArray(doc)) throw new SyntaxError(t('it must be an object'));
    return doc;
  };
  const swap = () =>
    attempt(() => {
      const doc = read();
      state.isJson = !state.isJson;
      if (state.isJson) area.value = JSON.stringify(doc, null, 2);
      else form = make(doc);
      place.replaceChildren(state.isJson ? area : form);
      flip.textContent = state.isJson ? t('As a form') : t('As JSON');
    });
  const flip = h('button', {type: 'button', class: 'btn btn-quiet', id: 'flip', onclick: swap}, t('As JSON'));
  place.replaceChildren(form);
  const submit = () =>
    attempt(() => {
      const doc = read();
      doc.code ??= edit.doc.code;
      if (!doc.code) throw new FormFault('code', t('{what} is needed.', {what: t('Code')}));
      save(edit, doc);
    });
  form.onsubmit = (event) => event.preventDefault();
  const node = h(
    'div',
    {'data-key': `editor-${edit.key}`},
    h('div', {class: 'toolbar'}, flip),
    place,
    said,
    h(
      'div',
      {class: 'form-actions'},
      button(edit.etag === null ? t('Create …') : t('Save …'), ['activities'], submit, {kind: 'primary', id: 'save'}),
    ),
  );
  // The form is made once: what somebody types stays while the frame around it is renewed. Only another language makes it anew, of what stands in it.
  node.language = language();
  node.absorb = (next) => {
    if (next.language === node.language) return;
    try {
      node.replaceWith(editor(edit, read()));
    } catch {
      /* half filled in: it stays as it is */
    }
  };
  return node;
}

const showEditor = (view, above, edit) => view.show(above(), editor(edit, edit.doc));

export async function showForm(view, above, code) {
  const {headers, body} = await call(path(['v1/activities', code]), {signal: view.signal, whole: true});
  showEditor(view, above, {doc: body, etag: headers.get('ETag'), key: `${code}-${headers.get('ETag')}`});
}

export async function show(view) {
  view.title(t('New activity'));
  await get('v1/now', view.signal); // the server's clock, for the times that are proposed
  const doc = {kind: 'reward', startAt: inHours(1), endAt: inHours(2), stock: {total: 100}};
  showEditor(
    view,
    () =>
      head(t('New activity'), {
        crumbs: [[t('Activities'), to('activities')]],
        sub: t('It begins as a draft: nothing is visible until it is published.'),
      }),
    {doc, etag: null, key: 'new'},
  );
}
