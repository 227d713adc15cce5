import { sql } from 'drizzle-orm';
import { extensionHealth, extensionLatest, vmHealth } from '#db/schema/index.ts';
import {
  cutText,
  fillTemplate,
  negotiate,
  placeholdersOf,
  type StatusDocument,
  type WantedLanguage,
} from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { firstFailedPart } from '#server/domain/health/index.ts';
import { findMessages, localizeMessage, maxTextBytes } from '#server/domain/localization/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type HealthCause, rankOf } from '#server/domain/verdicts/index.ts';
import { type ListFailingInput, listFailingInput } from '../input.ts';
import { type MapReader, shareReading } from './readings.ts';
import { type CommonTag, commonTag, readTagShares, type TagShares } from './tag-shares.ts';

/** VMs with problems that have the same cause. */
export interface FailingGroup {
  health: 'failed' | 'degraded' | 'unresponsive';
  vms: number;
  /** When the first VM of the group was affected. */
  since: string;
  /** The tag that is much more common among these VMs than in the fleet; null if none stands out. */
  common: CommonTag | null;
  /** Null if the group is about silent agents. */
  extension: FailingExtension | null;
  /** The VM, if the group has only one. */
  vm: { id: string; name: string } | null;
}

export interface FailingExtension {
  handler: string;
  /** The extension's name; null if the names differ. */
  name: string | null;
  /** Versions in use, newest last; at most five. */
  versions: string[];
  cause: HealthCause;
  command: string | null;
  exitCode: number | null;
  messageId: string | null;
  /** The message in the caller's language. If the group has several VMs, `…` replaces the params of its template. */
  message: { text: string; lang: string } | null;
}

const maxGroups = 6;
/** Number of VMs per group that are compared for a common tag. */
const sampleSize = 500;
/** Maximum seconds between two consecutive VMs of a group that went silent together. */
const togetherSeconds = 180;

interface Sampled extends FailingGroup {
  sample: { vmId: string; name: string; extension: string; version: string };
}

/** Returns groups of VMs that failed, are degraded or went silent for the same reason, largest first; at most six. */
export async function listFailingTogether(
  ctx: Context & MapReader,
  input: ListFailingInput = {},
): Promise<FailingGroup[]> {
  allow(ctx.actor, 'viewer');
  const { acceptLanguage, chosenLanguage } = parse(listFailingInput, input);
  const groups = await shareReading(ctx, 'failing-together', async () => {
    const fleet = await readTagShares(ctx);
    const [extensions, silent] = await Promise.all([readExtensions(ctx, fleet), readSilent(ctx, fleet)]);
    return [...extensions, ...silent].toSorted(worstFirst).slice(0, maxGroups);
  });
  return withMessages(ctx, groups, negotiate({ acceptLanguage, chosenLanguage }));
}

const worstFirst = (a: FailingGroup, b: FailingGroup): number =>
  Number(b.vms > 1) - Number(a.vms > 1) ||
  (a.vms > 1 ? b.vms - a.vms : 0) ||
  rankOf(a.health) - rankOf(b.health) ||
  (a.since < b.since ? 1 : -1);

/**
 * SQL for the newest five versions of a group, sorted. Agents can report any text as a version; texts that are not
 * versions come first.
 */
const newestVersions = sql.raw(String.raw`(
  select array_agg(version order by numbers nulls first, version) from (
    select version, numbers from unnest(g.all_versions) version,
      lateral (select case when version ~ '^\d{1,10}(\.\d{1,10}){0,3}$' then string_to_array(version, '.')::bigint[] end) n (numbers)
    order by numbers desc nulls last, version desc limit 5) newest)`);

async function readExtensions(ctx: Context, fleet: TagShares): Promise<Sampled[]> {
  // Silent agents are grouped in `readSilent`. Waiting extensions are left out, because the cause is in the extension
  // that they wait for.
  const { rows } = await ctx.db.execute<{
    health: 'failed' | 'degraded';
    handler: string;
    cause: HealthCause;
    command: string | null;
    exit_code: number | null;
    message_id: string | null;
    vms: number;
    since: string;
    name: string | null;
    versions: string[];
    tags: Record<string, string>[];
    sample: Sampled['sample'];
  }>(sql`
    with failing as (
      select vm_id, name, handler, coalesce(version, goal_version) as version, health, cause, command, exit_code,
        case when cause in ('status', 'substatus') then message_id end as message_id, since
      from ${extensionHealth}
      where cause is not null and health in ('failed', 'degraded') and cause not in ('silent', 'waiting')
    ), groups as (
      select health, handler, cause, command, exit_code, message_id, count(distinct vm_id)::int as vms,
        to_char(min(since) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as since,
        case when min(name) = max(name) then min(name) end as name,
        array_agg(distinct version) as all_versions,
        (array_agg(vm_id order by since desc, vm_id))[1:${sampleSize}::int] as sampled,
        (array_agg(name order by since desc, vm_id))[1] as newest,
        (array_agg(version order by since desc, vm_id))[1] as newest_version
      from failing group by 1, 2, 3, 4, 5, 6
      order by vms desc, min(since) desc limit ${maxGroups}
    )
    select g.health, g.handler, g.cause, g.command, g.exit_code, g.message_id, g.vms, g.since, g.name, v.tags,
      ${newestVersions} as versions,
      jsonb_build_object('vmId', f.vm_id, 'name', f.name, 'extension', g.newest, 'version', g.newest_version) as sample
    from groups g
    cross join lateral (select jsonb_agg(tags) as tags from ${vmHealth} where vm_id = any (g.sampled)) v
    join ${vmHealth} f on f.vm_id = g.sampled[1]`);
  return rows.map(({ vms, sample, tags, ...row }) => ({
    health: row.health,
    vms,
    since: row.since,
    common: commonTag(tags, fleet),
    extension: {
      handler: row.handler,
      name: row.name,
      versions: row.versions,
      cause: row.cause,
      command: row.command,
      exitCode: row.exit_code,
      messageId: row.message_id,
      message: null,
    },
    vm: vms === 1 ? { id: sample.vmId, name: sample.name } : null,
    sample,
  }));
}

