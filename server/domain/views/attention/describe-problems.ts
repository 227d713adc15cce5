import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { extensionHealth, extensionLatest, extensionPulse, extensions, vmHealth } from '#db/schema/index.ts';
import { cutText, fillTemplate, placeholdersOf, type StatusDocument, type WantedLanguage } from '#protocol/index.ts';
import { count, time } from '#server/domain/answers.ts';
import {
  assignee,
  currentMark,
  type FleetProblem,
  filterOfProblem,
  readMarks,
  snooze,
} from '#server/domain/attention/index.ts';
import type { Context } from '#server/domain/context.ts';
import { writeParameter } from '#server/domain/fleet/address.ts';
import type { FieldValue, FleetFields, ValueOf } from '#server/domain/fleet-field.ts';
import { firstFailedPart } from '#server/domain/health/index.ts';
import { findMessages, localizeMessage, maxTextBytes } from '#server/domain/localization/index.ts';
import { healthCauses, needsAttention } from '#server/domain/verdicts/index.ts';
import type { MapReader } from '../overview/readings.ts';
import { commonTag, readTagShares } from '../overview/tag-shares.ts';

/** A problem as people see it: with the handler's message, what its VMs share, and what people decided about it. */
export const attentionGroup = z.object({
  key: z.string().describe('Key of the problem. The same handler and cause always have the same key.'),
  health: z.enum(needsAttention),
  vms: count,
  since: time.describe('When the first VM got the problem.'),
  lastSince: time.describe('When the last VM got the problem.'),
  query: z.string().describe('The parameters of `GET /vms` that list exactly these VMs.'),
  extension: z
    .object({
      isUnit: z
        .boolean()
        .describe(
          'Whether the problem is about units: `handler` is their formula, `name` the unit, `command` the hook.',
        ),
      handler: z.string(),
      name: z.string().nullable().describe('Null if the extensions or units have different names.'),
      versions: z.array(z.string()).describe('Versions in use, at most five.'),
      cause: z.enum(healthCauses),
      command: z.string().nullable(),
      exitCode: z.number().int().nullable(),
      messageId: z.string().nullable(),
      message: z
        .object({ text: z.string(), lang: z.string() })
        .nullable()
        .describe(
          'The message of the handler that all VMs report. If there are several VMs, `…` replaces the params of the message.',
        ),
    })
    .nullable()
    .describe('Null for a problem of unresponsive agents.'),
  common: z
    .object({ name: z.string(), value: z.string(), share: z.number(), fleetShare: z.number() })
    .nullable()
    .describe('A tag that is much more common among these VMs than in the fleet; null if none stands out.'),
  vm: z.object({ id: z.uuid(), name: z.string() }).nullable().describe('The VM, if the problem affects only one VM.'),
  assignee: assignee.nullable(),
  snooze: snooze.nullable(),
});
export type AttentionGroup = z.infer<typeof attentionGroup>;

/** Maximum number of versions shown per problem. */
const maxVersions = 5;
/** Number of VMs whose tags are compared, divided among the problems. Each problem gets at least 20. */
const comparedVms = 6_000;

/** Adds the data that people need in order to act on the problems. */
export async function describeProblems(
  ctx: Context & MapReader,
  problems: readonly FleetProblem[],
  wanted: readonly WantedLanguage[],
): Promise<AttentionGroup[]> {
  const [fleet, vms, marks, messages] = await Promise.all([
    readTagShares(ctx),
    readSamples(ctx, problems),
    readMarks(
      ctx.db,
      problems.map(({ key }) => key),
    ),
    readMessages(ctx, await withOwnMessages(ctx, problems), wanted),
  ]);
  const markOf = new Map(marks.map((mark) => [mark.key, mark]));
  return problems.map((problem) => {
    const { key, health, since, lastSince, extension, versions, sample } = problem;
    const sampled = sample.vmIds.flatMap((id) => vms.get(id) ?? []);
    const [first] = sampled;
    return {
      ...{ key, health, vms: problem.vms, since, lastSince },
      query: queryOf(ctx.fleetFields, problem),
      extension: extension && {
        ...extension,
        versions: newestVersions(versions),
        message: messages.get(key) ?? null,
      },
      common: commonTag(
        sampled.map(({ tags }) => tags),
        fleet,
      ),
      vm: problem.vms === 1 && first ? { id: first.id, name: first.name } : null,
      ...currentMark(markOf.get(key), problem, ctx.now),
    };
  });
}

