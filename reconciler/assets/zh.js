// SPDX-License-Identifier: Apache-2.0
// Chinese: the texts of the pages, and the words of the API's closed sets.
import {texts as before} from './zh_a_l.js';
import {texts as after} from './zh_m_z.js';

export {words} from './zh_words.js';
export const texts = {...before, ...after};
