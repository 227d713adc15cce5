import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import { rolloutSteps, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { isoOrNull } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { memberKinds } from '#server/domain/rollout-rules/words.ts';
import type { StepView } from './answers.ts';
import { type ListStepsInput, listStepsInput } from './input.ts';
import { readRollout } from './rows.ts';
import { groupKeyOf } from './step-groups.ts';

const partner = alias(vms, 'partner');

type StoredStep = typeof rolloutSteps.$inferSelect;

/** Lists the members that a rollout reached, in order. Throws 400 `cursor_invalid`, 404 `rollout_unknown`. */
export async function listRolloutSteps(
  ctx: Context,
  input: ListStepsInput,
): Promise<{ items: StepView[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { id, ring, state = [], cause, group, limit, cursor } = parse(listStepsInput, input);
  await readRollout(ctx.db, id);
  const rows = await ctx.db
    .select({ step: rolloutSteps, name: vms.name, partner: partner.name })
    .from(rolloutSteps)
    .innerJoin(vms, eq(vms.id, rolloutSteps.vmId))
    .leftJoin(partner, eq(partner.id, rolloutSteps.pairVmId))
    .where(
      and(
        eq(rolloutSteps.rolloutId, id),
        ring === undefined ? undefined : eq(rolloutSteps.ring, ring),
        state.length === 0 ? undefined : inArray(rolloutSteps.state, state),
        cause === undefined ? undefined : eq(rolloutSteps.cause, cause),
        group === undefined ? undefined : sql`${groupKeyOf} = ${group}`,
        cursor === undefined ? undefined : afterPlace(cursor),
      ),
    )
    .orderBy(asc(rolloutSteps.ring), asc(rolloutSteps.place))
    .limit(limit + 1);
  const items = rows.slice(0, limit).map(({ step, name, partner }) => stepOf(step, name, partner));
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? placeCursor(last) : null };
}

/** Encodes a place in the order of a rollout. */
export const placeCursor = ({ ring, place }: { ring: number; place: number }): string =>
  writeCursor([String(ring), String(place)]);

/** Decodes a place in the order of a rollout. Throws 400 `cursor_invalid`. */
export function readPlace(cursor: string): { ring: number; place: number } {
  const [ring = '', place = ''] = readCursor(cursor, 2);
  if (!/^\d{1,2}$/.test(ring) || !/^\d{1,7}$/.test(place)) throw new DomainError('bad_request', 'cursor_invalid');
  return { ring: Number(ring), place: Number(place) };
}

function afterPlace(cursor: string) {
  const { ring, place } = readPlace(cursor);
  return sql`(${rolloutSteps.ring}, ${rolloutSteps.place}) > (${ring}::smallint, ${place}::int)`;
}

function stepOf(step: StoredStep, name: string, partnerName: string | null): StepView {
  const { touched, failure, pairVmId, pairResult } = step;
  return {
    vmId: step.vmId,
    name,
    ring: step.ring,
    place: step.place,
    kind: memberKinds[step.kind] ?? 'settings',
    state: step.state,
    cause: step.cause,
    failure: failure && { command: failure.command, exitCode: failure.exitCode, messageId: failure.messageId },
    movedTo: step.movedTo === null ? null : (memberKinds[step.movedTo] ?? null),
    attempt: step.attempt,
    executionId: step.executionId,
    before: {
      incarnation: step.beforeIncarnation,
      extensions: touched.map(({ name, before }) => ({
        name,
        version: before?.version ?? null,
        sequenceNumber: before?.sequenceNumber ?? null,
      })),
    },
    after: {
      incarnation: step.incarnation,
      extensions: touched.map(({ name, version, sequenceNumber }) => ({ name, version, sequenceNumber })),
    },
    publishedAt: isoOrNull(step.publishedAt),
    healthyAt: isoOrNull(step.healthyAt),
    decidedAt: isoOrNull(step.decidedAt),
    dueAt: isoOrNull(step.dueAt),
    overtakenBy: step.overtakenBy,
    pair: pairVmId === null ? null : { vmId: pairVmId, name: partnerName ?? pairVmId, result: pairResult },
  };
}