/** Returns the URL parameters with which the VM list shows the VMs that have this problem. */
function queryOf(fields: FleetFields, problem: FleetProblem): string {
  const parameters = new URLSearchParams();
  const values: Readonly<Record<string, ValueOf<FieldValue> | undefined>> = filterOfProblem(problem);
  for (const field of fields) writeParameter(field, values[field.name], parameters);
  return parameters.toString();
}

/**
 * Returns the newest versions, the newest last. Agents can report any text as a version; texts that are not versions
 * count as the oldest.
 */
function newestVersions(versions: readonly string[]): string[] {
  const numbers = (version: string): number[] | null =>
    /^\d{1,10}(\.\d{1,10}){0,3}$/.test(version) ? version.split('.').map(Number) : null;
  const compare = (one: string, other: string): number => {
    const [a, b] = [numbers(one), numbers(other)];
    if (a === null || b === null) return Number(a !== null) - Number(b !== null) || (one < other ? -1 : 1);
    const at = [0, 1, 2, 3].find((index) => (a[index] ?? 0) !== (b[index] ?? 0)) ?? 0;
    return (a[at] ?? 0) - (b[at] ?? 0);
  };
  return versions.toSorted(compare).slice(-maxVersions);
}

interface SampledVm {
  id: string;
  name: string;
  tags: Record<string, string>;
}

