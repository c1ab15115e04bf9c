// SPDX-License-Identifier: Apache-2.0
// An address that names no page.
import {h} from './dom.js';
import {t} from './i18n.js';
import {empty, head} from './parts.js';
import {to} from './router.js';

export function show(view) {
  view.title(t('Not found'));
  view.show(
    head(t('There is no such page')),
    empty(t('The address names nothing that the console knows.'), null, h('a', {href: to('now')}, t('Go to Now'))),
  );
}
