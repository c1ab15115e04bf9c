// SPDX-License-Identifier: Apache-2.0
// Makes the claims of one run, and puts them into the queue of one peer. Not measured.
//   node fill.js amqplib|bullmq|graphile-worker CLAIMS
import { readFileSync } from 'node:fs';
import pg from 'pg';

const [peer, count] = [process.argv[2], Number(process.argv[3])];
const PACK = Number(process.env.PEER_PACK ?? 1); // claims per message of the queue
const CHUNK = 1000;
const database = new pg.Client({ connectionString: process.env.PEER_DATABASE });
await database.connect();
await database.query(readFileSync(new URL('schema.sql', import.meta.url), 'utf8'));
await database.query('insert into peer.claim (id, user_id, quantity) select n, n, 1 from generate_series(1, $1::int) n', [count]);

const claim = (id) => ({ id, requestId: `peer-${id}`, userId: id, quantity: 1 });
function* chunks(size) {
  for (let first = 1; first <= count; first += size) yield Array.from({ length: Math.min(size, count - first + 1) }, (_, i) => claim(first + i));
}

const fillers = {
  async amqplib() {
    const { default: amqp } = await import('amqplib');
    const connection = await amqp.connect(process.env.PEER_BROKER);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue('peer.claims', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
    await channel.purgeQueue('peer.claims');
    let sent = 0;
    for (const claims of chunks(PACK)) {
      channel.sendToQueue('peer.claims', Buffer.from(JSON.stringify(claims)), { persistent: true });
      if (++sent % CHUNK === 0) await channel.waitForConfirms();
    }
    await channel.waitForConfirms();
    await connection.close();
  },

  async bullmq() {
    const { Queue } = await import('bullmq');
    const queue = new Queue('peer-claims', { connection: { host: '127.0.0.1', port: Number(process.env.PEER_REDIS_PORT) } });
    await queue.obliterate({ force: true });
    for (const claims of chunks(CHUNK)) {
      await queue.addBulk(claims.map((data) => ({ name: 'deliver', data, opts: { jobId: data.requestId, attempts: 20, backoff: { type: 'fixed', delay: 1000 } } })));
    }
    await queue.close();
  },

  async 'graphile-worker'() {
    const { makeWorkerUtils } = await import('graphile-worker');
    await database.query('drop schema if exists graphile_worker cascade');
    const utils = await makeWorkerUtils({ connectionString: process.env.PEER_DATABASE });
    await utils.migrate();
    for (const claims of chunks(CHUNK)) await utils.addJobs(claims.map((payload) => ({ identifier: 'deliver', payload, jobKey: payload.requestId })));
    await utils.release();
    await database.query('vacuum analyze graphile_worker._private_jobs');
  },
};

await fillers[peer]();
await database.query('vacuum analyze peer.claim');
await database.end();
