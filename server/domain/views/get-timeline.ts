import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  auditEntries,
  executions,
  extensionHealth,
  extensions,
  goalStates,
  healthTransitions,
  reportHistory,
  vms,
} from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { extensionHealths, heartbeatVerdicts } from '#server/domain/verdicts/index.ts';
import { type ExecutionTimes, executionSpansOf } from './execution-spans.ts';
import { hookSpansOf, loadHookTimes } from './hook-spans.ts';
import { type TimelineInput, timelineInput } from './input.ts';
import {
  declaredBy,
  type HealthTransitionRow,
  mergeEvents,
  mergeShort,
  type PersonAct,
  type Publication,
  stretchesOf,
  type Timeline,
  type TimelineLane,
} from './timeline.ts';

/** Maximum number of rows read per kind; more than a chart can show. */
const maxRows = 10_000;
/**
 * Neighboring spans that together are shorter than 1/600 of the window are merged, and so are events within 1/150 of
 * the window. In a chart, both are only a few pixels wide.
 */
const stretchesAcross = 600;
const eventsAcross = 150;

interface Window {
  vmId: string;
  from: Date;
  to: Date;
}

/**
 * Returns the history of a VM between two times: goal states, users' actions, executions, hooks, and the health and
 * heartbeat of every extension. Events close to each other are merged and counted, so the size is limited. Throws 404
 * `vm_unknown`.
 */
export async function getTimeline(ctx: Context, input: TimelineInput): Promise<Timeline> {
  allow(ctx.actor, 'viewer');
  const parsed = parse(timelineInput, input);
  const window = { vmId: parsed.vmId, from: new Date(parsed.from), to: new Date(parsed.to) };
  const slot = (across: number) => (window.to.getTime() - window.from.getTime()) / across;
  return ctx.db.transaction(
    async (tx) => {
      const [vm] = await tx
        .select({ id: vms.id })
        .from(vms)
        .where(and(eq(vms.id, window.vmId), isNull(vms.deletedAt)));
      if (vm === undefined) throw new DomainError('not_found', 'vm_unknown');
      const published = await loadPublications(tx, window);
      const done = await loadActs(tx, window);
      const configuration = mergeEvents(published, slot(eventsAcross));
      const acts = mergeEvents(done, slot(eventsAcross), (a, b) => a.who === b.who);
      const ran = await loadExecutions(tx, window);
      const spans = executionSpansOf(ran, slot(eventsAcross));
      const hooks = hookSpansOf(await loadHookTimes(tx, window, maxRows), slot(eventsAcross));
      const { lanes, healthSince } = await loadLanes(tx, window, ctx.now);
      const shown = lanes.map((lane) => ({
        ...lane,
        health: mergeShort(lane.health, slot(stretchesAcross), extensionHealths),
        heartbeat: mergeShort(lane.heartbeat, slot(stretchesAcross), heartbeatVerdicts),
      }));
      const left = (before: readonly unknown[], after: readonly unknown[]) => before.length - after.length;
      return {
        from: parsed.from,
        to: parsed.to,
        readAt: ctx.now.toISOString(),
        configuration,
        acts,
        executions: spans,
        hooks,
        lanes: shown,
        merged:
          left(published, configuration) +
          left(done, acts) +
          [...spans, ...hooks].reduce((sum, { count }) => sum + count - 1, 0) +
          lanes.reduce((sum, { health }, index) => sum + left(health, shown[index]?.health ?? []), 0),
        healthSince,
      };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

async function loadPublications(tx: Transaction, { vmId, from, to }: Window): Promise<Publication[]> {
  const { incarnation, publishedAt, publishedBy: by, cause } = goalStates;
  const rows = await tx
    .select({ incarnation, publishedAt, by, cause })
    .from(goalStates)
    .where(and(eq(goalStates.vmId, vmId), gte(publishedAt, from), lt(publishedAt, to)))
    .orderBy(desc(incarnation))
    .limit(maxRows);
  return rows.reverse().map(({ publishedAt: at, ...row }) => ({ ...momentOf(at), ...row }));
}

const momentOf = (at: Date) => ({ at: at.toISOString(), until: at.toISOString(), count: 1 });

/**
 * SQL for the fields of `before` or `after` that `declaredBy` needs. Public settings are replaced by a digest, because
 * thousands of entries are read together and each may be large.
 */
const shortened = (side: typeof auditEntries.before | typeof auditEntries.after) =>
  sql<Record<string, unknown> | null>`case when ${side} is not null then jsonb_build_object(
    'version', ${side} -> 'version', 'state', ${side} -> 'state', 'protectedSettings', ${side} -> 'protectedSettings',
    'publicSettings', md5(coalesce(${side} -> 'publicSettings', '{}')::text)) end`;

const people = ['user', 'token', 'bootstrap'] as const;

/** Actions that a person scheduled and the portal carries out, such as the end of a hold. */
const deferred = ['hold.end'];

async function loadActs(tx: Transaction, { vmId, from, to }: Window): Promise<PersonAct[]> {
  const { id, at, actorKind, actorName: who, action, targetId: target } = auditEntries;
  const [before, after] = [shortened(auditEntries.before), shortened(auditEntries.after)];
  const rows = await tx
    .select({ at, actorKind, who, action, target, before, after })
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.vmId, vmId),
        or(inArray(actorKind, [...people]), inArray(action, deferred)),
        gte(at, from),
        lt(at, to),
      ),
    )
    .orderBy(desc(id))
    .limit(maxRows);
  return rows.reverse().map(({ at, actorKind, before, after, ...row }) => ({
    ...momentOf(at),
    ...row,
    kind: people.find((kind) => kind === actorKind) ?? 'system',
    declared: row.action === 'extension.set' ? declaredBy(before, after ?? {}) : null,
  }));
}

