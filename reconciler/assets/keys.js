// SPDX-License-Identifier: Apache-2.0
// The keys that work everywhere, and the help that names them.
import {h} from './dom.js';
import {t} from './i18n.js';
import {openDialog} from './dialog.js';

export function isShortcut(event) {
  const at = event.target;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector('dialog[open]') !== null)
    return false;
  return !(at instanceof HTMLInputElement || at instanceof HTMLTextAreaElement || at instanceof HTMLSelectElement || at?.isContentEditable);
}

export function showHelp() {
  const keys = [
    ['/', t('Find a claim')],
    ['?', t('This help')],
    ['1 … 0', t('Go to a page, in the order of the menu')],
    ['Tab', t('To the next control; every control can be reached')],
    ['Esc', t('Close a dialog without doing anything')],
  ];
  const dialog = openDialog(t('Help and keys'), [
    h(
      'dl',
      {class: 'keys'},
      keys.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what))),
    ),
    h(
      'p',
      {class: 'muted'},
      t(
        'Every filter and every page has an address of its own: copy it from the browser to share what you see. Times are those of this browser; hover or focus one for UTC. Everything that is done here can be done with the command line and over HTTP too.',
      ),
    ),
    h('div', {class: 'dialog-actions'}, h('button', {type: 'button', class: 'btn btn-primary', onclick: () => dialog.close()}, t('Close'))),
  ]);
}
