// SPDX-License-Identifier: Apache-2.0
// All flows in one browser, one after the other.
import './flow_session.mjs';
import './flow_activities.mjs';
import './flow_letters.mjs';
import './flow_truth.mjs';
import './flow_planted.mjs';
import './flow_viewer.mjs';
