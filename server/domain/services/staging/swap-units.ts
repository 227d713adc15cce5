import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions, services } from '#db/schema/index.ts';
import { type FormulaManifest, isHandlerManifest } from '#protocol/formula.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import * as topology from '#server/domain/topology/index.ts';
import { listMoves, moveParticipants, raiseHeads, setPeerRelations } from '../relations/index.ts';
import { advanceUnits } from '../units/advance-units.ts';
import { lockServicesOf } from '../units/end-services.ts';
import { planSwapHooks } from './swap-hooks.ts';
import { readUnitsOf } from './swapped-units.ts';

type Provider = Parameters<typeof topology.swap>[2];

/** Returns what a swap would do, as the topology's verb does, with its units and the hooks that follow. */
export const planSwap = (ctx: Context, input: Parameters<typeof topology.planSwap>[1]): Promise<topology.SwapPlan> =>
  topology.planSwap(ctx, input, effectsOf(ctx));

/**
 * Swaps the deployments of a cloud service, as the topology's verb does. Units that other units require enter and leave
 * their relations, and the versions of Production and Staging are exchanged.
 */
export async function swap(
  ctx: Context,
  input: Parameters<typeof topology.swap>[1],
  provider?: Provider,
): Promise<topology.SwapPlan> {
  const serviceIds = new Set<string>();
  const done = await topology.swap(ctx, input, provider, effectsOf(ctx, serviceIds));
  // Afterwards, because units must be locked before relations. Units have moved to where other versions are due.
  for (const id of serviceIds) await ctx.db.transaction((tx) => advanceUnits(tx, ctx, id));
  return done;
}

const effectsOf = (ctx: Context, swapped = new Set<string>()): topology.SwapUse => ({
  // A unit whose `start` ends locks its service too, and then reads its slot.
  lock: async (tx, cloudService) => {
    const own = await readUnitsOf(tx, cloudService);
    await lockServicesOf(
      tx,
      own.map(({ id }) => id),
    );
  },
  plan: planUnits,
  store: async (tx, model, service) => {
    for (const id of await storeUnits(tx, ctx, model, service)) swapped.add(id);
  },
});

async function planUnits(
  tx: Transaction,
  { cloudService, production }: topology.SwappedService,
): Promise<topology.SwapUnits> {
  const own = await readUnitsOf(tx, cloudService);
  const moves = await listMoves(tx, cloudService, production);
  return {
    units: own.map(({ name: unit, deployment }) => ({
      ...{ unit, to: deployment === production ? ('production' as const) : ('staging' as const) },
    })),
    hooks: await planSwapHooks(tx, own, moves, production),
  };
}

/** Stores what a swap does to units. Returns the services. */
async function storeUnits(
  tx: Transaction,
  ctx: Context,
  { availabilitySetsEnabled }: topology.ModelRow,
  { cloudService, production }: topology.SwappedService,
): Promise<string[]> {
  const own = await readUnitsOf(tx, cloudService);
  const serviceIds = [...new Set(own.map(({ serviceId }) => serviceId))].sort();
  if (availabilitySetsEnabled) {
    for (const id of serviceIds) {
      const ofService = own.filter(({ serviceId, life }) => serviceId === id && life === 'alive');
      await exchangeVersions(tx, ctx, id, {
        isInProduction: ofService.some(({ deployment }) => deployment === production),
        isInStaging: ofService.some(({ deployment }) => deployment !== production),
      });
    }
  }
  await moveParticipants(tx, ctx, await listMoves(tx, cloudService, production));
  const vmIds = [...new Set(own.map(({ vmId }) => vmId))].sort();
  await raiseHeads(tx, ctx, vmIds);
  await recordChanges(tx, 'vm', vmIds);
  return serviceIds;
}

/** Gives a service the versions of its staged units, which are now in Production, and Staging those of the service. */
async function exchangeVersions(
  tx: Transaction,
  ctx: Context,
  id: string,
  { isInProduction, isInStaging }: { isInProduction: boolean; isInStaging: boolean },
): Promise<void> {
  const [row] = await tx
    .select()
    .from(services)
    .where(and(eq(services.id, id), eq(services.life, 'alive')));
  if (row === undefined || row.stagedVersion === null) return;
  const before = { version: row.formulaVersion, settings: row.settingsVersion };
  const after = isInProduction
    ? { version: row.stagedVersion, settings: row.stagedSettingsVersion ?? row.settingsVersion }
    : before;
  const isSame = before.version === after.version && before.settings === after.settings;
  const staged = isInProduction && isInStaging && !isSame ? before : null;
  await tx
    .update(services)
    .set({
      ...{ formulaVersion: after.version, settingsVersion: after.settings },
      ...{ stagedVersion: staged?.version ?? null, stagedSettingsVersion: staged?.settings ?? null },
    })
    .where(eq(services.id, id));
  if (after.version === before.version) return;
  const manifest = await readManifest(tx, row.formula, after.version);
  if (manifest !== null) await setPeerRelations(tx, ctx, row, manifest);
}

async function readManifest(tx: Transaction, handler: string, version: string): Promise<FormulaManifest | null> {
  const [found] = await tx
    .select({ manifest: handlerVersions.manifest })
    .from(handlerVersions)
    .where(and(eq(handlerVersions.handler, handler), eq(handlerVersions.version, version)));
  return found === undefined || isHandlerManifest(found.manifest) ? null : found.manifest;
}
