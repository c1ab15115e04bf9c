// SPDX-License-Identifier: Apache-2.0
// A graphile-worker runner. Its lease is the job's lock in PostgreSQL, durable there: a job whose worker died is run again with the same request id.
import { Logger, run } from 'graphile-worker';
import { deliver, serve, settings } from './work.js';

const runner = await run({
  preset: {
    worker: {
      connectionString: settings.database,
      maxPoolSize: 10,
      concurrentJobs: settings.concurrency,
      pollInterval: 1000,
      localQueue: { size: settings.concurrency * 2, refetchDelay: { durationMs: 20 } },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  noHandleSignals: true,
  logger: new Logger(() => (level, message) => {
    if (level === 'error') console.error('graphile-worker:', message);
  }),
  taskList: {
    deliver: async (claim, helpers) => {
      if (!(await deliver(claim, helpers.job.attempts))) throw new Error('the provider gave no answer that counts');
    },
  },
});
serve(() => runner.stop());
