// SPDX-License-Identifier: Apache-2.0
// Brings near what the first second of an activity needs: its entry in memory, its pages, its lanes, statements planned
// on every connection. On demand, and by itself before each start. Owner: app; loop thread.
#pragma once

struct app;
struct web_request;
struct warm_up;
struct warm_up *warm_up_new(struct app *app);
void warm_up_free(struct warm_up *w);  // after the pool
void warm_up_start(struct warm_up *w);
void warm_up_stop(struct warm_up *w);

void warm_up_api(struct web_request *req);  // POST /v1/activities/{code}/warm-up
