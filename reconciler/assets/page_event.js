// SPDX-License-Identifier: Apache-2.0
// How an event went, over all its sessions.
import {get, path} from './api.js';
import {h} from './dom.js';
import {head} from './parts.js';
import {t} from './i18n.js';
import {reviewNodes} from './review_parts.js';
import {to} from './router.js';

export async function show(view, route) {
  const code = route.parts[1];
  const url = path(['v1/events', code, 'review']);
  const review = await get(url, view.signal);
  view.title(review.event?.name ?? code);
  view.show(
    head(review.event?.name ?? code, {
      crumbs: [[t('Activities'), to('activities')]],
      sub: h('a', {href: to('activities', {eventCode: code})}, t('All sessions of the event')),
    }),
    reviewNodes(review, review.event?.timeZone, url),
  );
}
