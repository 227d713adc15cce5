import { sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { extensionHealth, vmHealth, vms } from '#db/schema/index.ts';
import { checkCounts } from '#server/domain/health/index.ts';
import { rankOf, type VmHealth } from '#server/domain/verdicts/index.ts';

type ExtensionRow = typeof extensionHealth.$inferInsert;

/** VMs to insert, with the health that the worker would have stored. */
export interface GivenVms {
  /** Prefix of the names; a number follows if there are several VMs. */
  name: string;
  count?: number;
  health?: VmHealth;
  tags?: Record<string, string>;
  since?: Date;
  /** Seconds between the times at which two consecutive VMs got their health. */
  apart?: number;
  extension?: Partial<Omit<ExtensionRow, 'vmId' | 'since'>>;
}

/** Columns of an extension whose command `enable` failed with exit code 51. */
export const exit51 = { health: 'failed', cause: 'exit', command: 'enable', exitCode: 51 } as const;

/** Inserts VMs, each with at most one extension. */
export async function insertVms(db: Database, now: Date, groups: readonly GivenVms[]): Promise<void> {
  for (const { name, count = 1, health = 'healthy', tags = {}, since = now, apart = 0, extension } of groups) {
    const agent = health === 'unresponsive' ? 'unresponsive' : 'ready';
    const declared = {
      name: 'mount',
      handler: 'Acme.Lab.Mount',
      goalVersion: '1.2.0.0',
      version: '1.2.0.0',
      ...extension,
    };
    await db.execute(sql`
      with added as (
        insert into ${vms} (id, name, tags, created_at, created_by)
        select gen_random_uuid(), ${name}::text || case when ${count}::int > 1 then '-' || n else '' end, ${JSON.stringify(tags)}::jsonb,
          ${now.toISOString()}::timestamptz, 'test' from generate_series(1, ${count}::int) n
        returning id, name, tags
      ), numbered as (
        select *, ${since.toISOString()}::timestamptz + (row_number() over () - 1) * ${apart}::float8 * interval '1 second' as since
        from added
      ), evaluated as (
        insert into ${vmHealth} (vm_id, name, tags, health, rank, agent, since)
        select id, name, tags, ${health}, ${rankOf(health)}::smallint, ${agent}, since from numbered
      )
      insert into ${extensionHealth} (vm_id, name, handler, goal_version, version, health, heartbeat, cause, command,
        exit_code, message_id, since)
      select id, ${declared.name}, ${declared.handler}, ${declared.goalVersion}, ${declared.version ?? null},
        ${declared.health ?? 'healthy'}, 'none', ${declared.cause ?? null}, ${declared.command ?? null},
        ${declared.exitCode ?? null}::int, ${declared.messageId ?? null}, since
      from numbered where ${extension !== undefined}::boolean`);
  }
  await checkCounts({ db }, now);
}

/** Makes every VM whose name has this prefix healthy. */
export async function recover(db: Database, prefix: string): Promise<void> {
  const ids = sql`(select id from ${vms} where name like ${`${prefix}%`})`;
  await db.execute(
    sql`update vm_health set health = 'healthy', rank = ${rankOf('healthy')}::smallint, agent = 'ready' where vm_id in ${ids}`,
  );
  await db.execute(
    sql`update extension_health set health = 'healthy', cause = null, command = null, exit_code = null, message_id = null where vm_id in ${ids}`,
  );
}