/** Returns silent VMs, grouped by the time when they went silent. */
async function readSilent(ctx: Context, fleet: TagShares): Promise<Sampled[]> {
  const { rows } = await ctx.db.execute<{
    vms: number;
    since: number;
    vm_id: string;
    name: string;
    tags: Record<string, string>[];
  }>(sql`
    with silent as (
      select vm_id, since, lag(since) over newest - since > ${togetherSeconds} * interval '1 second' as begins
      from ${vmHealth} where rank = ${rankOf('unresponsive')} window newest as (order by since desc)
    ), numbered as (
      select vm_id, since, count(*) filter (where begins) over (order by since desc) as place from silent
    ), groups as (
      select count(*)::int as vms, min(since) as since,
        (array_agg(vm_id order by since, vm_id))[1:${sampleSize}::int] as sampled
      from numbered group by place
      order by count(*) > 1 desc, count(*) desc, min(since) desc limit ${maxGroups}
    )
    select g.vms, extract(epoch from g.since)::float8 as since, f.vm_id, f.name, v.tags
    from groups g
    cross join lateral (select jsonb_agg(tags) as tags from ${vmHealth} where vm_id = any (g.sampled)) v
    join ${vmHealth} f on f.vm_id = g.sampled[1]`);
  return rows.map(({ vms, since, vm_id, name, tags }) => ({
    health: 'unresponsive',
    vms,
    since: new Date(since * 1000).toISOString(),
    common: commonTag(tags, fleet),
    extension: null,
    vm: vms === 1 ? { id: vm_id, name } : null,
    sample: { vmId: vm_id, name, extension: '', version: '' },
  }));
}

async function withMessages(
  ctx: Context,
  groups: readonly Sampled[],
  wanted: readonly WantedLanguage[],
): Promise<FailingGroup[]> {
  const requested = groups.flatMap(({ extension, sample }) =>
    extension?.messageId ? [{ handler: extension.handler, version: sample.version, ids: [extension.messageId] }] : [],
  );
  const found = await findMessages(ctx.db, requested, wanted);
  return Promise.all(
    groups.map(async ({ sample, ...group }) => {
      const { extension } = group;
      if (!extension?.messageId) return group;
      const id = extension.messageId;
      const resources = found.get(`${extension.handler}-${sample.version}`) ?? new Map();
      const sent = await readMessage(ctx, sample, extension.cause);
      const localized = localizeMessage({
        message: sent?.message?.id === id ? sent.message : { id, params: [] },
        // The formatted message of one VM does not apply to the others.
        formattedMessage: group.vms > 1 ? undefined : sent?.formattedMessage,
        resources,
        wanted,
      });
      if (localized === null || localized.source === 'id') return group;
      const template = localized.source === 'formatted' ? undefined : resources.get(localized.lang)?.[id];
      const text = template !== undefined && group.vms > 1 ? openText(template) : localized.text;
      return { ...group, extension: { ...extension, message: { text, lang: localized.lang } } };
    }),
  );
}

function openText(template: string): string {
  const last = placeholdersOf(template).at(-1) ?? -1;
  const open = Array.from({ length: last + 1 }, () => '…');
  return cutText(fillTemplate(template, open, maxTextBytes), maxTextBytes);
}

async function readMessage(
  ctx: Context,
  { vmId, extension }: Sampled['sample'],
  cause: HealthCause,
): Promise<Pick<StatusDocument, 'message' | 'formattedMessage'> | null> {
  const { rows } = await ctx.db.execute<{ status: StatusDocument | null }>(sql`
    select ${cause === 'substatus' ? sql`status` : sql`status::jsonb - array['substatus']`} as status
      from ${extensionLatest} where vm_id = ${vmId} and name = ${extension}`);
  const status = rows[0]?.status ?? null;
  return cause === 'substatus' && status !== null ? firstFailedPart(status) : status;
}
