import { and, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { hookRuns, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Head, lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow } from '#server/domain/topology/index.ts';
import { type ResolveModelInput, type ResolveUnitInput, resolveModelInput, resolveUnitInput } from './input.ts';
import { raiseHeads } from './relations/index.ts';
import type { UnitRow } from './runs/find-unit.ts';
import { requireService } from './service-rows.ts';

/** What was resolved, as the API returns it. */
export const resolvedHooks = z
  .object({ resolved: z.array(z.object({ unit: z.string(), hook: z.string(), run: z.uuid() })) })
  .meta({ id: 'ResolvedHooks' });
export type ResolvedHooks = z.infer<typeof resolvedHooks>;
type Resolved = ResolvedHooks['resolved'][number];

/**
 * Decides on a hook that fails: its agent runs it again now, or skips it. The decision is for one run, so that
 * it never concerns a newer failure (EN-50). Repeating the decision changes nothing. Throws 404 `model_unknown` |
 * `unit_unknown` | `run_unknown`, 409 `run_not_failing`.
 */
export async function resolveUnit(ctx: Context, input: ResolveUnitInput): Promise<ResolvedHooks> {
  allow(ctx.actor, 'operator');
  const { model: name, unit: unitName, run, retry } = parse(resolveUnitInput, input);
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name);
    const [locked] = await lockUnits(tx, and(eq(units.modelId, model.id), eq(units.name, unitName)));
    if (locked === undefined) throw new DomainError('not_found', 'unit_unknown');
    const { unit } = locked;
    const failure = Object.values(unit.failing).find((one) => one.run === run);
    if (failure === undefined) throw await noFailure(tx, unit, run);
    return { resolved: [await resolve(tx, ctx, model, { ...locked, hook: failure.hook, run, retry })] };
  });
}

/**
 * Decides on everything that fails in a model or a service. Of a unit with several failures, the hook of the unit
 * itself is first. Throws 404 `model_unknown` | `service_unknown`.
 */
export async function resolveModel(ctx: Context, input: ResolveModelInput): Promise<ResolvedHooks> {
  allow(ctx.actor, 'operator');
  const { model: name, service: serviceName, retry } = parse(resolveModelInput, input);
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name);
    const service = serviceName === undefined ? undefined : await requireService(tx, model.id, serviceName);
    const ofService = service === undefined ? undefined : eq(units.serviceId, service.id);
    const isFailing = sql`${units.failing} <> '{}'::jsonb`;
    const failing = await lockUnits(tx, and(eq(units.modelId, model.id), ofService, isFailing));
    const resolved: Resolved[] = [];
    for (const locked of failing) {
      const { unit: ofUnit, ...ofRelations } = locked.unit.failing;
      const failures = [...(ofUnit === undefined ? [] : [ofUnit]), ...Object.values(ofRelations)];
      for (const { hook, run } of failures) {
        resolved.push(await resolve(tx, ctx, model, { ...locked, hook, run, retry }));
      }
    }
    return { resolved };
  });
}

/** Locks units that are not removed, after the heads of their VMs, which is the order of all transactions. */
async function lockUnits(tx: Transaction, where: SQL | undefined): Promise<{ unit: UnitRow; head: Head }[]> {
  const present = and(where, isNull(units.removedAt));
  const vms = await tx.selectDistinct({ vmId: units.vmId }).from(units).where(present).orderBy(units.vmId);
  const heads = new Map<string, Head>();
  for (const { vmId } of vms) heads.set(vmId, await lockHead(tx, vmId));
  const rows = await tx
    .select()
    .from(units)
    .where(and(present, inArray(units.vmId, [...heads.keys()])))
    .orderBy(units.vmId, units.number)
    .for('no key update');
  return rows.flatMap((unit) => {
    const head = heads.get(unit.vmId);
    return head === undefined ? [] : [{ unit, head }];
  });
}

interface Decision {
  unit: UnitRow;
  head: Head;
  hook: string;
  run: string;
  retry: boolean;
}

async function resolve(
  tx: Transaction,
  ctx: Context,
  { name }: ModelRow,
  { unit, head, hook, run, retry }: Decision,
): Promise<Resolved> {
  const answer = { unit: unit.name, hook, run };
  const how = retry ? 'retry' : 'skip';
  if (unit.resolutions.some((one) => one.run === run && one.how === how)) return answer;
  // The next unit of the same VM takes a later turn.
  const turn = await takeTurn(tx, head);
  head.otherTurn = turn;
  const resolution = { run, how, at: ctx.now.toISOString(), by: ctx.actor.name } as const;
  // Decisions about earlier failures no longer apply.
  const failing = new Set(Object.values(unit.failing).map((failure) => failure.run));
  const others = unit.resolutions.filter((one) => one.run !== run && failing.has(one.run));
  unit.resolutions = [...others, resolution];
  await tx.update(units).set({ resolutions: unit.resolutions, turn }).where(eq(units.id, unit.id));
  await raiseHeads(tx, ctx, [unit.vmId]);
  await recordAudit(tx, ctx, {
    action: retry ? 'hook.retry' : 'hook.skip',
    target: { kind: 'model', id: name },
    vmId: unit.vmId,
    details: { unit: unit.name, hook, run },
  });
  await recordChange(tx, 'vm', unit.vmId);
  return answer;
}

/** Returns the error for a run that does not fail now: whether the unit has such a run at all. */
async function noFailure(tx: Transaction, unit: UnitRow, run: string): Promise<DomainError> {
  const [known] = await tx
    .select({ id: hookRuns.id })
    .from(hookRuns)
    .where(and(eq(hookRuns.vmId, unit.vmId), eq(hookRuns.id, run), eq(hookRuns.unitId, unit.id)));
  return known === undefined
    ? new DomainError('not_found', 'run_unknown')
    : new DomainError('conflict', 'run_not_failing');
}
