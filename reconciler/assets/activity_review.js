// SPDX-License-Identifier: Apache-2.0
// How an activity went: claims over time, refusals, stock, time to delivery, providers.
import {path, tryGet} from './api.js';
import {empty} from './parts.js';
import {t} from './i18n.js';
import {reviewNodes} from './review_parts.js';

export async function showReview(view, above, a) {
  const review = await tryGet(path(['v1/activities', a.code, 'review']), view.signal);
  view.show(
    above(),
    review === null
      ? empty(t('There is no review yet'), t('It is made from the claims of the activity.'))
      : reviewNodes(review, a.timeZone, path(['v1/activities', a.code, 'review'])),
  );
}
