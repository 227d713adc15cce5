import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { agents, units } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow } from '#server/domain/topology/index.ts';
import { vmId } from '#server/domain/vms/input.ts';
import {
  type ReleaseServiceSecretsInput,
  type ReleaseUnitSecretsInput,
  releaseServiceSecretsInput,
  releaseUnitSecretsInput,
} from '../input.ts';
import { raiseHeads } from '../relations/index.ts';
import { requireService } from '../service-rows.ts';
import { readUnits, type UnitFacts } from '../unit-state/read-units.ts';
import { lockServicesOf } from '../units/end-services.ts';
import { advanceUnits } from '../units/index.ts';
import { unitNeedsRelease } from './unit-needs-release.ts';

/** Result of a release of the protected settings of a service. */
export const releasedUnits = z
  .object({
    released: z
      .array(z.object({ unit: z.string(), vmId, thumbprint: z.string().nullable() }))
      .describe('The units that waited, with the thumbprints of their machines’ certificates.'),
  })
  .meta({ id: 'ReleasedUnits' });
export type ReleasedUnits = z.infer<typeof releasedUnits>;

/**
 * Releases the protected settings of a service to the machine of one unit, as long as the machine stays the same.
 * `thumbprint` is the certificate that the admin reviewed. If nothing is withheld from the unit, nothing changes. Throws
 * 404 `model_unknown` | `unit_unknown`, 412 `key_changed`.
 */
export async function releaseUnitSecrets(ctx: Context, input: ReleaseUnitSecretsInput): Promise<ReleasedUnits> {
  allow(ctx.actor, 'admin');
  const { model: name, unit, thumbprint } = parse(releaseUnitSecretsInput, input);
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name);
    const [found] = await readUnits(tx, sql`${units.modelId} = ${model.id} and ${units.name} = ${unit}`);
    if (found === undefined) throw new DomainError('not_found', 'unit_unknown');
    if (thumbprint !== undefined && thumbprint !== (await readThumbprints(tx, [found])).get(found.vmId)) {
      throw new DomainError('precondition_failed', 'key_changed');
    }
    return release(tx, ctx, model, found.serviceId, [found]);
  });
}

/**
 * Releases the protected settings of a service to the machines of all its units that wait for them. Throws 404
 * `model_unknown` | `service_unknown`.
 */
export async function releaseServiceSecrets(ctx: Context, input: ReleaseServiceSecretsInput): Promise<ReleasedUnits> {
  allow(ctx.actor, 'admin');
  const { model: name, service } = parse(releaseServiceSecretsInput, input);
  return ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name);
    const { id } = await requireService(tx, model.id, service);
    return release(tx, ctx, model, id, await readUnits(tx, eq(units.serviceId, id)));
  });
}

async function release(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  serviceId: string,
  given: readonly UnitFacts[],
): Promise<ReleasedUnits> {
  const waiting = given.filter(unitNeedsRelease);
  await lockServicesOf(
    tx,
    waiting.map(({ id }) => id),
  );
  const thumbprints = await readThumbprints(tx, waiting);
  const released: ReleasedUnits['released'] = [];
  for (const { id, name: unit, vmId, enrolledAt } of waiting) {
    const turn = await takeTurn(tx, await lockHead(tx, vmId));
    const [stored] = await tx
      .update(units)
      .set({ releasedMachineAt: enrolledAt, turn })
      .where(and(eq(units.id, id), isNull(units.removedAt)))
      .returning({ id: units.id });
    if (stored === undefined) continue;
    const thumbprint = thumbprints.get(vmId) ?? null;
    await recordAudit(tx, ctx, {
      action: 'unit.release-secrets',
      target: { kind: 'model', id: model.name },
      vmId,
      details: { unit, thumbprint },
    });
    await recordChange(tx, 'vm', vmId);
    released.push({ unit, vmId, thumbprint });
  }
  if (released.length === 0) return { released };
  await raiseHeads(
    tx,
    ctx,
    released.map((one) => one.vmId),
  );
  await advanceUnits(tx, ctx, serviceId);
  return { released };
}

async function readThumbprints(
  tx: Transaction,
  given: readonly Pick<UnitFacts, 'vmId'>[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx
    .select({ vmId: agents.vmId, thumbprint: agents.thumbprint })
    .from(agents)
    .where(
      inArray(
        agents.vmId,
        given.map((one) => one.vmId),
      ),
    );
  return new Map(rows.map((row) => [row.vmId, row.thumbprint]));
}
