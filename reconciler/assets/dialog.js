// SPDX-License-Identifier: Apache-2.0
// A dialog over the page: the browser's own, which keeps the focus inside and gives it back.
import {h, newId} from './dom.js';
import {t} from './i18n.js';

// What was asked about another page is asked no more.
export function closeDialogs() {
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
}

export function openDialog(title, content, {wide = false, onClose} = {}) {
  const id = newId('dialog');
  const before = document.activeElement;
  const dialog = h(
    'dialog',
    {class: `dialog${wide ? ' dialog-wide' : ''}`, 'aria-labelledby': id},
    h(
      'div',
      {class: 'dialog-head'},
      h('h2', {id, tabindex: '-1'}, title),
      h('button', {type: 'button', class: 'dialog-close', 'aria-label': t('Close'), onclick: () => dialog.close()}, '×'),
    ),
    h('div', {class: 'dialog-body'}, content),
  );
  dialog.onclose = () => {
    dialog.remove();
    onClose?.();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  document.body.append(dialog);
  dialog.showModal();
  (dialog.querySelector('[autofocus]') ?? dialog.querySelector(`#${id}`)).focus();
  return dialog;
}
