import { and, eq, isNotNull, isNull } from 'drizzle-orm';
import { cloudServices, models, vmRoles, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { FakeProvider } from './fake-provider.ts';
import type { Stage } from './stage.ts';

/** Compares the inventory with the provider and the VMs. Returns what does not belong together. */
export async function faultsOf(
  ctx: Pick<Context, 'db'>,
  model: string,
  { services }: Pick<FakeProvider, 'services'>,
): Promise<string[]> {
  const [row] = await ctx.db.select().from(models).where(eq(models.name, model));
  const id = row?.id ?? '';
  const roles = await ctx.db.select().from(vmRoles).where(eq(vmRoles.modelId, id));
  const stored = await ctx.db
    .select()
    .from(cloudServices)
    .where(and(eq(cloudServices.modelId, id), isNull(cloudServices.goneAt)));
  const machines = await ctx.db
    .select()
    .from(vms)
    .where(and(isNull(vms.deletedAt), isNotNull(vms.instanceId)));
  const own = machines.filter(({ instanceId }) => instanceId?.startsWith(`juju-${model}-`));
  const vmIds = own.map((vm) => vm.id);
  const created = [...services].flatMap(([service, names]) => [...names].map((name) => `${service}-${name}`));
  const placed = roles.map(({ cloudService, name }) => `${cloudService}-${name}`);
  return [
    ...stored
      .filter(({ name }) => !roles.some((role) => role.cloudService === name))
      .map(({ name }) => `${name} has no role`),
    ...roles.filter(({ vmId }) => !vmIds.includes(vmId)).map(({ vmId }) => `a role has no VM ${vmId}`),
    ...vmIds.filter((vmId) => !roles.some((role) => role.vmId === vmId)).map((vmId) => `the VM ${vmId} has no role`),
    ...roles.filter(({ state }) => state !== 'ready').map(({ name }) => `${name} is not ready`),
    ...created.filter((instance) => !placed.includes(instance)).map((one) => `the provider kept ${one}`),
    ...placed.filter((instance) => !created.includes(instance)).map((one) => `the provider lacks ${one}`),
    ...[...services.keys()].filter((name) => !stored.some((one) => one.name === name)).map((one) => `${one} was kept`),
  ];
}

/** Repairs until nothing is open, after every lease has ended. */
export async function settle(stage: Pick<Stage, 'mend'>, provider: FakeProvider, seconds: number): Promise<number> {
  provider.fate = () => 'succeed';
  for (let runs = 0; runs < 5; runs += 1) {
    const open = await stage.mend(provider, seconds + runs);
    if (open === 0) return 0;
  }
  return stage.mend(provider, seconds + 5);
}
