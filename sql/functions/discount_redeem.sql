-- SPDX-License-Identifier: Apache-2.0
-- Discounts of an order are used up, and given back, once.

-- Parameters: a redemption. Result: the answer as JSON text. Locks, errors: none.
create or replace function largesse.redemption_doc(i_redemption largesse.redemption) returns text
language sql stable
as $$
  select format('{%s,"status":"%s","redeemedAt":"%s"%s}', largesse.discount_answer(i_redemption.answer),
    case when i_redemption.released_at is null then 'redeemed' else 'released' end, largesse.time_text(i_redemption.redeemed_at),
    coalesce(',"releasedAt":"' || largesse.time_text(i_redemption.released_at) || '"', ''))
$$;

-- Parameters: i_order_id. Result: the newest redemption of the order, in force or released; null if it never had one. Locks, errors: none.
create or replace function largesse.redemption_json(i_order_id text) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select largesse.redemption_doc(m) from largesse.redemption m where m.order_id = i_order_id order by m.id desc limit 1
$$;

-- Writes down what was evaluated: lines, rules with their versions, and the units of coupons that they use up, the lowest free ones of each.
-- Parameters: i_redemption_id, i_answer. Result: none. Locks: the caller has the claims. Errors: 23505 for a unit that is used already (never, with the locks).
create or replace function largesse.redemption_write(i_redemption_id bigint, i_answer jsonb) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
begin
  insert into largesse.redemption_line (redemption_id, n, line_id, amount, discount)
    select i_redemption_id, u.n, l ->> 'lineId', (l ->> 'amount')::bigint, (l ->> 'discount')::bigint
      from jsonb_array_elements(i_answer -> 'lines') with ordinality as u(l, n);
  insert into largesse.redemption_rule (redemption_id, n, version, uses, discount, activity_id, claim_id)
    select i_redemption_id, u.n, (a ->> 'version')::bigint, (a ->> 'uses')::bigint, (a ->> 'discount')::bigint,
           split_part(a ->> 'coupon', '-', 1)::bigint, split_part(a ->> 'coupon', '-', 2)::bigint
      from jsonb_array_elements(i_answer -> 'applied') with ordinality as u(a, n);
  -- Several rules may use units of one coupon: those of the later rule come behind.
  insert into largesse.coupon_use (activity_id, claim_id, unit, redemption_id, n)
    select w.activity_id, w.claim_id, free.unit, i_redemption_id, w.n
      from (select r.*, sum(r.uses) over (partition by r.activity_id, r.claim_id order by r.n) as upto
              from largesse.redemption_rule r where r.redemption_id = i_redemption_id and r.activity_id is not null) w
     cross join lateral (
       select f.unit from (
         select s.unit, row_number() over (order by s.unit) as nth
           from generate_series(1, (w.upto + (select count(*) from largesse.coupon_use x
                                               where x.activity_id = w.activity_id and x.claim_id = w.claim_id and x.released_at is null))::int) as s(unit)
          where not exists (select from largesse.coupon_use x
                             where x.activity_id = w.activity_id and x.claim_id = w.claim_id and x.unit = s.unit and x.released_at is null)) f
        where f.nth > w.upto - w.uses and f.nth <= w.upto) free;
end $$;

