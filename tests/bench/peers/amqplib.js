// SPDX-License-Identifier: Apache-2.0
// A consumer of a quorum queue. A message carries one claim or, where the publisher packs them, many; it is acknowledged when all are recorded.
import amqp from 'amqplib';
import { deliver, lease, serve, settings } from './work.js';

const QUEUE = 'peer.claims';
const RETRY_AFTER = 1000;

const connection = await amqp.connect(settings.broker);
const channel = await connection.createChannel();
await channel.assertQueue(QUEUE, { durable: true, arguments: { 'x-queue-type': 'quorum' } });
// Those behind the calls under way are being recorded: they must not keep calls from starting.
await channel.prefetch(Math.max(4, Math.ceil((settings.concurrency * 2) / Number(process.env.PEER_PACK ?? 1))));
connection.on('close', () => process.exit(1)); // the supervisor starts it again; what was not acknowledged comes again

// At most `concurrency` calls at a time; what is beyond waits here.
let running = 0;
const waiting = [];
async function slot() {
  if (running < settings.concurrency) running++;
  else await new Promise((resolve) => waiting.push(resolve));
}
function leave() {
  const next = waiting.shift();
  if (next) next();
  else running--;
}

async function once(claim) {
  await slot();
  try {
    const attempt = await lease(claim.id);
    return attempt === 0 || (await deliver(claim, attempt));
  } finally {
    leave();
  }
}

async function handle(claim) {
  while (!(await once(claim))) await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
}

// Acknowledgements of what is recorded go out together, as "all up to here" where nothing older is left.
let open = []; // messages in order of arrival
let flushing = false;
function acknowledge(message) {
  message.recorded = true;
  if (flushing) return;
  flushing = true;
  setImmediate(() => {
    flushing = false;
    let ready = 0;
    while (ready < open.length && open[ready].recorded) ready++;
    if (ready > 0) channel.ack(open[ready - 1], true);
    open = open.slice(ready);
  });
}

const { consumerTag } = await channel.consume(QUEUE, async (message) => {
  if (message === null) process.exit(1); // the queue is gone
  open.push(message);
  try {
    await Promise.all(JSON.parse(message.content).map(handle));
    acknowledge(message);
  } catch (fault) {
    console.error('given back:', fault.message); // the database is away: unacknowledged, so it comes again
    process.exit(1);
  }
});

serve(async () => {
  await channel.cancel(consumerTag);
  while (open.length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await connection.close();
});
