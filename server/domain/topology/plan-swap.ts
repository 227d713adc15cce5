import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import { cloudServices, deployments, models, vmRoles } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { type PortPlan, planSwap as planOf, swapSlots } from '#server/domain/topology-rules/deployments.ts';
import { isReachable } from '#server/domain/topology-rules/endpoints.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { type DeploymentSlot, portProtocols } from '#server/domain/topology-rules/words.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest } from '#server/platform/keys.ts';
import { readEndpoints } from './endpoint-rows.ts';
import { readExposedUnits } from './exposed-units.ts';
import { type PlanSwapInput, planSwapInput } from './input.ts';
import { type SwapUse, swapsNoUnits, swapUnits } from './swap-use.ts';

const port = z.object({ protocol: z.enum(portProtocols), port: z.number().int() });
const rolePort = port.extend({ instanceId: z.string() });
const move = z.object({
  before: z.string().nullable().describe('The deployment in the slot; null if the slot is empty.'),
  after: z.string().nullable(),
});

/** What a swap does, as the API returns it. */
export const swapPlan = z
  .object({
    cloudService: z.string(),
    production: move,
    staging: move,
    becomePublic: z.array(rolePort).describe('Ports to which the public address leads only after the swap.'),
    ceasePublic: z.array(rolePort).describe('Ports to which the public address leads only before the swap.'),
    unchanged: z
      .array(port)
      .describe('Public ports that are open before and after, and lead to other roles afterwards.'),
    ...swapUnits.shape,
    revision: count.describe('The revision of the model.'),
    planHash: z.string(),
  })
  .meta({ id: 'SwapPlan' });
export type SwapPlan = z.infer<typeof swapPlan>;

/**
 * Returns what swapping the deployments of a cloud service would do. Throws 404 `cloud_service_unknown`, 409
 * `deployment_missing` | `cloud_service_changing` | `model_dying`.
 */
export async function planSwap(ctx: Context, input: PlanSwapInput, use: SwapUse = swapsNoUnits): Promise<SwapPlan> {
  allow(ctx.actor, 'operator');
  const { cloudService } = parse(planSwapInput, input);
  return ctx.db.transaction(
    async (tx) => {
      const { revision } = requireModel(await readModelOf(tx, cloudService));
      return makeSwapPlan(ctx, tx, { cloudService, revision, use });
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

/** Reads the model of a cloud service; undefined if there is no such cloud service. */
export const readModelOf = async (db: Database | Transaction, cloudService: string) => {
  const [row] = await db
    .select({ name: models.name, life: models.life, revision: models.revision, goneAt: cloudServices.goneAt })
    .from(cloudServices)
    .innerJoin(models, eq(models.id, cloudServices.modelId))
    .where(eq(cloudServices.name, cloudService));
  return row;
};

type ModelOf = Awaited<ReturnType<typeof readModelOf>>;

/** Rejects a cloud service that does not exist, or whose model is being destroyed. */
export function requireModel(row: ModelOf): NonNullable<ModelOf> {
  if (row === undefined || row.goneAt !== null) throw new DomainError('not_found', 'cloud_service_unknown');
  if (row.life !== 'alive') throw new DomainError('conflict', 'model_dying');
  return row;
}

/** Reads what a swap depends on, and returns its plan. */
export async function makeSwapPlan(
  ctx: Context,
  tx: Transaction,
  { cloudService, revision, use }: { cloudService: string; revision: number; use: SwapUse },
): Promise<SwapPlan> {
  const placed = await tx.select().from(deployments).where(eq(deployments.cloudService, cloudService));
  if (placed.length === 0) throw new DomainError('conflict', 'deployment_missing');
  const roles = await tx.select().from(vmRoles).where(eq(vmRoles.cloudService, cloudService));
  if (roles.some(({ state }) => state === 'creating')) throw new DomainError('conflict', 'cloud_service_changing');
  const leaving = new Set(roles.filter(({ state }) => state === 'deleting').map(({ name }) => name));
  const inSlot = (all: readonly { name: string; slot: DeploymentSlot }[], slot: DeploymentSlot) =>
    all.find((one) => one.slot === slot)?.name ?? null;
  const after = swapSlots(placed);
  const exposed = await readExposedUnits(tx, [cloudService]);
  const reachable = async (deployment: string | null) =>
    deployment === null
      ? []
      : (await readEndpoints(tx, cloudService, deployment)).filter(
          (one) => !leaving.has(one.role) && isReachable(one, 'production', (unit) => exposed.has(unit)),
        );
  const slots = {
    production: { before: inSlot(placed, 'production'), after: inSlot(after, 'production') },
    staging: { before: inSlot(placed, 'staging'), after: inSlot(after, 'staging') },
  };
  const ports = planOf({
    production: await reachable(slots.production.before),
    staging: await reachable(slots.staging.before),
  });
  const units = await use.plan(tx, { cloudService, production: slots.production.after });
  const effect = { cloudService, ...slots, ...shownPorts(cloudService, ports), ...units };
  return { ...effect, revision, planHash: hashOf(ctx, effect) };
}

function shownPorts(service: string, { becomePublic, ceasePublic, unchanged }: PortPlan) {
  const named = ({ role, protocol, port: number }: PortPlan['becomePublic'][number]) => ({
    ...{ instanceId: formatInstanceId({ service, role }), protocol, port: number },
  });
  return { becomePublic: becomePublic.map(named), ceasePublic: ceasePublic.map(named), unchanged };
}

/**
 * Returns a digest of everything that a swap changes. The revision is not included: other changes of the model do not
 * matter.
 */
const hashOf = ({ keys }: Context, effect: Omit<SwapPlan, 'revision' | 'planHash'>): string =>
  keyedDigest(keys.plan, 'swap', canonicalJson(effect)).toString('base64url');
