import { eq, sql } from 'drizzle-orm';
import { cloudServices, deployments } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { sameBytes } from '#server/platform/keys.ts';
import { callAfterChange, noteProviderDue } from './call-due.ts';
import { tellFabric } from './endpoint-rows.ts';
import { type SwapInput, swapInput } from './input.ts';
import { localFabric } from './local-fabric.ts';
import { lockModel, requireAlive, updateModel } from './model-rows.ts';
import { makeSwapPlan, readModelOf, requireModel, type SwapPlan } from './plan-swap.ts';
import type { CloudProvider } from './provider.ts';
import { type SwapUse, swapsNoUnits } from './swap-use.ts';

/**
 * Exchanges the deployments in Production and Staging; a single deployment moves to the other slot (JU-28). New
 * connections to the public address lead to the new Production, and existing ones are kept. Throws the errors of
 * `planSwap`, and 412 `plan_moved_on` | `model_changed`.
 */
export async function swap(
  ctx: Context,
  input: SwapInput,
  provider: CloudProvider = localFabric(ctx),
  use: SwapUse = swapsNoUnits,
): Promise<SwapPlan> {
  allow(ctx.actor, 'operator');
  const { cloudService, plan: shown, ifMatch } = parse(swapInput, input);
  const done = await ctx.db.transaction(async (tx) => {
    const { name } = requireModel(await readModelOf(tx, cloudService));
    const model = await lockModel(tx, name, ifMatch);
    requireAlive(model);
    await use.lock(tx, cloudService);
    await tx.select().from(cloudServices).where(eq(cloudServices.name, cloudService)).for('no key update');
    const plan = await makeSwapPlan(ctx, tx, { cloudService, revision: model.revision + 1, use });
    if (shown !== undefined && !sameBytes(Buffer.from(shown), Buffer.from(plan.planHash)))
      throw new DomainError('precondition_failed', 'plan_moved_on');
    await tx
      .update(deployments)
      .set({ slot: sql`case ${deployments.slot} when 'production' then 'staging' else 'production' end` })
      .where(eq(deployments.cloudService, cloudService));
    await use.store(tx, model, { cloudService, production: plan.production.after });
    await recordAudit(tx, ctx, {
      action: 'deployment.swap',
      target: { kind: 'model', id: name },
      before: { production: plan.production.before, staging: plan.staging.before },
      after: { production: plan.production.after, staging: plan.staging.after },
      details: { service: cloudService },
    });
    await noteProviderDue(tx, ctx, cloudService);
    await tellFabric(tx, cloudService);
    await updateModel(tx, model);
    return plan;
  });
  await callAfterChange(ctx, provider, cloudService);
  return done;
}
