// SPDX-License-Identifier: Apache-2.0
// What all peers share: the call at the provider, and the statements that take a claim and record what came of it.
import { Pool as HttpPool } from 'undici';
import pg from 'pg';

export const settings = {
  database: process.env.PEER_DATABASE,
  provider: process.env.PEER_PROVIDER,
  broker: process.env.PEER_BROKER,
  redisPort: Number(process.env.PEER_REDIS_PORT),
  concurrency: Number(process.env.PEER_CONCURRENCY ?? 512), // calls at a time, in this process
  batched: (process.env.PEER_SETTLE ?? 'batch') === 'batch', // one statement for many claims, or one for each
  connections: Number(process.env.PEER_CONNECTIONS ?? 64), // to the provider
};
const LEASE = '10 seconds';
const BATCH = 512;

export const database = new pg.Pool({ connectionString: settings.database, max: settings.batched ? 4 : 24 });
database.on('error', (fault) => console.error('database:', fault.message)); // an idle connection died: the pool makes another
const provider = new HttpPool(settings.provider, { connections: settings.connections, pipelining: 1, headersTimeout: 2000, bodyTimeout: 2000, connect: { timeout: 1000 } });

/** Gathers what is asked for while earlier statements run, and sends it as one: nothing waits when nothing runs. */
class Batcher {
  #waiting = [];
  #running = 0;
  #scheduled = false;

  constructor(send, statements) {
    this.send = send;
    this.statements = statements; // at most under way at a time
  }

  add(item) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  #schedule() {
    if (this.#scheduled || this.#running >= this.statements || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  async #flush() {
    const batch = this.#waiting.splice(0, BATCH);
    this.#running++;
    this.#schedule();
    try {
      const answers = await this.send(batch.map((entry) => entry.item));
      batch.forEach((entry, i) => entry.resolve(answers?.[i]));
    } catch (fault) {
      for (const entry of batch) entry.reject(fault);
    }
    this.#running--;
    this.#schedule();
  }
}

const TAKE = `
  update peer.claim set attempts = attempts + 1, lease_until = now() + interval '${LEASE}'
   where id = any($1::bigint[]) and status = 'issuing' and (lease_until is null or lease_until <= now())
  returning id, attempts`;

const TAKE_ONE = TAKE.replace('any($1::bigint[])', '$1::bigint');

const LOOK = `select status, greatest(0, extract(epoch from lease_until - now()) * 1000)::int as lease_ms from peer.claim where id = $1`;

// "retry" leaves the claim as it is, free for the next attempt; news about a claim that has moved meanwhile is only recorded.
const SETTLE = `
  with news as (
    select * from unnest($1::bigint[], $2::int[], $3::text[], $4::int[], $5::text[], $6::timestamptz[], $7::bigint[])
      as n(id, attempt, outcome, http_status, ref, started_at, duration_us)
  ), tried as (
    insert into peer.attempt (claim_id, attempt, started_at, duration_us, outcome, http_status)
    select id, attempt, started_at, duration_us, outcome, http_status from news on conflict do nothing
  ), freed as (
    update peer.claim c set lease_until = null from news n where c.id = n.id and n.outcome = 'retry' and c.status = 'issuing'
  ), moved as (
    update peer.claim c set status = case n.outcome when 'done' then 'succeeded' else 'failed' end, attempts = greatest(c.attempts, n.attempt),
           lease_until = null, provider_ref = n.ref, updated_at = clock_timestamp()
      from news n where c.id = n.id and n.outcome <> 'retry' and c.status = 'issuing'
    returning c.id, c.status
  )
  insert into peer.event (type, body) select 'claim.' || status, jsonb_agg(jsonb_build_object('claimId', id, 'status', status)) from moved group by status`;