-- Redeems an order: evaluates it once more and uses its coupons up, in one transaction. Idempotent by the order's id: the same content again is the same
-- redemption, other content is refused. After a release the order may be redeemed again, as a new one.
-- Parameters: i_order: as discount_evaluate; i_actor. Result: outcome redeemed | replayed | a refusal's code; detail for people; coupons: those at fault, a
-- JSON array; doc: the redemption as JSON text. A coupon that is used, unknown or no valid one refuses the whole; one that no rule takes stays free.
-- Locks: an advisory lock on the order, then the claims, ascending. Errors: 40P01 (repeat).
create or replace function largesse.discount_redeem(i_order jsonb, i_actor text)
returns table (outcome text, detail text, coupons text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_order  text := i_order ->> 'orderId';
  v_asked  jsonb := i_order - 'orderId';
  v_old    largesse.redemption;
  v_new    largesse.redemption;
  v_answer jsonb;
  v_fault  record;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.order.' || v_order, 0));
  select * into v_old from largesse.redemption m where m.order_id = v_order and m.released_at is null;
  if found then
    outcome := case when v_old.asked = v_asked then 'replayed' else 'BIZ_ID_REUSED' end;
    detail := case when v_old.asked = v_asked then null else 'the order was redeemed with other content' end;
    doc := case when v_old.asked = v_asked then largesse.redemption_doc(v_old) end;
    return next; return;
  end if;
  perform 1 from (select split_part(g, '-', 1)::bigint as a, split_part(g, '-', 2)::bigint as c from jsonb_array_elements_text(i_order -> 'coupons') g) k
    join largesse.claim c on c.activity_id = k.a and c.id = k.c order by c.activity_id, c.id for no key update of c;
  v_answer := largesse.discount_evaluate(i_order, largesse.clock_now());
  select (array_agg(r ->> 'reason' order by n))[1] as reason, (array_agg(r order by n))[1] as first, jsonb_agg(r -> 'coupon' order by n) as coupons into v_fault
    from jsonb_array_elements(v_answer -> 'rejected') with ordinality as u(r, n) where r ->> 'reason' in ('COUPON_USED', 'COUPON_NOT_FOUND', 'COUPON_NOT_VALID');
  if v_fault.reason is not null then
    outcome := case v_fault.reason when 'COUPON_USED' then 'COUPON_USED' when 'COUPON_NOT_FOUND' then 'CLAIM_NOT_FOUND' else 'STATE_CONFLICT' end;
    detail := (v_fault.first ->> 'coupon') || ': ' || largesse.discount_reason_text(v_fault.reason, v_fault.first -> 'about');
    coupons := v_fault.coupons::text;
    return next; return;
  end if;
  insert into largesse.redemption (order_id, asked, answer, total, discount, payable, redeemed_at, redeemed_by)
    values (v_order, v_asked, v_answer, (v_answer ->> 'total')::bigint, (v_answer ->> 'discount')::bigint, (v_answer ->> 'payable')::bigint, largesse.clock_now(), i_actor)
    returning * into v_new;
  perform largesse.redemption_write(v_new.id, v_answer);
  outcome := 'redeemed'; doc := largesse.redemption_doc(v_new);
  return next;
end $$;

-- Releases an order: its coupons are free again. Once: a second release changes nothing.
-- Parameters: i_order_id, i_actor. Result: outcome released | replayed | NOT_FOUND; doc: the redemption as JSON text.
-- Locks: an advisory lock on the order. Errors: none.
create or replace function largesse.discount_release(i_order_id text, i_actor text)
returns table (outcome text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_row largesse.redemption;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.order.' || i_order_id, 0));
  v_now := largesse.clock_now();
  update largesse.redemption m set released_at = v_now, released_by = i_actor where m.order_id = i_order_id and m.released_at is null returning * into v_row;
  if found then
    update largesse.coupon_use u set released_at = v_now where u.redemption_id = v_row.id and u.released_at is null;
    outcome := 'released'; doc := largesse.redemption_doc(v_row);
    return next; return;
  end if;
  doc := largesse.redemption_json(i_order_id);
  outcome := case when doc is null then 'NOT_FOUND' else 'replayed' end;
  return next;
end $$;

-- Whether an order in force has used a claim, or a part of it: such a claim is not rolled back or cancelled; its order is released first.
-- Parameters: the claim. Result: as said. Locks: none; who locks the claim first keeps it so, since redemptions lock it too. Errors: none.
create or replace function largesse.coupon_is_used(i_activity_id bigint, i_claim_id bigint) returns boolean
language sql stable
as $$
  select exists (select from largesse.coupon_use u where u.activity_id = i_activity_id and u.claim_id = i_claim_id and u.released_at is null)
$$;
