// SPDX-License-Identifier: Apache-2.0
// What the festival of demo.sql has by commands and by people: the nights' reports, an audit, a statement, an order.
import {writeFileSync} from 'node:fs';
import {command, open, sql} from './console.mjs';

export const dates = sql("select (now() at time zone 'UTC')::date - 2, (now() at time zone 'UTC')::date - 1").split('|');

// What only commands make: the nights' reports, an audit, a statement.
export async function prepare() {
  for (const date of dates) command('reconciler', ['report', 'night', date], 1);
  command('reconciler', ['audit', '--all'], 1);
  const lines = sql(`select c.activity_id || '-' || c.id || ',' || c.user_id || ',credit,' || case when c.user_id = 7 then 1801 else 1800 end || ',CNY,' || largesse.time_text(c.succeeded_at) || ',bank-' || c.id
      from largesse.claim c where c.activity_id = world.id('lantern-vouchers') and c.user_id between 1 and 512 and c.user_id <> 21 and c.succeeded_at < date_trunc('day', now())
    union all select c.activity_id || '-' || c.id || '-p,' || c.user_id || ',payment,1800,CNY,' || largesse.time_text(c.paid_at) || ',pay-' || c.id
      from largesse.claim c where c.activity_id = world.id('lucky-numbers') and c.paid_at < date_trunc('day', now()) order by 1`);
  const file = `${process.env.LOG_DIR}/bank-${dates[1]}.csv`;
  writeFileSync(file, `requestId,userId,type,amount,currency,at,ref\n${lines}\n`);
  command('reconciler', ['statement', 'import', '--provider', 'simulator', file, '--date', dates[1], '--reason', 'the bank\'s file of the day'], 1);
  const at = await open({who: 'operator'});
  await at.show('dead-letters?cause=refused&activityCode=porcelain-cups');
  await at.page.locator('#select-all').click();
  await at.page.locator('#action-resolve').click();
  await at.act('handed over at the desk', {as: 'delivered', proof: 'receipts 211 to 213'});
  await at.page.locator('#action-close').click();
  await at.dialogGone();
  await at.context.close();
}
