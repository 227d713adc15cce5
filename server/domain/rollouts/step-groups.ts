import { type SQL, sql } from 'drizzle-orm';
import { rolloutSteps } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { StepState } from '#server/domain/rollout-rules/words.ts';

/** The states that are grouped. A step whose earlier goal was or is restored has failed. */
const statesOf = {
  failed: ['failed', 'reverting', 'reverted', 'stuck'],
  parked: ['parked'],
} as const satisfies Record<string, readonly StepState[]>;

const failure = (field: string): SQL => sql`${rolloutSteps.failure}->>${sql.raw(`'${field}'`)}`;

/** The values that tell one group from another. The message only does if it is the cause itself. */
const values: readonly SQL[] = [
  sql`case when ${rolloutSteps.state} in ('failed', 'reverting', 'reverted', 'stuck') then 'failed'
    else ${rolloutSteps.state} end`,
  sql`${rolloutSteps.cause}`,
  failure('handler'),
  failure('command'),
  failure('exitCode'),
  sql`case when ${rolloutSteps.cause} in ('status', 'substatus') then ${failure('messageId')} end`,
];

/** SQL for the key of a step's group: a digest of the values that define it. */
export const groupKeyOf: SQL = sql`left(encode(sha256(convert_to(concat_ws(E'\\x1f', ${sql.join(
  values.map((value) => sql`coalesce((${value})::text, '')`),
  sql`, `,
)}), 'UTF8')), 'hex'), 32)`;

/** Members that failed, or are parked, for the same reason. */
export interface StepGroup {
  key: string;
  cause: string | null;
  handler: string | null;
  /** The name of the extension; null if the members have different names. */
  extension: string | null;
  command: string | null;
  exitCode: number | null;
  /** The message that all members report; null if they report different ones, or none. */
  messageId: string | null;
  version: string | null;
  vms: number;
  /** The first members in order. */
  examples: { vmId: string; name: string }[];
}

/** Groups all failed or parked members of a rollout by cause, the largest group first. */
export async function groupSteps(
  ctx: Pick<Context, 'db'>,
  id: string,
  of: keyof typeof statesOf,
): Promise<StepGroup[]> {
  const { rows } = await ctx.db.execute<StepGroup & Record<string, unknown>>(sql`
    with own as (
      select ${groupKeyOf} as key, cause, ring, place, vm_id, ${failure('handler')} as handler,
        ${failure('extension')} as extension, ${failure('command')} as command,
        (${failure('exitCode')})::int as exit_code, ${failure('messageId')} as message_id, ${failure('version')} as version
      from ${rolloutSteps}
      where ${rolloutSteps.rolloutId} = ${id} and ${rolloutSteps.state} = any(${sql.param([...statesOf[of]])}::text[])
    ), groups as (
      select key, min(cause) as cause, min(handler) as handler, min(command) as command, min(exit_code) as exit_code,
        case when min(extension) = max(extension) and count(extension) = count(*) then min(extension) end as extension,
        case when min(message_id) = max(message_id) and count(message_id) = count(*) then min(message_id) end as message_id,
        (array_agg(version order by ring, place))[1] as version, count(*)::int as vms,
        min(ring::bigint * 10000000 + place) as first_place,
        (array_agg(vm_id order by ring, place))[1:3] as examples
      from own group by key
    )
    select key, cause, handler, extension, command, exit_code as "exitCode", message_id as "messageId", version, vms,
      (select json_agg(json_build_object('vmId', v.id, 'name', v.name) order by e.n)
         from unnest(examples) with ordinality e(id, n) join vms v on v.id = e.id) as examples
    from groups order by vms desc, first_place`);
  return rows;
}