async function loadExecutions(tx: Transaction, { vmId, from, to }: Window): Promise<ExecutionTimes[]> {
  const { id, name, version, state, queuedAt, receivedAt, begunAt, concludedAt } = executions;
  const rows = await tx
    .select({ id, name, version, state, queuedAt, receivedAt, begunAt, concludedAt })
    .from(executions)
    .where(and(eq(executions.vmId, vmId), lt(queuedAt, to), or(isNull(concludedAt), gte(concludedAt, from))))
    .orderBy(desc(id))
    .limit(maxRows);
  return rows.map(({ receivedAt, begunAt, ...row }) => ({ ...row, begunAt: receivedAt ?? begunAt }));
}

const { extension, kind, at, from, to, cause, waitsFor } = healthTransitions;
const transitionColumns = { extension, kind, at, from, to, cause, waitsFor };
type TransitionRow = HealthTransitionRow & { extension: string | null; kind: 'health' | 'heartbeat' };

/** Time of the first stored report of an extension. The extension existed by that time. */
const heardAt = sql<Date | null>`(
  select ${reportHistory.at} from ${reportHistory}
  where ${reportHistory.vmId} = ${extensions.vmId} and ${reportHistory.extension} = ${extensions.name}
  order by ${reportHistory.at}, ${reportHistory.id} limit 1)`.mapWith(reportHistory.at);

async function loadLanes(
  tx: Transaction,
  window: Window,
  now: Date,
): Promise<{ lanes: TimelineLane[]; healthSince: string | null }> {
  const ofExtensions = and(eq(healthTransitions.vmId, window.vmId), isNotNull(extension));
  const newest = await tx
    .select(transitionColumns)
    .from(healthTransitions)
    .where(and(ofExtensions, gte(at, window.from), lt(at, window.to)))
    .orderBy(desc(at), desc(healthTransitions.id))
    .limit(maxRows);
  const within = newest.reverse();
  const isCut = within.length === maxRows;
  const start = isCut ? (within[0]?.at ?? window.from) : window.from;
  const prior = isCut
    ? []
    : await tx
        .selectDistinctOn([extension, kind], transitionColumns)
        .from(healthTransitions)
        .where(and(ofExtensions, lt(at, window.from)))
        .orderBy(asc(extension), asc(kind), desc(at), desc(healthTransitions.id));
  const currents = await tx
    .select({ name: extensions.name, changedAt: extensions.changedAt, heardAt, derived: extensionHealth })
    .from(extensions)
    .leftJoin(
      extensionHealth,
      and(eq(extensionHealth.vmId, extensions.vmId), eq(extensionHealth.name, extensions.name)),
    )
    .where(eq(extensions.vmId, window.vmId));

  const names = new Set([
    ...currents.map(({ name }) => name),
    ...[...within, ...prior.filter((row) => row.to !== null)].flatMap((row) => row.extension ?? []),
  ]);
  const lanes = [...names].sort().map((name): TimelineLane => {
    const current = currents.find((row) => row.name === name);
    const ofKind = (wanted: TransitionRow['kind']) => {
      // A transition without `to` is the removal of the extension, which also ends its heartbeat.
      const mine = (row: TransitionRow) => row.extension === name && (row.kind === wanted || row.to === null);
      const before = prior.filter(mine).sort((a, b) => b.at.getTime() - a.at.getTime())[0] ?? null;
      const changes = within.filter(mine);
      const derived = current?.derived ?? null;
      const first = changes[0]?.at ?? derived?.since ?? current?.changedAt ?? now;
      const since = current?.heardAt ?? current?.changedAt ?? first;
      return {
        prior: before,
        within: changes,
        current:
          current === undefined
            ? null
            : wanted === 'health'
              ? { state: derived?.health ?? '', cause: derived?.cause ?? null, waitsFor: derived?.waitsFor ?? null }
              : { state: derived?.heartbeat ?? '', cause: null, waitsFor: null },
        window: { from: start, to: window.to },
        since: before !== null || isCut ? start : new Date(Math.min(since.getTime(), first.getTime())),
      };
    };
    return { extension: name, health: stretchesOf(ofKind('health')), heartbeat: stretchesOf(ofKind('heartbeat')) };
  });
  return {
    lanes: lanes.filter(({ health, heartbeat }) => health.length + heartbeat.length > 0),
    healthSince: isCut ? start.toISOString() : null,
  };
}
