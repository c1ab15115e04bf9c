// SPDX-License-Identifier: Apache-2.0
// A BullMQ worker. Its lease is the job's lock in Redis, durable there: a job whose worker died is found stalled and run again with the same request id.
import { Worker } from 'bullmq';
import { deliver, serve, settings } from './work.js';

const worker = new Worker(
  'peer-claims',
  async (job) => {
    if (!(await deliver(job.data, job.attemptsStarted))) throw new Error('the provider gave no answer that counts');
  },
  {
    connection: { host: '127.0.0.1', port: settings.redisPort, maxRetriesPerRequest: null },
    concurrency: settings.concurrency,
    removeOnComplete: { count: 0 },
    lockDuration: 30000,
  },
);
worker.on('error', (fault) => console.error('redis:', fault.message));
await worker.waitUntilReady();
serve(() => worker.close());