const SETTLE_ONE = `
  with tried as (
    insert into peer.attempt (claim_id, attempt, started_at, duration_us, outcome, http_status)
    values ($1::bigint, $2::int, $6::timestamptz, $7::bigint, $3::text, $4::int) on conflict do nothing
  ), moved as (
    update peer.claim c set status = case $3 when 'done' then 'succeeded' when 'refused' then 'failed' else status end, attempts = greatest(attempts, $2),
           lease_until = null, provider_ref = $5, updated_at = clock_timestamp()
     where id = $1 and status = 'issuing'
    returning id, status
  )
  insert into peer.event (type, body) select 'claim.' || status, jsonb_build_object('claimId', id, 'status', status) from moved where status <> 'issuing'`;

const take = async (ids) => {
  const { rows } = await database.query({ name: 'take', text: TAKE, values: [ids], rowMode: 'array' });
  const attempts = new Map(rows);
  return ids.map((id) => attempts.get(String(id)));
};

const takeOne = async (id) => (await database.query({ name: 'take one', text: TAKE_ONE, values: [id], rowMode: 'array' })).rows[0]?.[1];

const columnsOf = ({ id, attempt, outcome, httpStatus, ref, startedAt, durationUs }) => [id, attempt, outcome, httpStatus, ref, startedAt, durationUs];

const settle = (news) => {
  const columns = [[], [], [], [], [], [], []];
  for (const one of news) columnsOf(one).forEach((value, i) => columns[i].push(value));
  return database.query({ name: 'settle', text: SETTLE, values: columns });
};

const settleOne = (news) => database.query({ name: 'settle one', text: SETTLE_ONE, values: columnsOf(news) });

const takes = new Batcher(take, 1);
const settles = new Batcher(settle, 2);

/** The attempt's number once it is durably recorded that a call may be under way; 0: nothing is left to do. Waits for the end of a lease that a crash left. */
export async function lease(id) {
  for (;;) {
    const attempt = await (settings.batched ? takes.add(id) : takeOne(id));
    if (attempt) return attempt;
    const { rows } = await database.query({ name: 'look', text: LOOK, values: [id] });
    if (rows[0]?.status !== 'issuing') return 0;
    await new Promise((resolve) => setTimeout(resolve, rows[0].lease_ms + 10));
  }
}

/** Asks the provider to deliver, and says what came of it. The request id is the claim's for its whole life: the provider applies it once. */
async function call(claim) {
  try {
    const { statusCode, body } = await provider.request({
      method: 'POST',
      path: '/credits',
      headers: ['content-type', 'application/json', 'idempotency-key', claim.requestId],
      body: JSON.stringify({ requestId: claim.requestId, userId: String(claim.userId), rewardCode: 'bench', amount: 100, currency: 'CNY', quantity: claim.quantity }),
    });
    const answer = await body.json();
    if (statusCode === 200 && answer.status === 'SUCCESS') return { outcome: 'done', httpStatus: statusCode, ref: answer.ref };
    const refused = statusCode >= 400 && statusCode < 500 && ![401, 407, 408, 425, 429].includes(statusCode);
    return { outcome: refused ? 'refused' : 'retry', httpStatus: statusCode, ref: null };
  } catch {
    return { outcome: 'retry', httpStatus: null, ref: null };
  }
}

/** One attempt at a leased claim: the call, then its record, durable when this resolves. False: it must be tried again. */
export async function deliver(claim, attempt) {
  const startedAt = new Date();
  const begun = performance.now();
  const { outcome, httpStatus, ref } = await call(claim);
  const news = { id: claim.id, attempt, outcome, httpStatus, ref, startedAt, durationUs: Math.round((performance.now() - begun) * 1000) };
  await (settings.batched ? settles.add(news) : settleOne(news));
  return outcome !== 'retry';
}

export async function close() {
  await provider.close();
  await database.end();
}

/** Runs `stop` at SIGTERM, then ends. */
export function serve(stop) {
  process.once('SIGTERM', async () => {
    await stop();
    await close();
    process.exit(0);
  });
  process.stdout.write('ready\n');
}