/** Reads the sampled VMs of each problem, fewer per problem if there are many problems. */
async function readSamples(ctx: Context, problems: readonly FleetProblem[]): Promise<Map<string, SampledVm>> {
  const each = Math.max(20, Math.floor(comparedVms / Math.max(1, problems.length)));
  const ids = [...new Set(problems.flatMap(({ sample }) => sample.vmIds.slice(0, each)))];
  if (ids.length === 0) return new Map();
  const { rows } = await ctx.db.execute<SampledVm & Record<string, unknown>>(
    sql`select vm_id as id, name, tags from ${vmHealth} where vm_id = any (${sql.param(ids)}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

type Shown = NonNullable<NonNullable<AttentionGroup['extension']>['message']>;

/** Maximum number of VMs per problem whose latest status is compared with the failed command. */
const comparedStatuses = 50;

/**
 * Removes messages that do not explain their problems. After a failed command, the message of a status explains the
 * problem only if the status is an error and the handler wrote it for the same goal.
 */
async function withOwnMessages(ctx: Context, problems: readonly FleetProblem[]): Promise<FleetProblem[]> {
  const asked = problems.flatMap(({ key, extension, messageId, sample }) =>
    extension && messageId !== null && extension.messageId === null
      ? sample.vmIds.slice(0, comparedStatuses).map((id) => ({ key, id, handler: extension.handler, messageId }))
      : [],
  );
  if (asked.length === 0) return [...problems];
  const { rows } = await ctx.db.execute<{ key: string }>(sql`
    select a.key from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
      a(key text, id uuid, handler text, "messageId" text)
    left join lateral (
      select true as found from ${extensions} e join ${extensionPulse} u on u.vm_id = e.vm_id and u.name = e.name
      join ${extensionHealth} h on h.vm_id = e.vm_id and h.name = e.name
      where e.vm_id = a.id and e.handler = a.handler and h.message_id = a."messageId"
        and u.status_word = 'error' and u.status_sequence = e.sequence_number limit 1) own on true
    group by 1 having count(own.found) = count(*)`);
  const own = new Set(rows.map(({ key }) => key));
  return problems.map((problem) =>
    problem.extension?.messageId === null && !own.has(problem.key) ? { ...problem, messageId: null } : problem,
  );
}

/** A problem, as far as its message needs it. */
type MessageProblem = Pick<FleetProblem, 'key' | 'vms' | 'messageId' | 'sample'> & {
  extension: Pick<NonNullable<FleetProblem['extension']>, 'handler' | 'cause'> | null;
};

/** Returns messages by the key of the problem. Problems without a message are omitted. */
export async function readMessages(
  ctx: Pick<Context, 'db'>,
  problems: readonly MessageProblem[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, Shown>> {
  const requested = problems.flatMap(({ extension, messageId, sample }) =>
    extension && messageId ? [{ handler: extension.handler, version: sample.version, ids: [messageId] }] : [],
  );
  const [found, sent] = await Promise.all([findMessages(ctx.db, joined(requested), wanted), readSent(ctx, problems)]);
  const messages = new Map<string, Shown>();
  for (const { key, vms, extension, messageId: id, sample } of problems) {
    if (!extension || !id) continue;
    const resources = found.get(`${extension.handler}-${sample.version}`) ?? new Map();
    const status = sent.get(key);
    const isSent = status?.message?.id === id;
    const localized = localizeMessage({
      message: isSent && status?.message ? status.message : { id, params: [] },
      formattedMessage: status?.formattedMessage,
      resources,
      wanted,
    });
    if (localized === null || localized.source === 'id') continue;
    const template = localized.source === 'formatted' ? undefined : resources.get(localized.lang)?.[id];
    const text = template !== undefined && (vms > 1 || !isSent) ? withoutParams(template) : localized.text;
    messages.set(key, { text, lang: localized.lang });
  }
  return messages;
}

/** Combines the ids requested for the same version, because several problems can be about one version. */
function joined(requested: readonly { handler: string; version: string; ids: string[] }[]) {
  const groups = Map.groupBy(requested, ({ handler, version }) => `${handler}-${version}`);
  return [...groups.values()].flatMap((group) =>
    group[0] ? [{ ...group[0], ids: group.flatMap(({ ids }) => ids) }] : [],
  );
}

function withoutParams(template: string): string {
  const last = placeholdersOf(template).at(-1) ?? -1;
  const open = Array.from({ length: last + 1 }, () => '…');
  return cutText(fillTemplate(template, open, maxTextBytes), maxTextBytes);
}

type Sent = Pick<StatusDocument, 'message' | 'formattedMessage'>;

/**
 * For each problem with only one VM, reads what that VM reported. Problems with several VMs are skipped, because a text
 * from one VM does not apply to the others.
 */
async function readSent(ctx: Pick<Context, 'db'>, problems: readonly MessageProblem[]): Promise<Map<string, Sent>> {
  const single = problems.filter(({ vms, messageId }) => vms === 1 && messageId);
  if (single.length === 0) return new Map();
  const asked = single.map(({ key, extension, sample }) => ({
    key,
    id: sample.vmIds[0],
    name: sample.extension,
    part: extension?.cause === 'substatus',
  }));
  const { rows } = await ctx.db.execute<{ key: string; part: boolean; status: StatusDocument | null }>(sql`
    select a.key, a.part, case when a.part then l.status::jsonb else l.status::jsonb - 'substatus' end as status
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) a(key text, id uuid, name text, part boolean)
    join ${extensionLatest} l on l.vm_id = a.id and l.name = a.name`);
  const sent = rows.map(({ key, part, status }) => {
    const about: Sent | null = part && status !== null ? firstFailedPart(status) : status;
    return [key, about] as const;
  });
  return new Map(sent.flatMap(([key, about]) => (about === null ? [] : [[key, about] as const])));
}
