// SPDX-License-Identifier: Apache-2.0
// Signing in with an API key.
import {h} from './dom.js';
import {t} from './i18n.js';
import {fault, note} from './parts.js';
import {current, go, to} from './router.js';
import {signIn, who} from './session.js';

export function show(view) {
  view.title(t('Sign in'));
  if (who() !== null && current().parts[0] === 'sign-in') return go(to('now'), true);
  const said = h('div', {id: 'sign-in-fault', 'aria-live': 'assertive'});
  const send = async (event) => {
    event.preventDefault();
    const form = event.currentTarget,
      submit = form.querySelector('button');
    submit.disabled = true;
    try {
      const answer = await signIn(form.elements.key.value.trim());
      form.reset();
      if (!answer.role) {
        said.replaceChildren(note('warn', t('This key is for a service: it has no place in the console.')));
        return;
      }
      if (current().parts[0] === 'sign-in') history.replaceState(null, '', to('now'));
      document.dispatchEvent(new CustomEvent('signed-in'));
    } catch (error) {
      said.replaceChildren(fault(error));
      form.elements.key.select();
    } finally {
      submit.disabled = false;
    }
  };
  view.show(
    h(
      'div',
      {class: 'sign-in panel'},
      h('h1', {id: 'title', tabindex: '-1'}, t('Sign in')),
      h('p', {class: 'muted'}, t('With an API key of the role viewer, operator or admin. Keys are made with “reconciler keys add”.')),
      h(
        'form',
        {id: 'sign-in', onsubmit: send},
        h('label', {for: 'key', class: 'form-label'}, t('API key')),
        h('input', {
          id: 'key',
          name: 'key',
          type: 'password',
          class: 'form-control',
          autocomplete: 'current-password',
          required: true,
          spellcheck: 'false',
          placeholder: 'lg_…',
        }),
        said,
        h('button', {class: 'btn btn-primary w-100 mt-3'}, t('Sign in')),
      ),
    ),
  );
  if (document.activeElement === document.body) document.getElementById('key')?.focus();
  return undefined;
}
